// LU and Cholesky as blocked loops over the parallel product, and what solves with them.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/linalg.h"
#include "runtime/ops/matmul.h"

namespace hopline {

namespace {

constexpr int64_t kPanel = 128;  // columns of one step of a blocked factorisation
constexpr int64_t kStrip = 64;   // columns or rows of one task beside it

void poll(const Context& ctx, const Span& span) {
  if (ctx.session != nullptr) ctx.session->poll(span);
}

// Exchanges of rows [first, last) in columns [begin, end) of a column-major matrix.
template <class T>
void exchange_rows(int64_t n, T* a, const int* pivots, int64_t first, int64_t last, int64_t begin, int64_t end) {
  for (int64_t c = begin; c < end; ++c)
    for (int64_t i = first; i < last; ++i) {
      const int64_t other = pivots[i] - 1;
      if (other != i) std::swap(a[c * n + i], a[c * n + other]);
    }
}

template <class T>
bool is_symmetric(int64_t n, const T* a) {
  constexpr int64_t kEdge = 32;
  for (int64_t i0 = 0; i0 < n; i0 += kEdge)
    for (int64_t j0 = 0; j0 <= i0; j0 += kEdge)
      for (int64_t i = i0; i < std::min(n, i0 + kEdge); ++i)
        for (int64_t j = j0; j < std::min(i, j0 + kEdge); ++j)
          if (a[i * n + j] != a[j * n + i]) return false;
  return true;
}

// Worth trying Cholesky: symmetric to the bit, with a positive diagonal, and so large that half the work counts more
// than the rounding of the roots.
template <class T>
bool may_be_positive_definite(int64_t n, const T* a) {
  if (n <= 2 * kPanel) return false;
  for (int64_t i = 0; i < n; ++i)
    if (!(a[i * n + i] > 0)) return false;
  return is_symmetric(n, a);
}

template <class T>
void copy_upper_to_lower(int64_t n, T* a) {
  constexpr int64_t kEdge = 32;
  for (int64_t i0 = 0; i0 < n; i0 += kEdge)
    for (int64_t j0 = 0; j0 <= i0; j0 += kEdge)
      for (int64_t i = i0; i < std::min(n, i0 + kEdge); ++i)
        for (int64_t j = j0; j < std::min(i, j0 + kEdge); ++j) a[i * n + j] = a[j * n + i];
}

// b = inverse(a) * b; a is destroyed.
template <class T>
void solve_in_place(Call& call, int64_t n, int64_t r, T* a, T* b, bool try_cholesky) {
  Context& ctx = call.ctx;
  const Span& span = call.span;
  using enum BlasTriangle;
  if (try_cholesky && may_be_positive_definite(n, a)) {
    std::vector<T> diagonal(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) diagonal[i] = a[i * n + i];
    if (factor_cholesky(ctx, span, n, a)) {
      solve_triangle(ctx, span, lower, BlasTranspose::no, BlasDiagonal::stored, n, r, a, b);
      return solve_triangle(ctx, span, lower, BlasTranspose::yes, BlasDiagonal::stored, n, r, a, b);
    }
    copy_upper_to_lower(n, a);
    for (int64_t i = 0; i < n; ++i) a[i * n + i] = diagonal[i];
  }
  // The row-major cells are t(a) column by column: exchange * t(a) = L * U, so a = t(U) * t(L) * exchange.
  std::vector<int> pivots(static_cast<size_t>(n));
  if (const int64_t zero = factor_lu(ctx, span, n, a, pivots.data()); zero > 0)
    call.fail("{}: the matrix is singular (pivot {} is 0)", call.op.name, zero);
  solve_triangle(ctx, span, lower, BlasTranspose::no, BlasDiagonal::stored, n, r, a, b);
  solve_triangle(ctx, span, upper, BlasTranspose::no, BlasDiagonal::unit, n, r, a, b);
  for (int64_t i = n - 1; i >= 0; --i)
    if (const int64_t other = pivots[i] - 1; other != i) std::swap_ranges(b + i * r, b + (i + 1) * r, b + other * r);
}

}  // namespace

template <class T>
int64_t factor_lu(Context& ctx, const Span& span, int64_t n, T* a, int* pivots) {
  const Blas<T>& f = blas<T>();
  int64_t singular = 0;
  const int ld = static_cast<int>(std::max<int64_t>(1, n));
  for (int64_t j = 0; j < n; j += kPanel) {
    poll(ctx, span);
    // A matrix of two panels or less is one panel.
    const int64_t width = n <= 2 * kPanel ? n : std::min(kPanel, n - j), rest = n - j - width;
    const int rows = static_cast<int>(n - j), cols = static_cast<int>(width);
    int info = 0;
    f.getrf(&rows, &cols, a + j * n + j, &ld, pivots + j, &info);
    if (info > 0 && singular == 0) singular = j + info;
    if (width == n) break;
    for (int64_t i = j; i < j + width; ++i) pivots[i] += static_cast<int>(j);
    parallel_chunks(n - width, kStrip, ctx.threads, [&](int64_t begin, int64_t end) {
      // Columns before the panel only exchange rows; those behind it also become rows of U.
      const int64_t before = std::min(end, j);
      if (begin < before) exchange_rows(n, a, pivots, j, j + width, begin, before);
      const int64_t first = std::max(begin, j) + width, last = end + width;
      if (last <= first) return;
      exchange_rows(n, a, pivots, j, j + width, first, last);
      f.trsm(BlasOrder::column_major, BlasSide::left, BlasTriangle::lower, BlasTranspose::no, BlasDiagonal::unit, cols,
             static_cast<int>(last - first), 1, a + j * n + j, ld, a + first * n + j, ld);
    });
    // Row-major, the columns behind the panel are rows: all three blocks are seen transposed.
    T* corner = a + (j + width) * n + j + width;
    dense_update<T>(ctx, span, rest, rest, width, -1, {corner - width, n}, {corner - width * n, n}, corner, n);
  }
  return singular;
}

template <class T>
bool factor_cholesky(Context& ctx, const Span& span, int64_t n, T* a) {
  const Blas<T>& f = blas<T>();
  const int ld = static_cast<int>(std::max<int64_t>(1, n));
  for (int64_t j = 0; j < n; j += kPanel) {
    poll(ctx, span);
    const int64_t width = std::min(kPanel, n - j), first = j + width, rest = n - first;
    const int cols = static_cast<int>(width);
    int info = 0;
    f.potrf("U", &cols, a + j * n + j, &ld, &info, 1);  // the lower triangle of rows is the upper of columns
    if (info != 0) return false;
    parallel_chunks(rest, kStrip, ctx.threads, [&](int64_t begin, int64_t end) {
      f.trsm(BlasOrder::row_major, BlasSide::right, BlasTriangle::lower, BlasTranspose::yes, BlasDiagonal::stored,
             static_cast<int>(end - begin), cols, 1, a + j * n + j, ld, a + (first + begin) * n + j, ld);
    });
    // Strips of rows, each up to the diagonal.
    constexpr int64_t kRows = 256;
    parallel_chunks(rest, kRows, ctx.threads, [&](int64_t begin, int64_t end) {
      poll(ctx, span);
      const T* left = a + (first + begin) * n + j;
      f.gemm(BlasOrder::row_major, BlasTranspose::no, BlasTranspose::yes, static_cast<int>(end - begin),
             static_cast<int>(begin), cols, -1, left, ld, a + first * n + j, ld, 1, a + (first + begin) * n + first,
             ld);
      f.syrk(BlasOrder::row_major, BlasTriangle::lower, BlasTranspose::no, static_cast<int>(end - begin), cols, -1,
             left, ld, 1, a + (first + begin) * n + first + begin, ld);
    });
  }
  return true;
}

template <class T>
void solve_triangle(Context& ctx, const Span& span, BlasTriangle triangle, BlasTranspose transpose,
                    BlasDiagonal diagonal, int64_t n, int64_t r, const T* a, T* b) {
  if (n == 0 || r == 0) return;
  const Blas<T>& f = blas<T>();
  parallel_chunks(r, 2 * kStrip, ctx.threads, [&](int64_t begin, int64_t end) {
    poll(ctx, span);
    f.trsm(BlasOrder::row_major, BlasSide::left, triangle, transpose, diagonal, static_cast<int>(n),
           static_cast<int>(end - begin), 1, a, static_cast<int>(n), b + begin, static_cast<int>(r));
  });
}

template <class T>
std::shared_ptr<MatrixBlock> writable_dense(Call& call, size_t i) {
  if (call.matrix(i).is_dense())
    if (auto own = call.take(i)) return own;
  const MatrixRef source = call.matrix_ref(i), dense = to_dense<T>(call.ctx, source);
  if (dense != source && dense.use_count() == 1) return std::const_pointer_cast<MatrixBlock>(dense);
  auto copy = new_dense<T>(call.ctx, dense->rows(), dense->cols());
  if (dense->cells() > 0)
    std::memcpy(copy->template dense<T>(), dense->template dense<T>(), static_cast<size_t>(dense->cells()) * sizeof(T));
  return copy;
}

template <class T>
std::shared_ptr<MatrixBlock> column_major(Call& call, size_t i) {
  const int64_t rows = call.matrix(i).rows(), cols = call.matrix(i).cols();
  if (rows == cols) {
    auto out = writable_dense<T>(call, i);
    transpose_square(rows, out->template dense<T>());
    return out;
  }
  const MatrixRef source = to_dense<T>(call.ctx, call.matrix_ref(i));
  auto out = new_dense<T>(call.ctx, cols, rows);
  const T* from = source->template dense<T>();
  T* to = out->template dense<T>();
  constexpr int64_t kEdge = 32;
  for (int64_t i0 = 0; i0 < rows; i0 += kEdge)
    for (int64_t j0 = 0; j0 < cols; j0 += kEdge)
      for (int64_t j = j0; j < std::min(cols, j0 + kEdge); ++j)
        for (int64_t r = i0; r < std::min(rows, i0 + kEdge); ++r) to[j * rows + r] = from[r * cols + j];
  return out;
}

template <class T>
void transpose_square(int64_t n, T* a) {
  constexpr int64_t kEdge = 32;
  for (int64_t i0 = 0; i0 < n; i0 += kEdge)
    for (int64_t j0 = 0; j0 <= i0; j0 += kEdge)
      for (int64_t i = i0; i < std::min(n, i0 + kEdge); ++i)
        for (int64_t j = j0; j < std::min(i, j0 + kEdge); ++j) std::swap(a[i * n + j], a[j * n + i]);
}

void check_lapack_sizes(const Call& call, int64_t largest, double cells_of_work) {
  if (largest > INT_MAX || cells_of_work > INT_MAX)
    fail(ErrorKind::resource, call.span, "{} is limited to sizes that 32-bit LAPACK can count, found {}", call.op.name,
         dims(call.matrix(0).meta()));
}

void solve_kernel(Call& call) {
  const int64_t n = call.matrix(0).cols(), r = call.matrix(1).cols();
  if (call.matrix(0).rows() != n) return least_squares(call);
  check_lapack_sizes(call, std::max(n, r), 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const auto a = writable_dense<T>(call, 0), b = writable_dense<T>(call, 1);
    solve_in_place<T>(call, n, r, a->template dense<T>(), b->template dense<T>(), true);
    call.set(b);
  });
}

void inverse_kernel(Call& call) {
  const int64_t n = call.matrix(0).rows();
  check_lapack_sizes(call, n, 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const auto a = writable_dense<T>(call, 0), out = new_dense<T>(call.ctx, n, n);
    T* x = out->template dense<T>();
    std::fill(x, x + n * n, T{0});
    for (int64_t i = 0; i < n; ++i) x[i * n + i] = 1;
    solve_in_place<T>(call, n, n, a->template dense<T>(), x, false);
    call.set(out);
  });
}

void determinant_kernel(Call& call) {
  const int64_t n = call.matrix(0).rows();
  check_lapack_sizes(call, n, 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const auto block = writable_dense<T>(call, 0);
    T* a = block->template dense<T>();
    std::vector<int> pivots(static_cast<size_t>(n));
    factor_lu(call.ctx, call.span, n, a, pivots.data());
    // Mantissa and exponent apart, so that no partial product overflows.
    double product = 1;
    int64_t exponent = 0;
    for (int64_t i = 0; i < n; ++i) {
      int e = 0;
      product = std::frexp(product * static_cast<double>(a[i * n + i]), &e) * (pivots[i] - 1 == i ? 1 : -1);
      exponent += e;
    }
    call.out[0] = std::ldexp(product, static_cast<int>(std::clamp<int64_t>(exponent, -100000, 100000)));
  });
}

// Up to rounding, measured by the diagonal cells of both rows.
template <class T>
void expect_symmetric(const Call& call, int64_t n, const T* a) {
  constexpr int64_t kEdge = 32;
  const double tolerance = sizeof(T) == 8 ? 1e-10 : 1e-4;
  const auto check = [&](int64_t i, int64_t j) {
    const double x = a[i * n + j], y = a[j * n + i], gap = std::fabs(x - y);
    const double scale = std::sqrt(std::fabs(static_cast<double>(a[i * n + i]) * static_cast<double>(a[j * n + j])));
    if (gap != 0 && !(gap <= tolerance * scale))
      call.fail("cholesky: expected a symmetric matrix, found {} at [{}, {}] and {} at [{}, {}]", x, i + 1, j + 1, y,
                j + 1, i + 1);
  };
  for (int64_t i0 = 0; i0 < n; i0 += kEdge)
    for (int64_t j0 = 0; j0 <= i0; j0 += kEdge)
      for (int64_t i = i0; i < std::min(n, i0 + kEdge); ++i)
        for (int64_t j = j0; j < std::min(i, j0 + kEdge); ++j) check(i, j);
}

void cholesky_kernel(Call& call) {
  const int64_t n = call.matrix(0).rows();
  check_lapack_sizes(call, n, 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const auto block = writable_dense<T>(call, 0);
    T* a = block->template dense<T>();
    expect_symmetric(call, n, a);
    if (!factor_cholesky(call.ctx, call.span, n, a)) call.fail("cholesky: the matrix is not positive definite");
    for (int64_t i = 0; i < n; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, T{0});
    call.set(block);
  });
}

void lu_kernel(Call& call) {
  const int64_t n = call.matrix(0).rows();
  check_lapack_sizes(call, n, 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const auto lower = column_major<T>(call, 0), upper = new_dense<T>(call.ctx, n, n);
    T *l = lower->template dense<T>(), *u = upper->template dense<T>();
    std::vector<int> pivots(static_cast<size_t>(n));
    if (const int64_t zero_pivot = factor_lu(call.ctx, call.span, n, l, pivots.data()); zero_pivot > 0)
      call.fail("lu: the matrix is singular (pivot {} is 0)", zero_pivot);
    transpose_square(n, l);
    for (int64_t i = 0; i < n; ++i) {
      std::fill(u + i * n, u + i * n + i, T{0});
      std::copy(l + i * n + i, l + (i + 1) * n, u + i * n + i);
      std::fill(l + i * n + i, l + (i + 1) * n, T{0});
      l[i * n + i] = 1;
    }
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    for (int64_t i = 0; i < n; ++i) std::swap(order[i], order[pivots[i] - 1]);
    auto exchange = new_sparse<T>(call.ctx, n, n, n);
    for (int64_t i = 0; i <= n; ++i) exchange->csr().offsets.template as<int64_t>()[i] = i;
    for (int64_t i = 0; i < n; ++i) {
      exchange->csr().columns.template as<int32_t>()[i] = static_cast<int32_t>(order[i]);
      exchange->csr().values.template as<T>()[i] = 1;
    }
    call.set(settle<T>(call.ctx, std::move(exchange)), 0);
    call.set(lower, 1);
    call.set(upper, 2);
  });
}

#define HOPLINE_INSTANTIATE(T)                                                                                        \
  template int64_t factor_lu<T>(Context&, const Span&, int64_t, T*, int*);                                            \
  template bool factor_cholesky<T>(Context&, const Span&, int64_t, T*);                                               \
  template void solve_triangle<T>(Context&, const Span&, BlasTriangle, BlasTranspose, BlasDiagonal, int64_t, int64_t, \
                                  const T*, T*);                                                                      \
  template std::shared_ptr<MatrixBlock> writable_dense<T>(Call&, size_t);                                             \
  template std::shared_ptr<MatrixBlock> column_major<T>(Call&, size_t);                                               \
  template void transpose_square<T>(int64_t, T*);
HOPLINE_INSTANTIATE(double)
HOPLINE_INSTANTIATE(float)
#undef HOPLINE_INSTANTIATE

}  // namespace hopline
