// Kernels of the cell-wise functions of one argument.
#include <algorithm>

#include "runtime/base/parallel.h"
#include "runtime/ops/elementwise.h"

namespace hopline {

namespace {

bool takes_scalar(const Call& call) { return is_scalar(call.kind(0)); }
bool takes_dense(const Call& call) { return call.is_matrix(0) && call.matrix(0).is_dense(); }
bool takes_constant(const Call& call) {
  return call.is_matrix(0) && operand(*call.in[0], Form::whole).form == Form::one;
}
bool takes_zero_keeping(const Call& call) {
  return call.is_matrix(0) && call.matrix(0).is_sparse() && call.op.laws.zero == Zero::keeps;
}
bool takes_matrix(const Call& call) { return call.is_matrix(0); }

void run_scalar(Call& call) { call.out[0] = unary_scalar(call.op, *call.in[0]); }

void run_constant(Call& call) {
  const MatrixBlock& m = call.matrix(0);
  const double value = operand(*call.in[0], Form::whole).value;
  with_real(call.ctx, [&](auto t) {
    using T = decltype(t);
    call.set(new_constant(call.ctx, m.rows(), m.cols(), unary_tiles<T>(call.op)->cell(static_cast<T>(value))));
  });
}

template <class T>
void dense(Call& call) {
  const MatrixBlock& m = call.matrix(0);
  const int64_t rows = m.rows(), cols = m.cols(), cells = m.cells();
  const T* in = m.dense<T>();
  std::shared_ptr<MatrixBlock> out = call.take(0);
  if (!out) out = new_dense<T>(call.ctx, rows, cols);
  T* to = out->template dense<T>();
  const auto tile = unary_tiles<T>(call.op)->tile;
  const int64_t grain = cell_grain(unary_row(call.op)->flops);
  if (cells <= grain)
    tile(in, to, static_cast<size_t>(cells));
  else
    parallel_chunks(cells, grain, call.ctx.threads,
                    [=](int64_t b, int64_t e) { tile(in + b, to + b, static_cast<size_t>(e - b)); });
  call.set(std::move(out));
}
void run_dense(Call& call) {
  with_real(call.ctx, [&](auto t) { dense<decltype(t)>(call); });
}

void run_sparse(Call& call) {
  with_real(call.ctx, [&](auto t) { call.set(unary_sparse<decltype(t)>(call, 0)); });
}

// Sparse blocks whose zeros do not stay, sequences and random draws: read tile by tile, the result dense.
template <class T>
void tiled(Call& call) {
  const MatrixBlock& m = call.matrix(0);
  auto out = new_dense<T>(call.ctx, m.rows(), m.cols());
  T* to = out->template dense<T>();
  const auto tile = unary_tiles<T>(call.op)->tile;
  const TileReader<T> reader(call.ctx, operand(*call.in[0], Form::whole), m.rows(), m.cols());
  for_tiles(call.ctx, m.cells(), cell_grain(unary_row(call.op)->flops), [&](int64_t begin, int64_t n) {
    tile(reader.read(begin, n, to + begin), to + begin, static_cast<size_t>(n));
  });
  call.set(std::move(out));
}
void run_tiled(Call& call) {
  with_real(call.ctx, [&](auto t) { tiled<decltype(t)>(call); });
}

// Cell by cell; what the other kernels are compared with.
void run_reference(Call& call) {
  if (takes_scalar(call)) return run_scalar(call);
  with_real(call.ctx, [&](auto t) {
    using T = decltype(t);
    const MatrixRef in = to_dense<T>(call.ctx, call.matrix_ref(0));
    auto out = new_dense<T>(call.ctx, in->rows(), in->cols());
    const T* from = in->template dense<T>();
    std::transform(from, from + in->cells(), out->template dense<T>(), unary_tiles<T>(call.op)->cell);
    call.set(settle<T>(call.ctx, std::move(out)));
  });
}

}  // namespace

const Kernel kUnaryKernels[6] = {{"dense", takes_dense, run_dense},          {"scalar", takes_scalar, run_scalar},
                                 {"sparse", takes_zero_keeping, run_sparse}, {"constant", takes_constant, run_constant},
                                 {"tiles", takes_matrix, run_tiled},         {"reference", nullptr, run_reference}};

}  // namespace hopline
