#include "runtime/ops/column.h"

#include <algorithm>

#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

template <class T, class I>
void read_csr(const MatrixBlock& m, int64_t col, int64_t begin, int64_t end, double* out) {
  const auto* offsets = m.csr().offsets.as<int64_t>();
  const I* columns = m.csr().columns.as<I>();
  const T* values = m.csr().values.as<T>();
  for (int64_t r = begin; r < end; ++r) {
    const I* stop = columns + offsets[r + 1];
    const I* at = std::lower_bound(columns + offsets[r], stop, static_cast<I>(col));
    out[r - begin] = at != stop && *at == col ? static_cast<double>(values[at - columns]) : 0;
  }
}

template <class T>
const double* read_block(const MatrixBlock& m, int64_t col, int64_t begin, int64_t end, double* tile) {
  const int64_t cols = m.cols();
  if (m.is_dense()) {
    const T* cells = m.dense<T>();
    if constexpr (sizeof(T) == 8) {
      if (cols == 1) return cells + begin;
    }
    for (int64_t r = begin; r < end; ++r) tile[r - begin] = static_cast<double>(cells[r * cols + col]);
  } else if (m.is_sparse()) {
    if (m.csr().wide)
      read_csr<T, int64_t>(m, col, begin, end, tile);
    else
      read_csr<T, int32_t>(m, col, begin, end, tile);
  } else if (cols == 1) {
    if constexpr (sizeof(T) == 8) {
      read_cells(m, begin, end, tile);
    } else {
      T narrow[Column::kTile];
      read_cells(m, begin, end, narrow);
      std::copy(narrow, narrow + (end - begin), tile);
    }
  } else {
    for (int64_t r = begin; r < end; ++r) tile[r - begin] = read_cell(m, r, col);
  }
  return tile;
}

}  // namespace

const double* Column::read(int64_t begin, int64_t end, double* tile) const {
  if (block_ == nullptr) {
    std::fill(tile, tile + (end - begin), constant_);
    return tile;
  }
  if (block_->precision() == Precision::f64) return read_block<double>(*block_, col_, begin, end, tile);
  return read_block<float>(*block_, col_, begin, end, tile);
}

const double* Column::everywhere() const {
  if (block_ == nullptr) return &constant_;
  if (!block_->is_virtual()) return nullptr;
  const auto* c = std::get_if<Constant>(&block_->cells_rule());
  return c == nullptr ? nullptr : &c->value;
}

const Sequence* Column::sequence() const {
  if (block_ == nullptr || !block_->is_virtual()) return nullptr;
  return std::get_if<Sequence>(&block_->cells_rule());
}

}  // namespace hopline
