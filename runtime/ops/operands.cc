#include "runtime/ops/operands.h"

#include <algorithm>
#include <cstring>

#include "runtime/memory/memory.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

Broadcast broadcast(int64_t left_rows, int64_t left_cols, int64_t right_rows, int64_t right_cols) {
  Broadcast b{true, left_rows, left_cols, Form::whole, Form::whole};
  if (left_rows == right_rows && left_cols == right_cols) return b;
  if (right_rows == 1 && right_cols == 1) return b.right = Form::one, b;
  if (right_rows == 1 && right_cols == left_cols) return b.right = Form::row, b;
  if (right_rows == left_rows && right_cols == 1) return b.right = Form::column, b;
  if (left_cols == 1 && right_rows == 1 && left_rows != 1) {
    return Broadcast{true, left_rows, right_cols, Form::column, Form::row};
  }
  return {};
}

namespace {

const Constant* constant_of(const MatrixBlock& m) {
  return m.is_virtual() ? std::get_if<Constant>(&m.cells_rule()) : nullptr;
}

double number(const Value& v) {
  if (const auto* d = std::get_if<double>(&v)) return *d;
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  return std::get<bool>(v) ? 1 : 0;
}

double only_cell(const MatrixBlock& m) {
  if (m.is_dense()) return m.precision() == Precision::f64 ? m.dense<double>()[0] : m.dense<float>()[0];
  if (m.is_virtual()) return read_cell(m, 0, 0);
  if (m.nnz_if_known() == 0) return 0;
  const Buffer& values = m.csr().values;
  return m.precision() == Precision::f64 ? values.as<double>()[0] : values.as<float>()[0];
}

}  // namespace

Operand operand(const Value& value, Form form) {
  const auto* ref = std::get_if<MatrixRef>(&value);
  if (ref == nullptr) return {Form::one, false, number(value), nullptr};
  const bool empty = (*ref)->nnz_if_known() == 0;
  if (const Constant* c = constant_of(**ref)) return {Form::one, empty, c->value, nullptr};
  if (form == Form::one) return {Form::one, empty, only_cell(**ref), nullptr};
  return {form, empty, 0, ref};
}

OperandPair operands(const Value& left, const Value& right) {
  const auto* l = std::get_if<MatrixRef>(&left);
  const auto* r = std::get_if<MatrixRef>(&right);
  if (l == nullptr) return {(*r)->rows(), (*r)->cols(), operand(left, Form::one), operand(right, Form::whole)};
  if (r == nullptr) return {(*l)->rows(), (*l)->cols(), operand(left, Form::whole), operand(right, Form::one)};
  const Broadcast b = broadcast((*l)->rows(), (*l)->cols(), (*r)->rows(), (*r)->cols());
  HOPLINE_CHECK(b.fits);
  return {b.rows, b.cols, operand(left, b.left), operand(right, b.right)};
}

int64_t cell_grain(int flops) { return flops >= 10 ? kCellGrain / 8 : kCellGrain; }

template <class T>
TileReader<T>::TileReader(Context& ctx, const Operand& operand, int64_t rows, int64_t cols)
    : form_(operand.form), cols_(cols) {
  if (form_ == Form::one) {
    repeated_ = ctx.memory.allocate(kTile * sizeof(T));
    std::fill_n(repeated_.as<T>(), std::min(kTile, rows * cols), static_cast<T>(operand.value));
    return;
  }
  block_ = operand.ref->get();
  if (form_ != Form::whole) vector_ = to_dense<T>(ctx, *operand.ref), block_ = vector_.get();
  if (block_->is_dense()) dense_ = block_->dense<T>();
  if (form_ != Form::row || cols > kTile || cols == 0) return;
  const int64_t most = std::min(kTile, rows * cols) + cols;
  repeated_ = ctx.memory.allocate(static_cast<size_t>(most) * sizeof(T));
  T* out = repeated_.as<T>();
  for (int64_t at = 0; at < most; at += cols)
    std::memcpy(out + at, dense_, static_cast<size_t>(std::min(cols, most - at)) * sizeof(T));
}

template <class T>
const T* TileReader<T>::read(int64_t begin, int64_t n, T* scratch) const {
  switch (form_) {
    case Form::one:
      return repeated_.as<T>();
    case Form::row:
      if (!repeated_.empty()) return repeated_.as<T>() + begin % cols_;
      if (begin % cols_ + n <= cols_) return dense_ + begin % cols_;
      repeat_row(begin, n, scratch);
      return scratch;
    case Form::column:
      repeat_column(begin, n, scratch);
      return scratch;
    case Form::whole:
      break;
  }
  if (dense_ != nullptr) return dense_ + begin;
  if (block_->is_sparse())
    scatter(begin, n, scratch);
  else
    read_cells(*block_, begin, begin + n, scratch);
  return scratch;
}

template <class T>
void TileReader<T>::repeat_row(int64_t begin, int64_t n, T* out) const {
  int64_t c = begin % cols_;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = dense_[c];
    if (++c == cols_) c = 0;
  }
}

template <class T>
void TileReader<T>::repeat_column(int64_t begin, int64_t n, T* out) const {
  int64_t row = begin / cols_, end = (row + 1) * cols_ - begin;
  for (int64_t i = 0; i < n; ++row, end += cols_) {
    const T value = dense_[row];
    for (const int64_t stop = std::min(n, end); i < stop; ++i) out[i] = value;
  }
}

template <class T>
void TileReader<T>::scatter(int64_t begin, int64_t n, T* out) const {
  std::memset(out, 0, static_cast<size_t>(n) * sizeof(T));
  const Csr& s = block_->csr();
  const auto* offsets = s.offsets.as<int64_t>();
  const T* values = s.values.as<T>();
  const auto spread = [&](const auto* columns) {
    int64_t row = begin / cols_;
    for (int64_t base = row * cols_ - begin; base < n; ++row, base += cols_) {
      int64_t at = offsets[row];
      const int64_t end = offsets[row + 1];
      if (base < 0) at = std::lower_bound(columns + at, columns + end, -base) - columns;
      for (; at < end && base + columns[at] < n; ++at) out[base + columns[at]] = values[at];
    }
  };
  if (s.wide)
    spread(s.columns.as<int64_t>());
  else
    spread(s.columns.as<int32_t>());
}

template class TileReader<double>;
template class TileReader<float>;

}  // namespace hopline
