// Products of a sparse and a dense matrix, and the Gram matrix of a sparse one.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/apply.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/matmul_kernels.h"

namespace hopline {

namespace {

constexpr int64_t kTaskEntries = 1 << 15;   // multiplications of one task
constexpr int64_t kPartialCells = 1 << 20;  // largest result that a leaf of t(X) %*% Y keeps for itself

template <class T>
struct SparseRows {
  explicit SparseRows(const MatrixBlock& m)
      : rows(m.rows()),
        cols(m.cols()),
        offsets(m.csr().offsets.as<int64_t>()),
        columns(m.csr().columns.as<int32_t>()),
        values(m.csr().values.as<T>()) {}
  int64_t rows, cols;
  const int64_t* offsets;
  const int32_t* columns;
  const T* values;
  int64_t entries() const { return offsets[rows]; }
};

// Rows per task so that a task multiplies about kTaskEntries times; row results do not depend on it.
int64_t row_grain(int64_t rows, int64_t multiplications) {
  const int64_t tasks = std::max<int64_t>(1, multiplications / kTaskEntries);
  return std::max<int64_t>(1, (rows + tasks - 1) / tasks);
}

// A leaf sums at least as many rows as its partial result has cells per 8 rows, so that merging stays cheap.
int64_t leaf_rows(int64_t cells) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(4096, cells / 8))));
}

int64_t count_filled_rows(const int64_t* offsets, int64_t rows) {
  int64_t n = 0;
  for (int64_t i = 0; i < rows; ++i) n += offsets[i + 1] > offsets[i];
  return n;
}

// Where most rows of a are empty (a selection, an index table), the rows of the result are too: CSR with whole rows.
template <class T>
MatrixRef few_filled_rows(Context& ctx, const Span& span, const SparseRows<T>& a, const MatrixBlock& b,
                          int64_t filled) {
  const int64_t n = b.cols();
  auto out = new_sparse<T>(ctx, a.rows, n, filled * n);
  auto* offsets = out->csr().offsets.template as<int64_t>();
  auto* columns = out->csr().columns.template as<int32_t>();
  T* values = out->csr().values.template as<T>();
  offsets[0] = 0;
  for (int64_t i = 0; i < a.rows; ++i) offsets[i + 1] = offsets[i] + (a.offsets[i + 1] > a.offsets[i] ? n : 0);
  const MatmulKernels<T>& f = matmul_kernels<T>();
  parallel_chunks(a.rows, row_grain(a.rows, a.entries() * n), ctx.threads, [&](int64_t begin, int64_t end) {
    if (ctx.session != nullptr) ctx.session->poll(span);
    for (int64_t i = begin; i < end; ++i) {
      if (offsets[i + 1] == offsets[i]) continue;
      f.sparse_rows(1, n, a.offsets + i, a.columns, a.values, b.dense<T>(), n, values + offsets[i], n);
      for (int64_t j = 0; j < n; ++j) columns[offsets[i] + j] = static_cast<int32_t>(j);
    }
  });
  int64_t kept = 0;
  for (int64_t i = 0, e = 0; i < a.rows; ++i) {
    for (; e < offsets[i + 1]; ++e)
      if (values[e] != 0) values[kept] = values[e], columns[kept++] = columns[e];
    offsets[i + 1] = kept;
  }
  out->set_nnz(kept);
  return settle<T>(ctx, std::move(out));
}

// Lanes of kLaneRows rows of a: cell (p, lane) at [p * kLaneRows + lane], zeros below the last row.
template <class T>
void gather_lanes(const T* a, int64_t lda, int64_t rows, int64_t begin, int64_t end, T* lanes) {
  for (int64_t p = begin; p < end; ++p)
    for (int64_t r = 0; r < kLaneRows; ++r) lanes[(p - begin) * kLaneRows + r] = r < rows ? a[r * lda + p] : T{0};
}

// A row vector times a sparse matrix: rows of b scaled and added.
template <class T>
void scatter_rows(const SparseRows<T>& b, int64_t begin, int64_t end, const T* x, T* y) {
  for (int64_t p = begin; p < end; ++p) {
    const T factor = x[p];
    for (int64_t e = b.offsets[p]; e < b.offsets[p + 1]; ++e) y[b.columns[e]] += factor * b.values[e];
  }
}

// y (n) = t(x) * b; also t(b) * x.
template <class T>
void vector_times_sparse(Context& ctx, const Span& span, const T* x, const SparseRows<T>& b, T* y) {
  const int64_t leaf = leaf_rows(b.cols), leaves = std::max<int64_t>(1, (b.rows + leaf - 1) / leaf);
  tree_sum<T>(ctx, span, {1, b.cols, 1, b.cols, leaves}, y, b.cols, b.entries() < kTaskEntries ? 1 : ctx.threads,
              [&](const Tile&, int64_t l, T* out, int64_t) {
                std::fill(out, out + b.cols, T{0});
                scatter_rows(b, l * leaf, std::min(b.rows, (l + 1) * leaf), x, out);
              });
}

template <class T>
void mirror(int64_t n, T* c) {
  for (int64_t i = 1; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) c[i * n + j] = c[j * n + i];
}

}  // namespace

MatrixRef transposed(Context& ctx, const Span& span, const MatrixRef& m) {
  static const Op& kTranspose = op("t", 1);
  return std::get<MatrixRef>(apply(ctx, kTranspose, {m}, {}, span).front());
}

template <class T>
MatrixRef sparse_times_dense(Context& ctx, const Span& span, const MatrixBlock& left, const MatrixBlock& b) {
  const SparseRows<T> a(left);
  const int64_t n = b.cols();
  if (n > 1) {
    const int64_t filled = count_filled_rows(a.offsets, a.rows);
    if (static_cast<double>(filled) < kSparse * static_cast<double>(a.rows) && n <= INT32_MAX)
      return few_filled_rows(ctx, span, a, b, filled);
  }
  auto out = new_dense<T>(ctx, a.rows, n);
  T* c = out->template dense<T>();
  const MatmulKernels<T>& f = matmul_kernels<T>();
  parallel_chunks(
      a.rows, row_grain(a.rows, a.entries() * n + a.rows * n), ctx.threads, [&](int64_t begin, int64_t end) {
        if (ctx.session != nullptr) ctx.session->poll(span);
        f.sparse_rows(end - begin, n, a.offsets + begin, a.columns, a.values, b.dense<T>(), n, c + begin * n, n);
      });
  return out;
}

template <class T>
MatrixRef dense_times_sparse(Context& ctx, const Span& span, const MatrixBlock& a, const MatrixBlock& right) {
  const SparseRows<T> b(right);
  const int64_t m = a.rows(), n = b.cols, k = b.rows;
  auto out = new_dense<T>(ctx, m, n);
  T* c = out->template dense<T>();
  const T* cells = a.dense<T>();
  if (m == 1) {
    vector_times_sparse(ctx, span, cells, b, c);
    return out;
  }
  const MatmulKernels<T>& f = matmul_kernels<T>();
  parallel_for((m + kLaneRows - 1) / kLaneRows, b.entries() * m < kTaskEntries ? 1 : ctx.threads, [&](int64_t block) {
    constexpr int64_t kPiece = 256;
    const int64_t first = block * kLaneRows, rows = std::min(kLaneRows, m - first);
    Buffer buffer = ctx.memory.allocate(static_cast<size_t>((n + kPiece) * kLaneRows) * sizeof(T));
    T *sums = buffer.as<T>(), *lanes = sums + n * kLaneRows;
    std::fill(sums, sums + n * kLaneRows, T{0});
    for (int64_t begin = 0; begin < k; begin += kPiece) {
      if (ctx.session != nullptr) ctx.session->poll(span);
      const int64_t end = std::min(k, begin + kPiece);
      gather_lanes(cells + first * k, k, rows, begin, end, lanes);
      for (int64_t p = begin; p < end; ++p)
        f.add_lanes(b.offsets[p + 1] - b.offsets[p], b.columns + b.offsets[p], b.values + b.offsets[p],
                    lanes + (p - begin) * kLaneRows, sums);
    }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < n; ++j) c[(first + r) * n + j] = sums[j * kLaneRows + r];
  });
  return out;
}

template <class T>
MatrixRef sparse_transposed_times_dense(Context& ctx, const Span& span, const MatrixRef& x, const MatrixBlock& y) {
  const SparseRows<T> s(*x);
  const int64_t m = s.cols, n = y.cols();
  const T* right = y.dense<T>();
  if (n > 1 && m > kPartialCells / n)
    return sparse_times_dense<T>(ctx, span, *to_sparse<T>(ctx, transposed(ctx, span, x)), y);
  auto out = new_dense<T>(ctx, m, n);
  T* c = out->template dense<T>();
  if (n == 1) {
    vector_times_sparse(ctx, span, right, s, c);
    return out;
  }
  const MatmulKernels<T>& f = matmul_kernels<T>();
  const int64_t leaf = leaf_rows(m), leaves = std::max<int64_t>(1, (s.rows + leaf - 1) / leaf);
  tree_sum<T>(ctx, span, {m, n, m, n, leaves}, c, n, s.entries() * n < kTaskEntries ? 1 : ctx.threads,
              [&](const Tile&, int64_t l, T* to, int64_t ld) {
                for (int64_t i = 0; i < m; ++i) std::fill(to + i * ld, to + i * ld + n, T{0});
                for (int64_t r = l * leaf; r < std::min(s.rows, (l + 1) * leaf); ++r)
                  for (int64_t e = s.offsets[r]; e < s.offsets[r + 1]; ++e)
                    f.add_scaled(n, s.values[e], right + r * n, to + s.columns[e] * ld);
              });
  return out;
}

// x (m x k, dense) times t(y), y sparse (n x k): each row of x meets the rows of y.
template <class T>
MatrixRef dense_times_sparse_transposed(Context& ctx, const Span& span, const MatrixBlock& x, const MatrixBlock& y) {
  const SparseRows<T> s(y);
  const int64_t m = x.rows(), n = s.rows, k = s.cols;
  auto out = new_dense<T>(ctx, m, n);
  T* c = out->template dense<T>();
  const T* cells = x.dense<T>();
  const MatmulKernels<T>& f = matmul_kernels<T>();
  const int64_t grain = row_grain(n, s.entries()), chunks = std::max<int64_t>(1, (n + grain - 1) / grain);
  parallel_for(m * chunks, s.entries() * m < kTaskEntries ? 1 : ctx.threads, [&](int64_t task) {
    if (ctx.session != nullptr) ctx.session->poll(span);
    const int64_t i = task / chunks, begin = task % chunks * grain, end = std::min(n, begin + grain);
    f.sparse_rows(end - begin, 1, s.offsets + begin, s.columns, s.values, cells + i * k, 1, c + i * n + begin, 1);
  });
  return out;
}

template <class T>
MatrixRef sparse_gram(Context& ctx, const Span& span, const MatrixRef& x) {
  constexpr int64_t kDenseResult = 2048;  // columns up to which the result is summed as a dense matrix
  const SparseRows<T> s(*x);
  const int64_t n = s.cols;
  if (n > kDenseResult) return sparse_times_sparse<T>(ctx, span, to_sparse<T>(ctx, transposed(ctx, span, x)), x);
  auto out = new_dense<T>(ctx, n, n);
  T* c = out->template dense<T>();
  const int64_t leaf = leaf_rows(n * n / 2), leaves = std::max<int64_t>(1, (s.rows + leaf - 1) / leaf);
  TreeSum sum{n, n, n, n, leaves, true};
  tree_sum<T>(ctx, span, sum, c, n, s.entries() < kTaskEntries ? 1 : ctx.threads,
              [&](const Tile&, int64_t l, T* to, int64_t ld) {
                for (int64_t i = 0; i < n; ++i) std::fill(to + i * ld + i, to + i * ld + n, T{0});
                for (int64_t r = l * leaf; r < std::min(s.rows, (l + 1) * leaf); ++r)
                  for (int64_t e = s.offsets[r]; e < s.offsets[r + 1]; ++e) {
                    T* row = to + s.columns[e] * ld;
                    const T factor = s.values[e];
                    for (int64_t g = e; g < s.offsets[r + 1]; ++g) row[s.columns[g]] += factor * s.values[g];
                  }
              });
  mirror(n, c);
  return settle<T>(ctx, std::move(out));
}

#define HOPLINE_INSTANTIATE(T)                                                                                        \
  template MatrixRef sparse_times_dense<T>(Context&, const Span&, const MatrixBlock&, const MatrixBlock&);            \
  template MatrixRef dense_times_sparse<T>(Context&, const Span&, const MatrixBlock&, const MatrixBlock&);            \
  template MatrixRef sparse_transposed_times_dense<T>(Context&, const Span&, const MatrixRef&, const MatrixBlock&);   \
  template MatrixRef dense_times_sparse_transposed<T>(Context&, const Span&, const MatrixBlock&, const MatrixBlock&); \
  template MatrixRef sparse_gram<T>(Context&, const Span&, const MatrixRef&);
HOPLINE_INSTANTIATE(double)
HOPLINE_INSTANTIATE(float)
#undef HOPLINE_INSTANTIATE

}  // namespace hopline
