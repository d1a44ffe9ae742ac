// Decompositions as plain functions; linalg.cc holds their rows.
#pragma once
#include <cstdint>

#include "runtime/ops/blas.h"
#include "runtime/ops/call.h"

namespace hopline {

// In place: the column-major n x n matrix a becomes L (unit lower) and U, with row i exchanged with pivots[i] (from 1).
// Returns the number (from 1) of the first zero pivot, or 0. Blocked over the run's threads.
template <class T>
int64_t factor_lu(Context& ctx, const Span& span, int64_t n, T* a, int* pivots);

// In place: the lower triangle of the row-major symmetric n x n matrix a becomes L with a = L * t(L); the upper is
// left. False when a is not positive definite.
template <class T>
bool factor_cholesky(Context& ctx, const Span& span, int64_t n, T* a);

// b (n x r, row-major) = inverse(op(a)) * b for one triangle of the row-major n x n matrix a.
template <class T>
void solve_triangle(Context& ctx, const Span& span, BlasTriangle triangle, BlasTranspose transpose,
                    BlasDiagonal diagonal, int64_t n, int64_t r, const T* a, T* b);

// The kernels of the rows.
void solve_kernel(Call& call);
void inverse_kernel(Call& call);
void determinant_kernel(Call& call);
void cholesky_kernel(Call& call);
void lu_kernel(Call& call);
void qr_kernel(Call& call);
void eigen_kernel(Call& call);
void svd_kernel(Call& call);
void least_squares(Call& call);  // solve() of a matrix that is not square
void fft_kernel(Call& call);
void inverse_fft_kernel(Call& call);
void fft_rows_kernel(Call& call);
void inverse_fft_rows_kernel(Call& call);
void stft_kernel(Call& call);
void einsum_kernel(Call& call);
void infer_einsum(InferCall& call);
Cost cost_einsum(const InferCall& call);

// A dense copy of input i that may be written: the input itself at its last use.
template <class T>
std::shared_ptr<MatrixBlock> writable_dense(Call& call, size_t i);
// A dense copy of input i, transposed: its cells in column-major order.
template <class T>
std::shared_ptr<MatrixBlock> column_major(Call& call, size_t i);
// The n x n matrix becomes its transpose.
template <class T>
void transpose_square(int64_t n, T* a);
// LAPACK counts in 32 bits.
void check_lapack_sizes(const Call& call, int64_t largest, double cells_of_work);

}  // namespace hopline
