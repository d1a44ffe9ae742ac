// Least squares, QR, eigenvalues and singular values: LAPACK on one thread.
#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/linalg.h"

namespace hopline {

namespace {

template <class T>
const Lapack<T>& lapack_or_fail(const Call& call) {
  const Lapack<T>* f = lapack<T>();
  if (f == nullptr)
    fail(ErrorKind::resource, call.span, "{} needs libopenblas.so.0 or liblapack.so.3, and neither could be used",
         call.op.name);
  if (call.ctx.session != nullptr) call.ctx.session->poll(call.span);
  return *f;
}

// Asks the routine for its best work size, then runs it: run(work, size).
template <class T, class F>
void with_work(const Call& call, const F& run) {
  T best = 0;
  run(&best, -1);
  // A size above 2^24 may have been rounded down in single precision.
  const double wanted = std::ceil(static_cast<double>(best) * (sizeof(T) == 4 ? 1.000001 : 1));
  check_lapack_sizes(call, 0, wanted);
  const int size = std::max(1, static_cast<int>(wanted));
  Buffer work = call.ctx.memory.allocate(static_cast<size_t>(size) * sizeof(T));
  run(work.as<T>(), size);
}

template <class T>
void expect_finite(const Call& call, const MatrixBlock& m) {
  const T* cells = m.dense<T>();
  const int64_t cols = m.cols();
  for (int64_t i = 0; i < m.cells(); ++i)
    if (!std::isfinite(cells[i]))
      call.fail("{}: expected finite cells, found {} at [{}, {}]", call.op.name, cells[i], i / cols + 1, i % cols + 1);
}

// For each column j of the row-major matrix: -1 where its first cell of (nearly) the largest magnitude is negative,
// else 1. Decompositions leave signs open; this makes them definite.
template <class T>
std::vector<T> dominant_signs(int64_t rows, int64_t cols, const T* m) {
  std::vector<T> largest(static_cast<size_t>(cols), 0), signs(static_cast<size_t>(cols), 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) largest[j] = std::max(largest[j], std::fabs(m[i * cols + j]));
  constexpr T kNearly = sizeof(T) == 8 ? T(1 - 1e-8) : T(1 - 1e-4);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      if (signs[j] == 0 && std::fabs(m[i * cols + j]) >= kNearly * largest[j]) signs[j] = m[i * cols + j] < 0 ? -1 : 1;
  return signs;
}

template <class T>
void scale_columns(int64_t rows, int64_t cols, const std::vector<T>& factors, T* m) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) m[i * cols + j] *= factors[j];
}

// Equal up to the rounding of a product that is symmetric on paper.
template <class T>
bool nearly_symmetric(int64_t n, const T* a) {
  const double epsilon = std::numeric_limits<T>::epsilon(), relative = 10.0 * static_cast<double>(n) * epsilon;
  double largest = 0;
  for (int64_t i = 0; i < n * n; ++i) largest = std::max(largest, std::fabs(static_cast<double>(a[i])));
  constexpr int64_t kEdge = 32;
  for (int64_t i0 = 0; i0 < n; i0 += kEdge)
    for (int64_t j0 = 0; j0 <= i0; j0 += kEdge)
      for (int64_t i = i0; i < std::min(n, i0 + kEdge); ++i)
        for (int64_t j = j0; j < std::min(i, j0 + kEdge); ++j)
          if (std::fabs(static_cast<double>(a[i * n + j]) - static_cast<double>(a[j * n + i])) > relative * largest)
            return false;
  return true;
}

template <class T>
void symmetric_eigen(Call& call, int64_t n, T* a, T* values, T* vectors) {
  const Lapack<T>& f = lapack_or_fail<T>(call);
  std::vector<int> support(static_cast<size_t>(2 * n));
  const int size = static_cast<int>(n), zero = 0;
  const T none = 0;
  int found = 0, info = 0, int_size = 0;
  // The smallest sizes that LAPACK documents for its integer work are also its best ones.
  std::vector<int> int_work(static_cast<size_t>(10 * n));
  with_work<T>(call, [&](T* work, int work_size) {
    int_size = work_size < 0 ? -1 : static_cast<int>(10 * n);
    f.syevr("V", "A", "U", &size, a, &size, &none, &none, &zero, &zero, &none, &found, values, vectors, &size,
            support.data(), work, &work_size, int_work.data(), &int_size, &info, 1, 1, 1);
  });
  if (info != 0 || found != size) call.fail("{}: the eigenvalues did not converge", call.op.name);
  transpose_square(n, vectors);
  scale_columns(n, n, dominant_signs(n, n, vectors), vectors);
}

// Real parts; columns of a complex pair hold the real and the imaginary part of its vector.
template <class T>
void general_eigen(Call& call, int64_t n, T* a, T* values, T* vectors) {
  const Lapack<T>& f = lapack_or_fail<T>(call);
  std::vector<T> real(static_cast<size_t>(n)), imaginary(static_cast<size_t>(n));
  const int size = static_cast<int>(n), one = 1;
  int info = 0;
  T unused = 0;
  transpose_square(n, a);
  with_work<T>(call, [&](T* work, int work_size) {
    f.geev("N", "V", &size, a, &size, real.data(), imaginary.data(), &unused, &one, vectors, &size, work, &work_size,
           &info, 1, 1);
  });
  if (info != 0) call.fail("{}: the eigenvalues did not converge", call.op.name);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return real[x] < real[y]; });
  // a is free now: the sorted vectors go there, row-major.
  for (int64_t j = 0; j < n; ++j) {
    values[j] = real[order[j]];
    for (int64_t i = 0; i < n; ++i) a[i * n + j] = vectors[order[j] * n + i];
  }
  std::vector<T> signs = dominant_signs(n, n, a);
  for (int64_t j = 0; j + 1 < n; ++j)
    if (imaginary[order[j]] > 0) signs[j + 1] = signs[j], ++j;
  scale_columns(n, n, signs, a);
}

// Singular values of the column-major m x n matrix a, which is destroyed; vt is k x n.
template <class T>
void singular_values(Call& call, int64_t m, int64_t n, T* a, T* s, T* u, T* vt) {
  // Divide and conquer is several times faster, but its work is four squares of the smaller side.
  constexpr int64_t kMostFast = 8192;
  const Lapack<T>& f = lapack_or_fail<T>(call);
  const int rows = static_cast<int>(m), cols = static_cast<int>(n), k = std::min(rows, cols);
  int info = 0;
  std::vector<int> int_work(static_cast<size_t>(8 * k));
  with_work<T>(call, [&](T* work, int size) {
    if (k <= kMostFast)
      f.gesdd("S", &rows, &cols, a, &rows, s, u, &rows, vt, &k, work, &size, int_work.data(), &info, 1);
    else
      f.gesvd("S", "S", &rows, &cols, a, &rows, s, u, &rows, vt, &k, work, &size, &info, 1, 1);
  });
  if (info != 0) call.fail("svd: the singular values did not converge");
}

template <class T>
MatrixRef diagonal(Context& ctx, int64_t k, const T* s) {
  auto out = new_sparse<T>(ctx, k, k, k);
  auto* offsets = out->csr().offsets.template as<int64_t>();
  int64_t e = 0;
  offsets[0] = 0;
  for (int64_t i = 0; i < k; ++i) {
    if (s[i] != 0) {
      out->csr().columns.template as<int32_t>()[e] = static_cast<int32_t>(i);
      out->csr().values.template as<T>()[e++] = s[i];
    }
    offsets[i + 1] = e;
  }
  out->set_nnz(e);
  return settle<T>(ctx, std::move(out));
}

}  // namespace

// Row-major cells are the transpose in column-major order, so LAPACK is asked for the transposed problem.
void least_squares(Call& call) {
  const int64_t m = call.matrix(0).rows(), n = call.matrix(0).cols(), r = call.matrix(1).cols(), tall = std::max(m, n);
  check_lapack_sizes(call, std::max(tall, r), 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    auto out = new_dense<T>(call.ctx, n, r);
    T* x = out->template dense<T>();
    std::fill(x, x + n * r, T{0});
    if (m == 0 || n == 0 || r == 0) return call.set(out);
    const Lapack<T>& f = lapack_or_fail<T>(call);
    const MatrixRef b = to_dense<T>(call.ctx, call.matrix_ref(1));
    Buffer sides = call.ctx.memory.allocate(static_cast<size_t>(tall * r) * sizeof(T));
    T* s = sides.as<T>();
    for (int64_t j = 0; j < r; ++j)
      for (int64_t i = 0; i < m; ++i) s[j * tall + i] = b->template dense<T>()[i * r + j];
    const auto a = writable_dense<T>(call, 0);
    const int rows = static_cast<int>(n), cols = static_cast<int>(m), count = static_cast<int>(r),
              ld = static_cast<int>(tall);
    int info = 0;
    with_work<T>(call, [&](T* work, int size) {
      f.gels("T", &rows, &cols, &count, a->template dense<T>(), &rows, s, &ld, work, &size, &info, 1);
    });
    if (info > 0) call.fail("solve: the matrix does not have full rank");
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < r; ++j) x[i * r + j] = s[j * tall + i];
    call.set(out);
  });
}

// H holds the Householder vectors scaled as the reference does, so that reflector j is I - (2 / t(h) h) h t(h).
void qr_kernel(Call& call) {
  const int64_t m = call.matrix(0).rows(), n = call.matrix(0).cols(), k = std::min(m, n);
  check_lapack_sizes(call, std::max(m, n), 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    auto h_block = new_dense<T>(call.ctx, m, n), r_block = new_dense<T>(call.ctx, m, n);
    T *h = h_block->template dense<T>(), *r = r_block->template dense<T>();
    std::fill(h, h + m * n, T{0});
    std::fill(r, r + m * n, T{0});
    if (k > 0) {
      const Lapack<T>& f = lapack_or_fail<T>(call);
      const auto block = column_major<T>(call, 0);
      T* a = block->template dense<T>();
      std::vector<T> tau(static_cast<size_t>(k));
      const int rows = static_cast<int>(m), cols = static_cast<int>(n);
      int info = 0;
      with_work<T>(call, [&](T* work, int size) { f.geqrf(&rows, &cols, a, &rows, tau.data(), work, &size, &info); });
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i <= std::min(j, m - 1); ++i) r[i * n + j] = tau[i] == 0 ? -a[j * m + i] : a[j * m + i];
        if (j >= k) continue;
        // Where LAPACK reflects nothing the reference flips the sign of the row.
        h[j * n + j] = tau[j] == 0 ? T{2} : tau[j];
        for (int64_t i = j + 1; i < m; ++i) h[i * n + j] = tau[j] * a[j * m + i];
      }
    }
    call.set(h_block, 0);
    call.set(r_block, 1);
  });
}

void eigen_kernel(Call& call) {
  const int64_t n = call.matrix(0).rows();
  check_lapack_sizes(call, n, 26.0 * static_cast<double>(n));
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    auto values = new_dense<T>(call.ctx, n, 1), vectors = new_dense<T>(call.ctx, n, n);
    const auto work = writable_dense<T>(call, 0);
    expect_finite<T>(call, *work);
    T *a = work->template dense<T>(), *w = values->template dense<T>(), *v = vectors->template dense<T>();
    const bool symmetric = nearly_symmetric(n, a);
    if (n > 0 && symmetric) symmetric_eigen(call, n, a, w, v);
    if (n > 0 && !symmetric) general_eigen(call, n, a, w, v);
    call.set(values, 0);
    call.set(symmetric ? vectors : work, 1);
  });
}

// The wide one of A and t(A) is decomposed, seen column-major, so that one factor comes out row-major as it is and the
// other is square.
void svd_kernel(Call& call) {
  const int64_t m = call.matrix(0).rows(), n = call.matrix(0).cols(), k = std::min(m, n);
  check_lapack_sizes(call, std::max(m, n), 0);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    auto u_block = new_dense<T>(call.ctx, m, k), v_block = new_dense<T>(call.ctx, n, k);
    T *u = u_block->template dense<T>(), *v = v_block->template dense<T>();
    std::vector<T> s(static_cast<size_t>(k));
    if (k > 0) {
      const auto work = m >= n ? writable_dense<T>(call, 0) : column_major<T>(call, 0);
      expect_finite<T>(call, *work);
      T* a = work->template dense<T>();
      if (m >= n)
        singular_values(call, n, m, a, s.data(), v, u), transpose_square(n, v);
      else
        singular_values(call, m, n, a, s.data(), u, v), transpose_square(m, u);
      const std::vector<T> signs = dominant_signs(m, k, u);
      scale_columns(m, k, signs, u);
      scale_columns(n, k, signs, v);
    }
    call.set(u_block, 0);
    call.set(diagonal(call.ctx, k, s.data()), 1);
    call.set(v_block, 2);
  });
}

}  // namespace hopline
