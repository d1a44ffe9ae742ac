// Kernels of the cell-wise functions of two arguments, for dense and virtual operands.
#include <algorithm>
#include <cmath>

#include "runtime/base/parallel.h"
#include "runtime/ops/elementwise.h"

namespace hopline {

namespace {

constexpr int64_t kNarrow = 32;  // broadcasts to shorter rows are joined into tiles

// The dense input that the result may overwrite.
std::shared_ptr<MatrixBlock> take_of_size(Call& call, size_t i, int64_t rows, int64_t cols) {
  if (!call.is_matrix(i)) return nullptr;
  const MatrixBlock& m = call.matrix(i);
  if (!m.is_dense() || m.rows() != rows || m.cols() != cols) return nullptr;
  return call.take(i);
}

template <class T>
std::shared_ptr<MatrixBlock> result_block(Call& call, const OperandPair& pair, size_t left, size_t right) {
  std::shared_ptr<MatrixBlock> out = take_of_size(call, left, pair.rows, pair.cols);
  if (!out) out = take_of_size(call, right, pair.rows, pair.cols);
  return out ? out : new_dense<T>(call.ctx, pair.rows, pair.cols);
}

// Dense cells of an operand: one value, or a pointer. Stays valid when the block becomes the result.
template <class T>
struct DenseCells {
  Form form;
  T value;
  const T* cells;
  explicit DenseCells(const Operand& o)
      : form(o.form), value(static_cast<T>(o.value)), cells(form == Form::one ? nullptr : o.block().dense<T>()) {}
};

template <class T>
void flat_range(const BinaryTiles<T>& f, const DenseCells<T>& l, const DenseCells<T>& r, T* to, int64_t b, int64_t e) {
  const auto n = static_cast<size_t>(e - b);
  if (l.form == Form::one)
    f.left_scalar(l.value, r.cells + b, to + b, n);
  else if (r.form == Form::one)
    f.right_scalar(l.cells + b, r.value, to + b, n);
  else
    f.both(l.cells + b, r.cells + b, to + b, n);
}

template <class T>
void broadcast_row(const BinaryTiles<T>& f, const DenseCells<T>& l, const DenseCells<T>& r, T* out, int64_t row,
                   int64_t cols) {
  const auto n = static_cast<size_t>(cols);
  const bool left_same = l.form == Form::one || l.form == Form::column;
  const bool right_same = r.form == Form::one || r.form == Form::column;
  const T left_value = l.form == Form::column ? l.cells[row] : l.value;
  const T right_value = r.form == Form::column ? r.cells[row] : r.value;
  if (left_same && right_same)
    std::fill_n(out, n, f.cell(left_value, right_value));
  else if (left_same)
    f.left_scalar(left_value, r.cells, out, n);
  else if (right_same)
    f.right_scalar(l.cells + row * cols, right_value, out, n);
  else
    f.both(l.cells + row * cols, r.cells, out, n);
}

bool is_flat(const OperandPair& p) {
  return p.left.form != Form::column && p.right.form != Form::row && p.right.form != Form::column;
}
bool all_dense(const OperandPair& p) {
  const auto fits = [](const Operand& o) { return o.form == Form::one || o.block().is_dense(); };
  return fits(p.left) && fits(p.right);
}

// Does an operand without non-zeros decide the whole result? (0 times a matrix is 0 even where that matrix is NaN.)
bool takes_empty(const Call&, const Op& op, const OperandPair& p) {
  // 0 times a NaN or an infinity that is a scalar is NaN; only cells of matrices may be taken as 0.
  const auto spoils = [](const Operand& o) { return o.form == Form::one && !std::isfinite(o.value); };
  if (spoils(p.left) || spoils(p.right)) return false;
  const Zero law = op.laws.zero;
  return (p.left.empty && (law == Zero::either || law == Zero::left)) ||
         (p.right.empty && (law == Zero::either || law == Zero::right));
}
template <class T>
Value run_empty(Call& call, const Op&, const OperandPair& p, size_t, size_t) {
  return new_zeros(call.ctx, p.rows, p.cols);
}

bool takes_constant(const Call&, const Op&, const OperandPair& p) {
  return p.left.form == Form::one && p.right.form == Form::one;
}
template <class T>
Value run_constant(Call& call, const Op& op, const OperandPair& p, size_t, size_t) {
  const T cell = binary_tiles<T>(op)->cell(static_cast<T>(p.left.value), static_cast<T>(p.right.value));
  return new_constant(call.ctx, p.rows, p.cols, cell);
}

bool takes_dense(const Call& call, const Op& op, const OperandPair& p) {
  return is_flat(p) && all_dense(p) && !takes_empty(call, op, p) &&
         (p.left.form == Form::whole || p.right.form == Form::whole);
}
template <class T>
Value run_dense(Call& call, const Op& op, const OperandPair& p, size_t left, size_t right) {
  const DenseCells<T> l(p.left), r(p.right);
  const BinaryTiles<T>& f = *binary_tiles<T>(op);
  const int64_t cells = p.cells(), grain = cell_grain(binary_row(op)->flops);
  std::shared_ptr<MatrixBlock> out = result_block<T>(call, p, left, right);
  T* to = out->template dense<T>();
  if (cells <= grain)
    flat_range(f, l, r, to, 0, cells);
  else
    parallel_chunks(cells, grain, call.ctx.threads, [&](int64_t b, int64_t e) { flat_range(f, l, r, to, b, e); });
  return MatrixRef(std::move(out));
}

bool takes_broadcast(const Call&, const Op&, const OperandPair& p) {
  return !is_flat(p) && p.cols >= kNarrow && all_dense(p);
}
template <class T>
Value run_broadcast(Call& call, const Op& op, const OperandPair& p, size_t left, size_t right) {
  const DenseCells<T> l(p.left), r(p.right);
  const BinaryTiles<T>& f = *binary_tiles<T>(op);
  const int64_t cols = p.cols, grain = std::max<int64_t>(1, cell_grain(binary_row(op)->flops) / cols);
  std::shared_ptr<MatrixBlock> out = result_block<T>(call, p, left, right);
  T* to = out->template dense<T>();
  parallel_chunks(p.rows, grain, call.ctx.threads, [&](int64_t b, int64_t e) {
    for (; b < e; ++b) broadcast_row(f, l, r, to + b * cols, b, cols);
  });
  return MatrixRef(std::move(out));
}

const Sequence* sequence_of(const Operand& o) {
  if (o.form != Form::whole || !o.block().is_virtual()) return nullptr;
  return std::get_if<Sequence>(&o.block().cells_rule());
}

// A sequence of whole numbers plus, minus or times a whole number, where no cell needs rounding; else nullopt.
std::optional<Sequence> sequence_result(const Op& op, const OperandPair& p, double most) {
  const Sequence* s = sequence_of(p.left);
  const bool left = s != nullptr;
  if (!left) s = sequence_of(p.right);
  if (s == nullptr || (left ? p.right : p.left).form != Form::one) return std::nullopt;
  const double v = (left ? p.right : p.left).value;
  const double largest = std::fabs(s->from) + static_cast<double>(p.cells()) * std::fabs(s->increment);
  const auto whole = [](double x) { return x == std::nearbyint(x); };
  if (!whole(v) || !whole(s->from) || !whole(s->increment)) return std::nullopt;
  Sequence out = *s;
  if (op.name == "+") {
    out.from += v;
  } else if (op.name == "-") {
    out.from = left ? out.from - v : v - out.from;
    out.increment = left ? out.increment : -out.increment;
  } else if (op.name == "*" && v > 0) {
    out.from *= v, out.increment *= v;
    return largest * v <= most ? std::optional(out) : std::nullopt;
  } else {
    return std::nullopt;
  }
  return largest + std::fabs(v) <= most ? std::optional(out) : std::nullopt;
}

bool takes_sequence(const Call& call, const Op& op, const OperandPair& p) {
  return sequence_result(op, p, call.ctx.precision == Precision::f64 ? 0x1p53 : 0x1p24).has_value();
}
template <class T>
Value run_sequence(Call& call, const Op& op, const OperandPair& p, size_t, size_t) {
  return new_virtual(call.ctx, p.rows, p.cols, *sequence_result(op, p, sizeof(T) == 8 ? 0x1p53 : 0x1p24));
}

bool takes_sparse(const Call& call, const Op& op, const OperandPair& p) {
  return with_real(call.ctx, [&](auto t) { return binary_is_sparse<decltype(t)>(call.ctx, op, p); });
}
template <class T>
Value run_sparse(Call& call, const Op& op, const OperandPair& p, size_t left, size_t right) {
  return binary_sparse<T>(call, op, p, left, right);
}

// Any operands, read tile by tile; the result dense.
bool takes_matrices(const Call&, const Op&, const OperandPair&) { return true; }
template <class T>
Value run_tiled(Call& call, const Op& op, const OperandPair& p, size_t left, size_t right) {
  const TileReader<T> l(call.ctx, p.left, p.rows, p.cols), r(call.ctx, p.right, p.rows, p.cols);
  const BinaryTiles<T>& f = *binary_tiles<T>(op);
  const Form left_form = p.left.form, right_form = p.right.form;
  const auto left_value = static_cast<T>(p.left.value), right_value = static_cast<T>(p.right.value);
  std::shared_ptr<MatrixBlock> out = result_block<T>(call, p, left, right);
  T* to = out->template dense<T>();
  for_tiles(call.ctx, p.cells(), cell_grain(binary_row(op)->flops), [&](int64_t begin, int64_t n) {
    T scratch[2][kTile];
    const auto count = static_cast<size_t>(n);
    if (left_form == Form::one) return f.left_scalar(left_value, r.read(begin, n, scratch[1]), to + begin, count);
    const T* a = l.read(begin, n, scratch[0]);
    if (right_form == Form::one) return f.right_scalar(a, right_value, to + begin, count);
    f.both(a, r.read(begin, n, scratch[1]), to + begin, count);
  });
  return MatrixRef(std::move(out));
}

// Cell by cell; what the other kernels are compared with.
template <class T>
Value run_reference(Call& call, const Op& op, const OperandPair& p, size_t, size_t) {
  const auto cells = [&](const Operand& o) {
    return o.form == Form::one ? to_dense<T>(call.ctx, new_constant(call.ctx, 1, 1, o.value))
                               : to_dense<T>(call.ctx, *o.ref);
  };
  const MatrixRef l = cells(p.left), r = cells(p.right);
  const auto at = [](const MatrixBlock& m, int64_t i, int64_t j) {
    return m.dense<T>()[(m.rows() == 1 ? 0 : i) * m.cols() + (m.cols() == 1 ? 0 : j)];
  };
  auto out = new_dense<T>(call.ctx, p.rows, p.cols);
  const auto cell = binary_tiles<T>(op)->cell;
  T* to = out->template dense<T>();
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < p.cols; ++j) *to++ = cell(at(*l, i, j), at(*r, i, j));
  return settle<T>(call.ctx, std::move(out));
}

// A kernel of two operands with any row of binary.def, so that outer and ppred share them.
struct PairKernel {
  bool (*accepts)(const Call&, const Op&, const OperandPair&);
  Value (*run_double)(Call&, const Op&, const OperandPair&, size_t, size_t);
  Value (*run_float)(Call&, const Op&, const OperandPair&, size_t, size_t);
  Value run(Call& call, const Op& op, const OperandPair& p, size_t left, size_t right) const {
    return (call.ctx.precision == Precision::f64 ? run_double : run_float)(call, op, p, left, right);
  }
};
constexpr PairKernel kPairKernels[] = {{takes_dense, run_dense<double>, run_dense<float>},
                                       {takes_empty, run_empty<double>, run_empty<float>},
                                       {takes_constant, run_constant<double>, run_constant<float>},
                                       {takes_broadcast, run_broadcast<double>, run_broadcast<float>},
                                       {takes_sequence, run_sequence<double>, run_sequence<float>},
                                       {takes_sparse, run_sparse<double>, run_sparse<float>},
                                       {takes_matrices, run_tiled<double>, run_tiled<float>},
                                       {takes_matrices, run_reference<double>, run_reference<float>}};

bool has_matrix(const Call& call) { return call.is_matrix(0) || call.is_matrix(1); }
template <int kNumber>
bool accepts(const Call& call) {
  return has_matrix(call) && kPairKernels[kNumber].accepts(call, call.op, operands(*call.in[0], *call.in[1]));
}
template <int kNumber>
void run(Call& call) {
  call.out[0] = kPairKernels[kNumber].run(call, call.op, operands(*call.in[0], *call.in[1]), 0, 1);
}

bool takes_scalars(const Call& call) { return !has_matrix(call); }
void run_scalars(Call& call) { call.out[0] = binary_scalar(call.op, *call.in[0], *call.in[1], call.span); }
void run_last(Call& call) { has_matrix(call) ? run<7>(call) : run_scalars(call); }

}  // namespace

const Kernel kBinaryKernels[9] = {
    {"dense", accepts<0>, run<0>},    {"scalars", takes_scalars, run_scalars}, {"empty", accepts<1>, run<1>},
    {"constant", accepts<2>, run<2>}, {"broadcast", accepts<3>, run<3>},       {"sequence", accepts<4>, run<4>},
    {"sparse", accepts<5>, run<5>},   {"tiles", has_matrix, run<6>},           {"reference", nullptr, run_last}};

Value run_binary(Call& call, const Op& op, size_t left, size_t right) {
  if (!call.is_matrix(left) && !call.is_matrix(right))
    return binary_scalar(op, *call.in[left], *call.in[right], call.span);
  const OperandPair p = operands(*call.in[left], *call.in[right]);
  for (const PairKernel& k : kPairKernels)
    if (k.accepts(call, op, p)) return k.run(call, op, p, left, right);
  return {};
}

}  // namespace hopline
