// Dense products: how a product is cut and which inner loop runs each piece. Borders depend on the shape alone.
#include <algorithm>
#include <climits>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/blas.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/matmul_kernels.h"

namespace hopline {

namespace {

constexpr int64_t kTiny = 64 * 64 * 64;        // multiplications of a product that needs neither BLAS nor threads
constexpr int64_t kParallelWork = 1 << 18;     // multiplications from which threads pay
constexpr int64_t kLeaf = 2048;                // inner cells of one leaf of the sum tree
constexpr int64_t kVectorLeafCells = 1 << 16;  // cells of the matrix per leaf or task of a vector product
constexpr int64_t kNarrow = 16;                // columns of the result up to which our own loop beats BLAS
constexpr int64_t kShallow = 8;                // the same for the inner dimension
constexpr int64_t kFew = 8;                    // the same for rows, when the right side is read once
constexpr int64_t kTileEdge = 768;

int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }
int64_t rounded_up(int64_t n, int64_t to) { return parts(n, to) * to; }

int64_t work(int64_t m, int64_t n, int64_t k) {
  const double w = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return w > 1e18 ? int64_t{1000000000000000000} : static_cast<int64_t>(w);
}

enum class Shape { tiny, narrow, few, blocks };

Shape shape_of(int64_t m, int64_t n, int64_t k, bool b_transposed) {
  if (work(m, n, k) <= kTiny) return Shape::tiny;
  if (n <= kNarrow || k <= kShallow) return Shape::narrow;
  if (m <= kFew && !b_transposed) return Shape::few;
  return Shape::blocks;
}

// How a product is cut: its tiles and leaves, and the inner cells of one leaf.
struct Cut {
  TreeSum sum;
  int64_t leaf;
};

// split: the inner dimension is the rows of a matrix, which the sum tree counts globally.
Cut with_leaves(TreeSum s, int64_t k, bool split) {
  const int64_t tiles = parts(s.m, s.tile_m) * parts(s.n, s.tile_n);
  const bool cut = split || (tiles < 16 && k >= 2 * kLeaf) || k > INT_MAX / 2;
  const int64_t leaf = cut ? kLeaf : k;
  s.leaves = parts(k, leaf);
  return {s, leaf};
}

// Tiles of the result: powers of two, so that teams of powers of two share them evenly; no larger than fits the caches,
// and enough of them for the work.
Cut cut_blocks(int64_t m, int64_t n, int64_t k, bool split, bool square) {
  const int64_t w = work(m, n, k);
  int64_t wanted = w < (1 << 21) ? 1 : w < (1 << 29) ? 4 : 16;
  if (split) wanted = parts(wanted, parts(k, kLeaf));
  int64_t rows = 1, cols = 1;
  for (;;) {
    const int64_t tall = parts(m, rows), wide = parts(n, cols);
    const bool fits = tall <= kTileEdge * kTileEdge / wide;
    if (fits && (rows * cols >= wanted || std::max(tall, wide) <= 128)) break;
    if (square)
      rows *= 2, cols *= 2;
    else
      (tall > wide ? rows : cols) *= 2;
  }
  return with_leaves({m, n, rounded_up(parts(m, rows), 8), rounded_up(parts(n, cols), 8), 1}, k, split);
}

Cut cut_narrow(int64_t m, int64_t n, int64_t k, bool split) {
  const int64_t tall = std::max<int64_t>(64, rounded_up(kVectorLeafCells / std::max(n, std::min(k, kLeaf)), 4));
  return with_leaves({m, n, std::min(m, split ? int64_t{1024} : tall), n, 1}, k, split);
}

Cut cut_few(int64_t m, int64_t n, int64_t k, bool split) {
  return with_leaves({m, n, m, std::min<int64_t>(n, 4096), 1}, k, split);
}

// y (n) = sum over rows of x[i] * a[i, ].
Cut cut_weighted_rows(int64_t rows, int64_t n) {
  int64_t leaf = 1024;
  while (leaf * n < kVectorLeafCells && leaf < kVectorLeafCells) leaf *= 2;
  return {{1, n, 1, n <= 8192 ? n : 4096, parts(rows, leaf)}, leaf};
}

int threads_for(const Context& ctx, int64_t w) { return w < kParallelWork ? 1 : ctx.threads; }

template <class T>
void weighted_rows(Context& ctx, const Span& span, int64_t rows, int64_t n, Side<T> a, const T* x, T* y) {
  const MatmulKernels<T>& f = matmul_kernels<T>();
  const auto [s, leaf] = cut_weighted_rows(rows, n);
  const auto sum_rows = [&](int64_t begin, int64_t end, int64_t col_begin, int64_t col_end, T* out) {
    constexpr int64_t kColumns = 1024;  // of out in the first-level cache
    std::fill(out, out + (col_end - col_begin), T{0});
    for (int64_t j = col_begin; j < col_end; j += kColumns)
      f.add_weighted_rows(end - begin, std::min(kColumns, col_end - j), a.cells + begin * a.stride + j, a.stride,
                          x + begin, out + (j - col_begin));
  };
  if (s.leaves == 1 && s.tile_n == n) return sum_rows(0, rows, 0, n, y);
  tree_sum<T>(ctx, span, s, y, n, threads_for(ctx, work(1, n, rows)),
              [&, step = leaf](const Tile& t, int64_t l, T* out, int64_t) {
                sum_rows(l * step, std::min(rows, (l + 1) * step), t.col_begin, t.col_end, out);
              });
}

// y[i] = a[i, ] * x.
template <class T>
void row_dots(Context& ctx, const Span& span, int64_t rows, int64_t k, Side<T> a, const T* x, T* y) {
  const MatmulKernels<T>& f = matmul_kernels<T>();
  constexpr int64_t kLongRow = 16384;
  if (rows * k <= kVectorLeafCells) return f.row_dots(rows, k, a.cells, a.stride, x, y, false);
  if (k <= 4 * kLongRow) {
    parallel_chunks(rows, rounded_up(kVectorLeafCells / k + 1, 4), threads_for(ctx, work(rows, k, 1)),
                    [&](int64_t begin, int64_t end) {
                      if (ctx.session != nullptr) ctx.session->poll(span);
                      f.row_dots(end - begin, k, a.cells + begin * a.stride, a.stride, x, y + begin, false);
                    });
    return;
  }
  tree_sum<T>(ctx, span, {rows, 1, std::min<int64_t>(rows, 64), 1, parts(k, kLongRow)}, y, 1, ctx.threads,
              [&](const Tile& t, int64_t l, T* out, int64_t) {
                const int64_t p = l * kLongRow;
                f.row_dots(t.row_end - t.row_begin, std::min(kLongRow, k - p), a.cells + t.row_begin * a.stride + p,
                           a.stride, x + p, out, false);
              });
}

template <class T>
Buffer packed_transpose(Context& ctx, const Side<T>& b, int64_t k, int64_t n) {
  Buffer buffer = ctx.memory.allocate(static_cast<size_t>(k * n) * sizeof(T));
  T* to = buffer.as<T>();
  for (int64_t p0 = 0; p0 < k; p0 += 64)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = p0; p < std::min(k, p0 + 64); ++p) to[p * n + j] = b.cells[j * b.stride + p];
  return buffer;
}

template <class T>
void tiny_product(Context& ctx, int64_t m, int64_t n, int64_t k, const Side<T>& a, Side<T> b, T* c) {
  const MatmulKernels<T>& f = matmul_kernels<T>();
  const int64_t a_row = a.transposed ? 1 : a.stride, a_col = a.transposed ? a.stride : 1;
  if (!b.transposed) return f.product(m, n, k, a.cells, a_row, a_col, b.cells, b.stride, c, n, false);
  if (!a.transposed && m < 16) {
    for (int64_t i = 0; i < m; ++i) f.row_dots(n, k, b.cells, b.stride, a.cells + i * a.stride, c + i * n, false);
    return;
  }
  const Buffer packed = packed_transpose(ctx, b, k, n);
  f.product(m, n, k, a.cells, a_row, a_col, packed.as<T>(), n, c, n, false);
}

// Our own loop over tiles, the inner dimension in pieces whose rows of b stay in the second-level cache.
template <class T>
void narrow_product(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, const Side<T>& a, Side<T> b,
                    T* c) {
  const MatmulKernels<T>& f = matmul_kernels<T>();
  const Cut cut = cut_narrow(m, n, k, a.transposed);
  constexpr int64_t kPiece = 512;
  const int64_t a_row = a.transposed ? 1 : a.stride, a_col = a.transposed ? a.stride : 1;
  Buffer packed;
  if (b.transposed) {
    packed = packed_transpose(ctx, b, k, n);
    b = {packed.as<T>(), n, false};
  }
  tree_sum<T>(
      ctx, span, cut.sum, c, n, threads_for(ctx, work(m, n, k)), [&](const Tile& t, int64_t l, T* out, int64_t ld) {
        const int64_t begin = l * cut.leaf, end = std::min(k, begin + cut.leaf);
        for (int64_t p = begin; p < end; p += kPiece)
          f.product(t.row_end - t.row_begin, n, std::min(kPiece, end - p), a.cells + t.row_begin * a_row + p * a_col,
                    a_row, a_col, b.cells + p * b.stride, b.stride, out, ld, p > begin);
      });
}

// t(x) * y for few columns of y, as the transpose of t(y) * x, so that vectors run along the rows of x.
template <class T>
void narrow_split_product(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, const Side<T>& x, Side<T> y,
                          T* c) {
  const MatmulKernels<T>& f = matmul_kernels<T>();
  const Cut cut = cut_narrow(m, n, k, true);
  const int64_t y_row = y.transposed ? y.stride : 1, y_col = y.transposed ? 1 : y.stride;
  tree_sum<T>(ctx, span, cut.sum, c, n, threads_for(ctx, work(m, n, k)),
              [&](const Tile& t, int64_t l, T* out, int64_t ld) {
                const int64_t width = t.row_end - t.row_begin, end = std::min(k, (l + 1) * cut.leaf);
                const int64_t piece = std::clamp<int64_t>((1 << 14) / width, 16, 256);
                Buffer buffer = ctx.memory.allocate(static_cast<size_t>(n * width) * sizeof(T));
                T* turned = buffer.as<T>();
                for (int64_t p = l * cut.leaf; p < end; p += piece)
                  f.product(n, width, std::min(piece, end - p), y.cells + p * y_col, y_row, y_col,
                            x.cells + p * x.stride + t.row_begin, x.stride, turned, width, p > l * cut.leaf);
                for (int64_t i = 0; i < width; ++i)
                  for (int64_t j = 0; j < n; ++j) out[i * ld + j] = turned[j * width + i];
              });
}

// Few rows on the left: the right side is read once, a strip of columns at a time.
template <class T>
void few_rows_product(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, Side<T> a, const Side<T>& b,
                      T* c) {
  const MatmulKernels<T>& f = matmul_kernels<T>();
  const Cut cut = cut_few(m, n, k, a.transposed);
  Buffer packed;
  if (a.transposed) {
    packed = packed_transpose(ctx, a, m, k);
    a = {packed.as<T>(), k, false};
  }
  tree_sum<T>(ctx, span, cut.sum, c, n, threads_for(ctx, work(m, n, k)),
              [&](const Tile& t, int64_t l, T* out, int64_t ld) {
                constexpr int64_t kRows = 8, kColumns = 256;
                const int64_t end = std::min(k, (l + 1) * cut.leaf), width = t.col_end - t.col_begin;
                for (int64_t i = 0; i < m; ++i) std::fill(out + i * ld, out + i * ld + width, T{0});
                for (int64_t p = l * cut.leaf; p < end; p += kRows)
                  for (int64_t j = 0; j < width; j += kColumns)
                    for (int64_t i = 0; i < m; ++i)
                      f.add_weighted_rows(std::min(kRows, end - p), std::min(kColumns, width - j),
                                          b.cells + p * b.stride + t.col_begin + j, b.stride,
                                          a.cells + i * a.stride + p, out + i * ld + j);
              });
}

BlasTranspose transpose_flag(bool transposed) { return transposed ? BlasTranspose::yes : BlasTranspose::no; }

template <class T>
const T* at(const Side<T>& s, int64_t row, int64_t col) {
  return s.transposed ? s.cells + col * s.stride + row : s.cells + row * s.stride + col;
}

template <class T>
bool too_long_for_blas(const Side<T>& a, const Side<T>& b) {
  return a.stride > INT_MAX || b.stride > INT_MAX;
}

// Plain loops for rows of more cells than BLAS can count.
template <class T>
void long_stride_part(int64_t m, int64_t n, int64_t k, const Side<T>& a, const Side<T>& b, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += *at(a, i, p) * *at(b, p, j);
      c[i * ldc + j] = sum;
    }
}

template <class T>
void block_product(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, const Side<T>& a, const Side<T>& b,
                   bool symmetric, T* c) {
  const Blas<T>& f = blas<T>();
  Cut cut = cut_blocks(m, n, k, a.transposed, symmetric);
  cut.sum.upper = symmetric;
  const bool plain = too_long_for_blas(a, b) || n > INT_MAX;
  tree_sum<T>(
      ctx, span, cut.sum, c, n, threads_for(ctx, work(m, n, k)), [&](const Tile& t, int64_t l, T* out, int64_t ld) {
        const int64_t p = l * cut.leaf, depth = std::min(cut.leaf, k - p);
        const int64_t rows = t.row_end - t.row_begin, cols = t.col_end - t.col_begin;
        const T *left = at(a, t.row_begin, p), *right = at(b, p, t.col_begin);
        if (plain)
          return long_stride_part(rows, cols, depth, {left, a.stride, a.transposed}, {right, b.stride, b.transposed},
                                  out, ld);
        const int lda = static_cast<int>(a.stride), ldb = static_cast<int>(b.stride), ldc = static_cast<int>(ld);
        if (symmetric && t.row_begin == t.col_begin)
          return f.syrk(BlasOrder::row_major, BlasTriangle::upper, transpose_flag(a.transposed), static_cast<int>(rows),
                        static_cast<int>(depth), 1, left, lda, 0, out, ldc);
        f.gemm(BlasOrder::row_major, transpose_flag(a.transposed), transpose_flag(b.transposed), static_cast<int>(rows),
               static_cast<int>(cols), static_cast<int>(depth), 1, left, lda, right, ldb, 0, out, ldc);
      });
}

template <class T>
void mirror_upper(Context& ctx, int64_t n, T* c) {
  constexpr int64_t kEdge = 32;
  const int64_t blocks = parts(n, kEdge);
  parallel_chunks(blocks, std::max<int64_t>(1, (1 << 16) / (n * kEdge)), threads_for(ctx, n * n),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i0 = begin * kEdge; i0 < std::min(n, end * kEdge); i0 += kEdge)
                      for (int64_t j0 = 0; j0 <= i0; j0 += kEdge)
                        for (int64_t i = i0; i < std::min(n, i0 + kEdge); ++i)
                          for (int64_t j = j0; j < std::min(i, j0 + kEdge); ++j) c[i * n + j] = c[j * n + i];
                  });
}

}  // namespace

template <class T>
void dense_product(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, Side<T> a, Side<T> b, T* c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    std::fill(c, c + m * n, T{0});
    return;
  }
  if (n == 1 && (b.transposed || b.stride == 1 || k == 1))
    return a.transposed ? weighted_rows(ctx, span, k, m, a, b.cells, c) : row_dots(ctx, span, m, k, a, b.cells, c);
  if (m == 1 && (!a.transposed || a.stride == 1 || k == 1))
    return b.transposed ? row_dots(ctx, span, n, k, b, a.cells, c) : weighted_rows(ctx, span, k, n, b, a.cells, c);
  switch (shape_of(m, n, k, b.transposed)) {
    case Shape::tiny:
      return tiny_product(ctx, m, n, k, a, b, c);
    case Shape::narrow:
      if (a.transposed && n <= kNarrow) return narrow_split_product(ctx, span, m, n, k, a, b, c);
      return narrow_product(ctx, span, m, n, k, a, b, c);
    case Shape::few:
      return few_rows_product(ctx, span, m, n, k, a, b, c);
    case Shape::blocks:
      return block_product(ctx, span, m, n, k, a, b, false, c);
  }
}

template <class T>
void dense_gram(Context& ctx, const Span& span, int64_t n, int64_t k, Side<T> x, T* c) {
  const Side<T> flipped{x.cells, x.stride, !x.transposed};
  // x.transposed: x * t(x), so the left side is x as it stands.
  if (k == 0 || n == 1 || shape_of(n, n, k, x.transposed) != Shape::blocks)
    return dense_product(ctx, span, n, n, k, flipped, x, c);
  block_product(ctx, span, n, n, k, flipped, x, true, c);
  mirror_upper(ctx, n, c);
}

template <class T>
void dense_update(Context& ctx, const Span& span, int64_t m, int64_t n, int64_t k, T alpha, Side<T> a, Side<T> b, T* c,
                  int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  const Blas<T>& f = blas<T>();
  const TreeSum s = cut_blocks(m, n, k, false, false).sum;
  const int64_t down = parts(m, s.tile_m), across = parts(n, s.tile_n);
  const auto update = [&](int64_t number) {
    if (ctx.session != nullptr) ctx.session->poll(span);
    const int64_t i = number / across * s.tile_m, j = number % across * s.tile_n;
    f.gemm(BlasOrder::row_major, transpose_flag(a.transposed), transpose_flag(b.transposed),
           static_cast<int>(std::min(s.tile_m, m - i)), static_cast<int>(std::min(s.tile_n, n - j)),
           static_cast<int>(k), alpha, at(a, i, 0), static_cast<int>(a.stride), at(b, 0, j), static_cast<int>(b.stride),
           1, c + i * ldc + j, static_cast<int>(ldc));
  };
  if (down * across == 1) return update(0);
  parallel_for(down * across, threads_for(ctx, work(m, n, k)), update);
}

double dense_product_scratch(int64_t m, int64_t n, int64_t k, bool split, size_t cell) {
  if (m == 0 || n == 0 || k == 0) return 0;
  const int threads = available_threads();
  if (m == 1 || n == 1) return tree_sum_scratch(cut_weighted_rows(k, std::max(m, n)).sum, threads, cell);
  switch (shape_of(m, n, k, false)) {
    case Shape::tiny:
      return 0;
    case Shape::narrow:
      return tree_sum_scratch(cut_narrow(m, n, k, split).sum, threads, cell) +
             static_cast<double>(k) * static_cast<double>(n) * static_cast<double>(cell);
    case Shape::few:
      return tree_sum_scratch(cut_few(m, n, k, split).sum, threads, cell) +
             static_cast<double>(k) * static_cast<double>(m) * static_cast<double>(cell);
    case Shape::blocks:
      return tree_sum_scratch(cut_blocks(m, n, k, split, false).sum, threads, cell);
  }
  return 0;
}

#define HOPLINE_INSTANTIATE(T)                                                                            \
  template void dense_product<T>(Context&, const Span&, int64_t, int64_t, int64_t, Side<T>, Side<T>, T*); \
  template void dense_gram<T>(Context&, const Span&, int64_t, int64_t, Side<T>, T*);                      \
  template void dense_update<T>(Context&, const Span&, int64_t, int64_t, int64_t, T, Side<T>, Side<T>, T*, int64_t);
HOPLINE_INSTANTIATE(double)
HOPLINE_INSTANTIATE(float)
#undef HOPLINE_INSTANTIATE

}  // namespace hopline
