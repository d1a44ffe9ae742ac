// Products of matrices as plain functions: what the rows of matmul.cc run, and what solve, convolutions and fused
// operators build on. Results have the same bits for any number of threads.
#pragma once
#include <cstdint>
#include <functional>

#include "runtime/ops/call.h"

namespace hopline {

// One side of a dense product: row-major cells with `stride` cells from row to row, read as they stand or transposed.
template <class T>
struct Side {
  const T* cells;
  int64_t stride;
  bool transposed = false;
};

// c (m x n, without gaps) = a (m x k) * b (k x n), after any transposition.
template <class T>
void dense_product(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, Side<T> a, Side<T> b, T* c);
// c (n x n, without gaps) = t(x) * x for x of k rows and n columns; only half of it is computed, then mirrored.
// With x.transposed x is n x k and the result x * t(x).
template <class T>
void dense_gram(Context& ctx, const Span& span, int64_t n, int64_t k, Side<T> x, T* c);
// c[.., ldc] += alpha * a * b by tiles over the run's threads; for blocked decompositions.
template <class T>
void dense_update(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, T alpha, Side<T> a, Side<T> b, T* c,
                  int64_t ldc);
// Bytes of temporaries of dense_product and dense_gram; `split` as in their calls: is the inner dimension the rows of
// the left input (t(X) %*% Y)?
double dense_product_scratch(int64_t m, int64_t n, int64_t k, bool split, size_t cell);

// Products with CSR sides of 32-bit columns; the other side is dense or CSR, m and n are those of the result.
template <class T>
MatrixRef sparse_times_dense(Context& ctx, const Span& span, const MatrixBlock& a, const MatrixBlock& b);
template <class T>
MatrixRef dense_times_sparse(Context& ctx, const Span& span, const MatrixBlock& a, const MatrixBlock& b);
template <class T>
MatrixRef sparse_times_sparse(Context& ctx, const Span& span, const MatrixRef& a, const MatrixRef& b);
// t(x) * y without a transposed copy where the result is small.
template <class T>
MatrixRef sparse_transposed_times_dense(Context& ctx, const Span& span, const MatrixRef& x, const MatrixBlock& y);
template <class T>
MatrixRef dense_times_sparse_transposed(Context& ctx, const Span& span, const MatrixBlock& x, const MatrixBlock& y);
template <class T>
MatrixRef sparse_gram(Context& ctx, const Span& span, const MatrixRef& x);
MatrixRef transposed(Context& ctx, const Span& span, const MatrixRef& m);

// A block of the result, [row_begin, row_end) x [col_begin, col_end).
struct Tile {
  int64_t row_begin, row_end, col_begin, col_end;
};

// The result (m x n) in tiles, each the sum of `leaves` parts of the inner dimension. Parts are merged by the binary
// tree over their numbers (a missing right branch is skipped), so the bits depend on the leaves alone.
struct TreeSum {
  int64_t m, n, tile_m, tile_n, leaves;
  bool upper = false;  // only tiles and cells on and above the diagonal; tiles are square
};
// part writes (does not add) cells of the tile for one leaf to out, whose rows stand ld cells apart.
template <class T>
using TreePart = std::function<void(const Tile& tile, int64_t leaf, T* out, int64_t ld)>;
// c: m rows of ldc cells.
template <class T>
void tree_sum(Context& ctx, const Span& span, const TreeSum& sum, T* c, int64_t ldc, int threads,
              const TreePart<T>& part);
double tree_sum_scratch(const TreeSum& sum, int threads, size_t cell);

}  // namespace hopline
