// What right and left indexing share: bounds, and rows of sparse blocks.
#pragma once
#include <algorithm>
#include <cstdint>

#include "runtime/data/growing_rows.h"
#include "runtime/ops/call.h"
#include "runtime/ops/infer.h"

namespace hopline {

// Positions [begin, begin + size) of one dimension, from 0.
struct IndexRange {
  int64_t begin = 0, size = 0;
};

// The range that inputs `low` and `low + 1` give (absent: all of `extent`); fails where it is not within 1:extent.
IndexRange index_range(const Call& call, size_t low, int64_t extent, const char* what);
// The size of that range as far as it is known, -1 otherwise; fails where no bounds of that size fit.
int64_t index_size(InferCall& c, size_t low, int64_t extent, const char* what);
// Fails where a bound of a matrix is no number, or a list is indexed by column.
void check_index_kinds(const InferCall& c, size_t first_bound);

// Rows of a sparse block, also while left indexing fills it.
template <class T, class Column>
class SparseRows {
 public:
  struct Row {
    const Column* columns;
    const T* values;
    int64_t count;
  };
  explicit SparseRows(const MatrixBlock& m) : growing_(m.growing()), csr_(growing_ == nullptr ? &m.csr() : nullptr) {}
  Row operator[](int64_t r) const {
    if (growing_ != nullptr) {
      const GrowingRows::Row& row = growing_->row(r);
      return {static_cast<const Column*>(row.columns), static_cast<const T*>(row.values), row.count};
    }
    const auto* offsets = csr_->offsets.template as<int64_t>();
    return {csr_->columns.template as<Column>() + offsets[r], csr_->values.template as<T>() + offsets[r],
            offsets[r + 1] - offsets[r]};
  }
  // Entries of row r in columns [begin, end).
  Row part(int64_t r, int64_t begin, int64_t end) const {
    const Row row = (*this)[r];
    const Column* first = std::lower_bound(row.columns, row.columns + row.count, begin);
    const Column* last = std::lower_bound(first, row.columns + row.count, end);
    return {first, row.values + (first - row.columns), last - first};
  }

 private:
  const GrowingRows* growing_;
  const Csr* csr_;
};

inline bool has_wide_columns(const MatrixBlock& m) {
  return m.growing() != nullptr ? m.growing()->wide() : m.csr().wide;
}

// Left indexing (index_left.cc).
void infer_left_index(InferCall& c);
void run_left_index(Call& call);
Cost cost_left_index(const InferCall& c);

}  // namespace hopline
