// Kernels of cell-wise functions over stored cells. A result keeps the pattern of one operand, or the union of two,
// less the cells that came out as 0.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

// Calls f with a null pointer of the type of the columns.
template <class F>
decltype(auto) with_columns(const Csr& s, const F& f) {
  return s.wide ? f(static_cast<int64_t*>(nullptr)) : f(static_cast<int32_t*>(nullptr));
}

// Tasks of rows that hold about kCellGrain cells of work each.
int64_t rows_per_task(int64_t rows, int64_t nnz) {
  return std::max<int64_t>(1, rows * (kCellGrain / 4) / std::max<int64_t>(1, nnz));
}

template <class T>
bool has_zero(const T* values, int64_t n) {
  int64_t zeros = 0;
  for (int64_t i = 0; i < n; ++i) zeros += values[i] == 0;
  return zeros != 0;
}

// Removes stored zeros; the block keeps its buffers.
template <class T>
void drop_zeros(MatrixBlock& m) {
  Csr& s = m.csr();
  auto* offsets = s.offsets.as<int64_t>();
  T* values = s.values.as<T>();
  with_columns(s, [&](auto* type) {
    auto* columns = s.columns.as<std::remove_pointer_t<decltype(type)>>();
    int64_t kept = 0, begin = 0;
    for (int64_t r = 0; r < m.rows(); ++r) {
      const int64_t end = offsets[r + 1];
      for (int64_t k = begin; k < end; ++k) {
        if (values[k] == 0) continue;
        values[kept] = values[k], columns[kept] = columns[k], ++kept;
      }
      begin = end, offsets[r + 1] = kept;
    }
    m.set_nnz(kept);
  });
}

// A block with the pattern of input i: the input itself where the call may have it, else a copy without values.
template <class T>
std::shared_ptr<MatrixBlock> pattern_of(Call& call, size_t i) {
  const MatrixBlock& m = call.matrix(i);
  if (auto own = call.take(i)) return own;
  const Csr& s = m.csr();
  const int64_t rows = m.rows(), nnz = m.nnz_if_known();
  auto out = new_sparse<T>(call.ctx, rows, m.cols(), nnz);
  Csr& to = out->csr();
  const auto copy = [&](Buffer& into, const Buffer& from, int64_t bytes) {
    parallel_chunks(bytes, int64_t{1} << 20, call.ctx.threads, [&](int64_t b, int64_t e) {
      std::memcpy(into.as<char>() + b, from.as<char>() + b, static_cast<size_t>(e - b));
    });
  };
  copy(to.offsets, s.offsets, (rows + 1) * 8);
  copy(to.columns, s.columns, nnz * (s.wide ? 8 : 4));
  return out;
}

MatrixRef finish(std::shared_ptr<MatrixBlock> m, bool zeros) {
  if (zeros) m->precision() == Precision::f64 ? drop_zeros<double>(*m) : drop_zeros<float>(*m);
  return m;
}

// Values of an operand at stored positions: gather(row, columns, n, out).
template <class T>
class Gather {
 public:
  explicit Gather(Context& ctx, const Operand& o) : form_(o.form), value_(static_cast<T>(o.value)) {
    if (form_ == Form::one) return;
    ref_ = form_ == Form::whole ? *o.ref : to_dense<T>(ctx, *o.ref);
    if (ref_->is_dense()) cells_ = ref_->template dense<T>();
  }
  template <class C>
  void read(int64_t row, const C* columns, int64_t n, T* out) const {
    switch (form_) {
      case Form::one:
        std::fill_n(out, n, value_);
        return;
      case Form::column:
        std::fill_n(out, n, cells_[row]);
        return;
      case Form::row:
        for (int64_t i = 0; i < n; ++i) out[i] = cells_[columns[i]];
        return;
      case Form::whole:
        read_whole(row, columns, n, out);
    }
  }

 private:
  template <class C>
  void read_whole(int64_t row, const C* columns, int64_t n, T* out) const {
    const int64_t base = row * ref_->cols();
    if (cells_ != nullptr) {
      for (int64_t i = 0; i < n; ++i) out[i] = cells_[base + columns[i]];
    } else if (ref_->is_sparse()) {
      read_row(row, columns, n, out);
    } else {
      for (int64_t i = 0; i < n; ++i) read_cells(*ref_, base + columns[i], base + columns[i] + 1, out + i);
    }
  }
  template <class C>
  void read_row(int64_t row, const C* columns, int64_t n, T* out) const {
    const Csr& s = ref_->csr();
    const auto* offsets = s.offsets.as<int64_t>();
    const C* stored = s.columns.as<C>();
    const int64_t end = offsets[row + 1];
    int64_t k = offsets[row];
    const bool search = end - k > 16 * n;
    for (int64_t i = 0; i < n; ++i) {
      if (search)
        k = std::lower_bound(stored + k, stored + end, columns[i]) - stored;
      else
        while (k < end && stored[k] < columns[i]) ++k;
      out[i] = k < end && stored[k] == columns[i] ? s.values.as<T>()[k] : T(0);
    }
  }
  Form form_;
  T value_;
  MatrixRef ref_;
  const T* cells_ = nullptr;
};

// The values of `pattern` (input `stored` of the call) combined with the other operand's cells at the same places.
template <class T>
MatrixRef on_pattern(Call& call, const Op& op, const MatrixBlock& pattern, size_t stored, const Operand& other,
                     bool pattern_is_left) {
  const BinaryTiles<T>& f = *binary_tiles<T>(op);
  const Gather<T> gather(call.ctx, other);
  const T* values = pattern.csr().values.as<T>();
  const int64_t rows = pattern.rows(), nnz = pattern.nnz_if_known();
  std::shared_ptr<MatrixBlock> out = pattern_of<T>(call, stored);
  Csr& s = out->csr();
  const auto* offsets = s.offsets.as<int64_t>();
  T* to = s.values.as<T>();
  std::atomic<bool> zeros{false};
  if (other.form == Form::one) {
    const auto value = static_cast<T>(other.value);
    parallel_chunks(nnz, cell_grain(binary_row(op)->flops), call.ctx.threads, [&](int64_t b, int64_t e) {
      const auto n = static_cast<size_t>(e - b);
      pattern_is_left ? f.right_scalar(values + b, value, to + b, n) : f.left_scalar(value, values + b, to + b, n);
      if (has_zero(to + b, e - b)) zeros = true;
    });
    return finish(std::move(out), zeros);
  }
  with_columns(s, [&](auto* type) {
    const auto* columns = s.columns.as<std::remove_pointer_t<decltype(type)>>();
    parallel_chunks(rows, rows_per_task(rows, nnz), call.ctx.threads, [&](int64_t begin, int64_t end) {
      T cells[kTile];
      for (int64_t r = begin; r < end; ++r)
        for (int64_t k = offsets[r]; k < offsets[r + 1]; k += kTile) {
          const int64_t n = std::min(kTile, offsets[r + 1] - k);
          gather.read(r, columns + k, n, cells);
          pattern_is_left ? f.both(values + k, cells, to + k, static_cast<size_t>(n))
                          : f.both(cells, values + k, to + k, static_cast<size_t>(n));
        }
      if (has_zero(to + offsets[begin], offsets[end] - offsets[begin])) zeros = true;
    });
  });
  return finish(std::move(out), zeros);
}

// Walks the union of two rows in ascending order of columns: visit(column, left position or -1, right position or -1).
template <class C, class F>
void merge_rows(const C* a, int64_t a_begin, int64_t a_end, const C* b, int64_t b_begin, int64_t b_end,
                const F& visit) {
  while (a_begin < a_end && b_begin < b_end) {
    const C x = a[a_begin], y = b[b_begin];
    visit(x < y ? x : y, x <= y ? a_begin : -1, y <= x ? b_begin : -1);
    a_begin += x <= y, b_begin += y <= x;
  }
  for (; a_begin < a_end; ++a_begin) visit(a[a_begin], a_begin, int64_t{-1});
  for (; b_begin < b_end; ++b_begin) visit(b[b_begin], int64_t{-1}, b_begin);
}

// Where both operands are 0 the result is.
template <class T, class C>
MatrixRef on_union(Call& call, const Op& op, const MatrixBlock& left, const MatrixBlock& right) {
  const Csr &a = left.csr(), &b = right.csr();
  const auto *a_at = a.offsets.as<int64_t>(), *b_at = b.offsets.as<int64_t>();
  const C *a_columns = a.columns.as<C>(), *b_columns = b.columns.as<C>();
  const int64_t rows = left.rows(), grain = rows_per_task(rows, left.nnz_if_known() + right.nnz_if_known());
  Buffer counted = call.ctx.memory.allocate(static_cast<size_t>(rows + 1) * 8);
  auto* offsets = counted.as<int64_t>();
  offsets[0] = 0;
  parallel_chunks(rows, grain, call.ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t n = 0;
      merge_rows(a_columns, a_at[r], a_at[r + 1], b_columns, b_at[r], b_at[r + 1], [&](C, int64_t, int64_t) { ++n; });
      offsets[r + 1] = n;
    }
  });
  for (int64_t r = 0; r < rows; ++r) offsets[r + 1] += offsets[r];
  auto out = new_sparse<T>(call.ctx, rows, left.cols(), offsets[rows]);
  Csr& s = out->csr();
  s.offsets = std::move(counted);
  C* columns = s.columns.as<C>();
  T* values = s.values.as<T>();
  const T *x = a.values.as<T>(), *y = b.values.as<T>();
  const auto both = binary_tiles<T>(op)->both;
  std::atomic<bool> zeros{false};
  parallel_chunks(rows, grain, call.ctx.threads, [&](int64_t begin, int64_t end) {
    T other[kTile];
    for (int64_t r = begin; r < end; ++r) {
      int64_t k = offsets[r], done = k;
      const auto flush = [&] {
        both(values + done, other, values + done, static_cast<size_t>(k - done));
        done = k;
      };
      merge_rows(a_columns, a_at[r], a_at[r + 1], b_columns, b_at[r], b_at[r + 1], [&](C c, int64_t i, int64_t j) {
        columns[k] = c;
        values[k] = i < 0 ? T(0) : x[i];
        other[k - done] = j < 0 ? T(0) : y[j];
        if (++k - done == kTile) flush();
      });
      flush();
    }
    if (has_zero(values + offsets[begin], offsets[end] - offsets[begin])) zeros = true;
  });
  return finish(std::move(out), zeros);
}

// Does a zero on the side of the sparse operand give 0 whatever the other operand holds?
template <class T>
bool zeros_stay(Context& ctx, const Op& op, const Operand& other, bool sparse_is_left) {
  const BinaryTiles<T>& f = *binary_tiles<T>(op);
  const Zero law = op.laws.zero;
  if (other.form == Form::one) {
    const auto v = static_cast<T>(other.value);
    return (sparse_is_left ? f.cell(0, v) : f.cell(v, 0)) == 0;
  }
  if (law == Zero::either || law == (sparse_is_left ? Zero::left : Zero::right)) return true;
  if (other.form == Form::whole && op.name == "/" && sparse_is_left)
    return !other.block().is_virtual() && count_nnz<T>(ctx, other.block()) == other.block().cells();
  if (other.form == Form::whole) return false;
  const MatrixRef vector = to_dense<T>(ctx, *other.ref);
  const T* cells = vector->template dense<T>();
  return std::all_of(cells, cells + vector->cells(),
                     [&](T v) { return (sparse_is_left ? f.cell(0, v) : f.cell(v, 0)) == 0; });
}

enum class Way : uint8_t { none, left, right, together };

template <class T>
Way way(Context& ctx, const Op& op, const OperandPair& p) {
  const Zero law = op.laws.zero;
  const bool left = p.left.form == Form::whole && p.left.block().is_sparse();
  const bool right = p.right.form == Form::whole && p.right.block().is_sparse();
  if (left && right && law == Zero::both) {
    const double most = kSparse * static_cast<double>(p.rows) * static_cast<double>(p.cols);
    const int64_t stored = p.left.block().nnz_if_known() + p.right.block().nnz_if_known();
    return static_cast<double>(stored) <= most || p.left.block().csr().wide ? Way::together : Way::none;
  }
  const bool right_first = right && left && p.right.block().nnz_if_known() < p.left.block().nnz_if_known();
  if (right && right_first && zeros_stay<T>(ctx, op, p.left, false)) return Way::right;
  if (left && zeros_stay<T>(ctx, op, p.right, true)) return Way::left;
  return right && zeros_stay<T>(ctx, op, p.left, false) ? Way::right : Way::none;
}

}  // namespace

template <class T>
MatrixRef unary_sparse(Call& call, size_t input) {
  const MatrixBlock& m = call.matrix(input);
  const T* values = m.csr().values.as<T>();
  const int64_t nnz = m.nnz_if_known();
  std::shared_ptr<MatrixBlock> out = pattern_of<T>(call, input);
  T* to = out->csr().values.template as<T>();
  const auto tile = unary_tiles<T>(call.op)->tile;
  std::atomic<bool> zeros{false};
  parallel_chunks(nnz, cell_grain(unary_row(call.op)->flops), call.ctx.threads, [&](int64_t b, int64_t e) {
    tile(values + b, to + b, static_cast<size_t>(e - b));
    if (has_zero(to + b, e - b)) zeros = true;
  });
  return finish(std::move(out), zeros);
}

template <class T>
MatrixRef gather_on_pattern(Call& call, size_t i, const Operand& from) {
  const Gather<T> gather(call.ctx, from);
  std::shared_ptr<MatrixBlock> out = pattern_of<T>(call, i);
  const int64_t rows = out->rows(), nnz = out->nnz_if_known();
  Csr& s = out->csr();
  const auto* offsets = s.offsets.as<int64_t>();
  T* to = s.values.as<T>();
  std::atomic<bool> zeros{false};
  with_columns(s, [&](auto* type) {
    const auto* columns = s.columns.as<std::remove_pointer_t<decltype(type)>>();
    parallel_chunks(rows, rows_per_task(rows, nnz), call.ctx.threads, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        gather.read(r, columns + offsets[r], offsets[r + 1] - offsets[r], to + offsets[r]);
      if (has_zero(to + offsets[begin], offsets[end] - offsets[begin])) zeros = true;
    });
  });
  return finish(std::move(out), zeros);
}

template <class T>
bool binary_is_sparse(Context& ctx, const Op& op, const OperandPair& pair) {
  return way<T>(ctx, op, pair) != Way::none;
}

template <class T>
MatrixRef binary_sparse(Call& call, const Op& op, const OperandPair& p, size_t left, size_t right) {
  switch (way<T>(call.ctx, op, p)) {
    case Way::left:
      return on_pattern<T>(call, op, p.left.block(), left, p.right, true);
    case Way::right:
      return on_pattern<T>(call, op, p.right.block(), right, p.left, false);
    case Way::together:
      return p.left.block().csr().wide ? on_union<T, int64_t>(call, op, p.left.block(), p.right.block())
                                       : on_union<T, int32_t>(call, op, p.left.block(), p.right.block());
    default:
      return new_zeros(call.ctx, p.rows, p.cols);
  }
}

#define HOPLINE_INSTANTIATE(T)                                                \
  template MatrixRef unary_sparse<T>(Call&, size_t);                          \
  template MatrixRef gather_on_pattern<T>(Call&, size_t, const Operand&);     \
  template bool binary_is_sparse<T>(Context&, const Op&, const OperandPair&); \
  template MatrixRef binary_sparse<T>(Call&, const Op&, const OperandPair&, size_t, size_t);
HOPLINE_INSTANTIATE(double)
HOPLINE_INSTANTIATE(float)
#undef HOPLINE_INSTANTIATE

}  // namespace hopline
