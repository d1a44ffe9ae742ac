// A matrix: sizes and one of three stores. Storage and invariants only; every algorithm is a free function elsewhere.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "runtime/data/kind.h"
#include "runtime/memory/buffer.h"

namespace hopline {

// Element type of a run (configuration floating.point.precision).
enum class Precision : uint8_t { f64, f32 };
template <class T>
constexpr Precision precision_of = sizeof(T) == 8 ? Precision::f64 : Precision::f32;

// Row-major, rows * cols cells, no gaps.
struct Dense {
  Buffer cells;
};

// Compressed sparse rows. Columns ascend within a row; stored values are never 0 (NaN and Inf may stand).
// Columns are 32-bit: a matrix of more than 2^31 - 1 columns has wide columns.
struct Csr {
  Buffer offsets;  // int64_t[rows + 1]
  Buffer columns;  // int32_t[nnz], or int64_t[nnz] when wide
  Buffer values;   // T[nnz]
  bool wide = false;
};

// Cells that are computed when read (design 6). At most a few dozen bytes.
struct Constant {
  double value = 0;
};
struct Sequence {  // n x 1 (or 1 x n when `across`): from + i * increment
  double from = 1, increment = 1;
  bool across = false;
};
enum class Distribution : uint8_t { uniform, normal, poisson };
struct Random {  // cell e (row-major) of a keyed draw
  Distribution distribution = Distribution::uniform;
  double low = 0, high = 1, lambda = 1, sparsity = 1;
  uint64_t key = 0, draw = 0;
};
using Virtual = std::variant<Constant, Sequence, Random>;

class GrowingRows;  // runtime/data/growing_rows.h

class MatrixBlock;
using MatrixRef = std::shared_ptr<const MatrixBlock>;  // shared means immutable; a unique owner may write in place

class MatrixBlock {
 public:
  using Store = std::variant<Dense, Csr, Virtual>;
  MatrixBlock(int64_t rows, int64_t cols, Precision precision, Store store, int64_t nnz = -1)
      : rows_(rows), cols_(cols), nnz_(nnz), precision_(precision), store_(std::move(store)) {}
  ~MatrixBlock();
  MatrixBlock(const MatrixBlock&) = delete;
  MatrixBlock& operator=(const MatrixBlock&) = delete;

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t cells() const { return rows_ * cols_; }
  Precision precision() const { return precision_; }
  bool is_dense() const { return store_.index() == 0; }
  bool is_sparse() const { return store_.index() == 1; }
  bool is_virtual() const { return store_.index() == 2; }
  const Store& store() const {
    finish();
    return store_;
  }

  // Exact count of cells that are not 0, or -1 when nobody counted. A sparse block always knows.
  int64_t nnz_if_known() const { return nnz_.load(std::memory_order_relaxed); }
  void set_nnz(int64_t nnz) const { nnz_.store(nnz, std::memory_order_relaxed); }
  Meta meta() const { return matrix_meta(rows_, cols_, nnz_if_known()); }
  int64_t bytes() const;  // of its buffers

  template <class T>
  const T* dense() const {
    return std::get<Dense>(store_).cells.as<T>();
  }
  template <class T>
  T* dense() {
    nnz_ = -1;
    return std::get<Dense>(store_).cells.as<T>();
  }
  const Csr& csr() const {
    finish();
    return std::get<Csr>(store_);
  }
  Csr& csr() {
    finish();
    return std::get<Csr>(store_);
  }
  // The rows of a sparse block that left indexing is filling; null for any other. The first use of csr() makes them
  // CSR.
  GrowingRows* growing() const { return growing_.load(std::memory_order_acquire); }
  // Takes the CSR store apart into rows that grow; the block has one owner.
  GrowingRows& grow(Memory& memory);
  const Virtual& cells_rule() const { return std::get<Virtual>(store_); }
  // Other sizes for the same cells; dense only. The buffer has room for rows * cols cells.
  void reshape_dense(int64_t rows, int64_t cols) { rows_ = rows, cols_ = cols; }
  // For a sparse block whose buffers were extended by further rows.
  void set_rows(int64_t rows) { rows_ = rows; }

 private:
  int64_t rows_, cols_;
  mutable std::atomic<int64_t> nnz_;
  void finish() const {
    if (growing() != nullptr) finish_growing();
  }
  void finish_growing() const;

  Precision precision_;
  mutable Store store_;
  mutable std::atomic<GrowingRows*> growing_{nullptr};  // owned
};

}  // namespace hopline
