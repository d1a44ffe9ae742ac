#include "runtime/ops/blas_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace hopline {

namespace {

// Columns of the inner dimension per pass, so that the rows of B in use stay in the cache.
constexpr int64_t kInner = 128;

template <class T>
void scale(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? T{0} : beta * c[i * ldc + j];
}

template <class T>
void add_scaled_row(int64_t n, T factor, const T* __restrict from, T* __restrict to) {
  for (int64_t j = 0; j < n; ++j) to[j] += factor * from[j];
}

template <class T>
void gemm(BlasOrder order, BlasTranspose ta, BlasTranspose tb, int m, int n, int k, T alpha, const T* a, int lda,
          const T* b, int ldb, T beta, T* c, int ldc) {
  if (order == BlasOrder::column_major)  // the transposes of all three, row-major
    return gemm(BlasOrder::row_major, tb, ta, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
  scale<T>(m, n, beta, c, ldc);
  const int64_t a_row = ta == BlasTranspose::no ? lda : 1, a_col = ta == BlasTranspose::no ? 1 : lda;
  for (int64_t begin = 0; begin < k; begin += kInner) {
    const int64_t end = std::min<int64_t>(k, begin + kInner);
    for (int64_t i = 0; i < m; ++i) {
      T* row = c + i * static_cast<int64_t>(ldc);
      if (tb == BlasTranspose::no) {
        for (int64_t p = begin; p < end; ++p)
          add_scaled_row<T>(n, alpha * a[i * a_row + p * a_col], b + p * static_cast<int64_t>(ldb), row);
        continue;
      }
      for (int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (int64_t p = begin; p < end; ++p) sum += a[i * a_row + p * a_col] * b[j * static_cast<int64_t>(ldb) + p];
        row[j] += alpha * sum;
      }
    }
  }
}

BlasTriangle flipped(BlasTriangle t) { return t == BlasTriangle::upper ? BlasTriangle::lower : BlasTriangle::upper; }
BlasTranspose flipped(BlasTranspose t) { return t == BlasTranspose::no ? BlasTranspose::yes : BlasTranspose::no; }

template <class T>
void syrk(BlasOrder order, BlasTriangle triangle, BlasTranspose trans, int n, int k, T alpha, const T* a, int lda,
          T beta, T* c, int ldc) {
  if (order == BlasOrder::column_major)
    return syrk(BlasOrder::row_major, flipped(triangle), flipped(trans), n, k, alpha, a, lda, beta, c, ldc);
  const int64_t row = trans == BlasTranspose::no ? lda : 1, col = trans == BlasTranspose::no ? 1 : lda;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = triangle == BlasTriangle::upper ? i : 0, last = triangle == BlasTriangle::upper ? n : i + 1;
    for (int64_t j = first; j < last; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a[i * row + p * col] * a[j * row + p * col];
      T& cell = c[i * ldc + j];
      cell = alpha * sum + (beta == 0 ? T{0} : beta * cell);
    }
  }
}

// A triangle seen through strides: element (i, j) of op(A).
template <class T>
struct Triangle {
  const T* cells;
  int64_t row, col;
  bool lower, unit;
  T at(int64_t i, int64_t j) const { return cells[i * row + j * col]; }
};

// Solves op(A) x = b in place for one right side whose entries stand `step` apart.
template <class T>
void solve_vector(const Triangle<T>& t, int64_t n, T* x, int64_t step) {
  for (int64_t s = 0; s < n; ++s) {
    const int64_t i = t.lower ? s : n - 1 - s;
    T sum = x[i * step];
    for (int64_t j = t.lower ? 0 : i + 1; j < (t.lower ? i : n); ++j) sum -= t.at(i, j) * x[j * step];
    x[i * step] = t.unit ? sum : sum / t.at(i, i);
  }
}

template <class T>
void trsm(BlasOrder order, BlasSide side, BlasTriangle triangle, BlasTranspose trans, BlasDiagonal diagonal, int m,
          int n, T alpha, const T* a, int lda, T* b, int ldb) {
  if (order == BlasOrder::column_major)
    return trsm(BlasOrder::row_major, side == BlasSide::left ? BlasSide::right : BlasSide::left, flipped(triangle),
                trans, diagonal, n, m, alpha, a, lda, b, ldb);
  if (alpha != 1) scale<T>(m, n, alpha, b, ldb);
  const bool left = side == BlasSide::left;
  // From the right X op(A) = B is t(op(A)) t(X) = t(B), row by row.
  const bool transposed = (trans == BlasTranspose::yes) == left;
  const bool lower = (triangle == BlasTriangle::lower) != transposed;
  const Triangle<T> t{a, transposed ? 1 : lda, transposed ? lda : 1, lower, diagonal == BlasDiagonal::unit};
  for (int64_t r = 0; r < (left ? n : m); ++r)
    solve_vector(t, left ? m : n, left ? b + r : b + r * ldb, left ? ldb : 1);
}

template <class T>
void getrf(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info) {
  *info = 0;
  const int64_t ld = *lda, rows = *m, cols = *n;
  for (int64_t j = 0; j < std::min(rows, cols); ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < rows; ++i)
      if (std::fabs(a[i + j * ld]) > std::fabs(a[best + j * ld])) best = i;
    pivots[j] = static_cast<int>(best + 1);
    if (a[best + j * ld] == 0) {
      if (*info == 0) *info = static_cast<int>(j + 1);
      continue;
    }
    for (int64_t c = 0; best != j && c < cols; ++c) std::swap(a[j + c * ld], a[best + c * ld]);
    for (int64_t i = j + 1; i < rows; ++i) a[i + j * ld] /= a[j + j * ld];
    for (int64_t c = j + 1; c < cols; ++c)
      add_scaled_row<T>(rows - j - 1, -a[j + c * ld], a + j + 1 + j * ld, a + j + 1 + c * ld);
  }
}

template <class T>
void potrf(const char* triangle, const int* n, T* a, const int* lda, int* info, size_t) {
  const bool upper = *triangle == 'U';
  const int64_t ld = *lda;
  const auto at = [&](int64_t i, int64_t j) -> T& { return upper ? a[j + i * ld] : a[i + j * ld]; };  // i >= j
  *info = 0;
  for (int64_t j = 0; j < *n; ++j) {
    T diagonal = at(j, j);
    for (int64_t p = 0; p < j; ++p) diagonal -= at(j, p) * at(j, p);
    if (!(diagonal > 0)) {
      *info = static_cast<int>(j + 1);
      return;
    }
    at(j, j) = std::sqrt(diagonal);
    for (int64_t i = j + 1; i < *n; ++i) {
      T sum = at(i, j);
      for (int64_t p = 0; p < j; ++p) sum -= at(i, p) * at(j, p);
      at(i, j) = sum / at(j, j);
    }
  }
}

}  // namespace

template <class T>
const Blas<T>& loops() {
  static constexpr Blas<T> kLoops = {
      .gemm = gemm<T>, .syrk = syrk<T>, .trsm = trsm<T>, .getrf = getrf<T>, .potrf = potrf<T>};
  return kLoops;
}
template const Blas<double>& loops<double>();
template const Blas<float>& loops<float>();

}  // namespace hopline
