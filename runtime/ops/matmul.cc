// Matrix products: X %*% Y and the forms with a transposed side that the planner makes of it.
#include "runtime/ops/matmul.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

// How the two inputs of a row are read. A gram row has one input that stands on both sides.
struct Form {
  bool left_transposed = false, right_transposed = false, gram = false;
};
constexpr Form kPlain{}, kTmm{true, false, false}, kMmt{false, true, false}, kTsmm{true, false, true},
    kTsmmr{false, true, true};

Meta turned(Meta m, bool transposed) {
  if (transposed) std::swap(m.rows, m.cols);
  return m;
}

Meta left_meta(const InferCall& c, Form f) { return turned(c.in[0], f.left_transposed); }
Meta right_meta(const InferCall& c, Form f) { return turned(c.in[f.gram ? 0 : 1], f.right_transposed); }

double density_of(const Meta& m) {
  if (m.nnz >= 0 && m.sizes_known())
    return m.nnz == 0 ? 0 : static_cast<double>(m.nnz) / (static_cast<double>(m.rows) * static_cast<double>(m.cols));
  return m.density >= 0 ? m.density : 1;
}

template <Form kForm>
void infer_product(InferCall& c) {
  const Meta a = left_meta(c, kForm), b = right_meta(c, kForm);
  if (a.cols >= 0 && b.rows >= 0 && a.cols != b.rows)
    c.fail("invalid dimensions for matrix multiplication: expected ncol(left) = nrow(right), found {} %*% {}", dims(a),
           dims(b));
  if (a.rows > 0 && b.cols > 0 && a.rows > INT64_MAX / 8 / b.cols)
    c.fail("the result of a matrix multiplication is too large: {}x{}", a.rows, b.cols);
  Meta& out = c.out[0];
  out = matrix_meta(a.rows, b.cols);
  const int64_t k = std::max(a.cols, b.rows);
  if (a.empty() || b.empty() || k == 0 || (a.sizes_known() && a.rows == 0) || (b.sizes_known() && b.cols == 0))
    out.nnz = 0;
  const double da = density_of(a), db = density_of(b);
  if (k >= 0 && (da < 1 || db < 1)) out.density = 1 - std::pow(1 - da * db, static_cast<double>(k));
}

bool stored_sparse(const Meta& m) { return m.cols > 1 && density_of(m) < kSparse; }

template <Form kForm>
Cost cost_product(const InferCall& c) {
  const Meta a = left_meta(c, kForm), b = right_meta(c, kForm);
  if (!a.sizes_known() || !b.sizes_known()) return {};
  constexpr double kCell = sizeof(double), kEntry = sizeof(double) + sizeof(int32_t);
  const double m = static_cast<double>(a.rows), k = static_cast<double>(a.cols), n = static_cast<double>(b.cols);
  const double da = density_of(a), db = density_of(b);
  const bool sparse_left = stored_sparse(c.in[0]), sparse_right = kForm.gram ? sparse_left : stored_sparse(c.in[1]);
  const auto bytes = [&](double cells, double density, bool sparse) {
    return sparse ? cells * density * kEntry : cells * kCell;
  };
  const double out_density = 1 - std::pow(1 - da * db, k);
  Cost cost;
  cost.flops = 2 * m * n * k * (sparse_left ? da : 1) * (sparse_right ? db : 1) * (kForm.gram ? 0.5 : 1);
  cost.bytes_read = bytes(m * k, da, sparse_left) + (kForm.gram ? 0 : bytes(k * n, db, sparse_right));
  const bool sparse_out = sparse_left && sparse_right && n > 1 && out_density < kSparse;
  cost.bytes_written = bytes(m * n, out_density, sparse_out);
  if (!sparse_left && !sparse_right)
    cost.scratch = dense_product_scratch(a.rows, b.cols, a.cols, kForm.left_transposed, sizeof(double));
  else if (sparse_left && sparse_right)
    cost.scratch = cost.bytes_written + (kForm.left_transposed || kForm.right_transposed ? cost.bytes_read : 0);
  else if (sparse_left)
    cost.scratch = kForm.left_transposed ? std::min(bytes(m * k, da, true), m * n * kCell * available_threads())
                                         : (kForm.right_transposed ? bytes(k * n, 1, false) : 0);
  else
    cost.scratch = kForm.right_transposed ? 0 : (n + 256) * 8 * kCell * available_threads() + m * n * kCell;
  return cost;
}

struct Sides {
  const MatrixRef &a, &b;
  int64_t m, n, k;
};

template <Form kForm>
Sides sides(const Call& c) {
  const MatrixRef &a = c.matrix_ref(0), &b = c.matrix_ref(kForm.gram ? 0 : 1);
  return {a, b, kForm.left_transposed ? a->cols() : a->rows(), kForm.right_transposed ? b->rows() : b->cols(),
          kForm.left_transposed ? a->rows() : a->cols()};
}

bool dense_like(const MatrixBlock& m) { return m.is_dense() || (m.is_virtual() && !virtual_is_sparse(m)); }
bool sparse_like(const MatrixBlock& m) {
  return m.is_sparse() ? !m.csr().wide : m.is_virtual() && virtual_is_sparse(m) && m.cols() <= INT32_MAX;
}
// Its transpose has 32-bit columns too.
bool can_turn(const MatrixBlock& m) { return m.rows() <= INT32_MAX; }
bool without_cells(const MatrixBlock& m) { return !m.is_dense() && m.nnz_if_known() == 0; }

template <Form kForm>
bool takes_empty(const Call& c) {
  const Sides s = sides<kForm>(c);
  return s.m == 0 || s.n == 0 || s.k == 0 || without_cells(*s.a) || without_cells(*s.b);
}
template <Form kForm>
void empty_product(Call& c) {
  const Sides s = sides<kForm>(c);
  c.set(new_zeros(c.ctx, s.m, s.n));
}

template <Form kForm>
bool takes_dense(const Call& c) {
  const Sides s = sides<kForm>(c);
  return dense_like(*s.a) && dense_like(*s.b);
}
template <Form kForm>
void dense_kernel(Call& c) {
  with_real(c.ctx, [&](auto zero) {
    using T = decltype(zero);
    const Sides s = sides<kForm>(c);
    MatrixRef left, right;  // hold what had to be made from a rule
    if (!s.a->is_dense()) left = to_dense<T>(c.ctx, s.a);
    if (!kForm.gram && !s.b->is_dense()) right = to_dense<T>(c.ctx, s.b);
    const MatrixBlock& a = left ? *left : *s.a;
    const MatrixBlock& b = kForm.gram ? a : right ? *right : *s.b;
    auto out = new_dense<T>(c.ctx, s.m, s.n);
    const Side<T> x{a.template dense<T>(), a.cols(), kForm.left_transposed};
    const Side<T> y{b.template dense<T>(), b.cols(), kForm.right_transposed};
    if constexpr (kForm.gram)
      dense_gram<T>(c.ctx, c.span, s.m, s.k, y, out->template dense<T>());
    else
      dense_product<T>(c.ctx, c.span, s.m, s.n, s.k, x, y, out->template dense<T>());
    c.set(std::move(out));
  });
}

template <Form kForm>
bool takes_sparse_dense(const Call& c) {
  const Sides s = sides<kForm>(c);
  return sparse_like(*s.a) && dense_like(*s.b) && (!kForm.left_transposed || can_turn(*s.a));
}
template <Form kForm>
void sparse_dense(Call& c) {
  with_real(c.ctx, [&](auto zero) {
    using T = decltype(zero);
    const Sides s = sides<kForm>(c);
    const MatrixRef a = to_sparse<T>(c.ctx, s.a);
    MatrixRef b = to_dense<T>(c.ctx, s.b);
    if (kForm.left_transposed) return c.set(sparse_transposed_times_dense<T>(c.ctx, c.span, a, *b));
    if (kForm.right_transposed) b = to_dense<T>(c.ctx, transposed(c.ctx, c.span, b));
    c.set(sparse_times_dense<T>(c.ctx, c.span, *a, *b));
  });
}

template <Form kForm>
bool takes_dense_sparse(const Call& c) {
  const Sides s = sides<kForm>(c);
  return dense_like(*s.a) && sparse_like(*s.b) && (!kForm.left_transposed || can_turn(*s.b));
}
template <Form kForm>
void dense_sparse(Call& c) {
  with_real(c.ctx, [&](auto zero) {
    using T = decltype(zero);
    const Sides s = sides<kForm>(c);
    const MatrixRef a = to_dense<T>(c.ctx, s.a), b = to_sparse<T>(c.ctx, s.b);
    if (kForm.left_transposed)  // t(X) %*% Y = t(t(Y) %*% X)
      return c.set(transposed(c.ctx, c.span, sparse_transposed_times_dense<T>(c.ctx, c.span, b, *a)));
    if (kForm.right_transposed) return c.set(dense_times_sparse_transposed<T>(c.ctx, c.span, *a, *b));
    c.set(dense_times_sparse<T>(c.ctx, c.span, *a, *b));
  });
}

template <Form kForm>
bool takes_sparse(const Call& c) {
  const Sides s = sides<kForm>(c);
  return sparse_like(*s.a) && sparse_like(*s.b) && (!kForm.left_transposed || can_turn(*s.a)) &&
         (!kForm.right_transposed || can_turn(*s.b));
}
template <Form kForm>
void sparse_sparse(Call& c) {
  with_real(c.ctx, [&](auto zero) {
    using T = decltype(zero);
    const Sides s = sides<kForm>(c);
    MatrixRef a = to_sparse<T>(c.ctx, s.a), b = kForm.gram ? a : to_sparse<T>(c.ctx, s.b);
    if (kForm.gram && kForm.left_transposed) return c.set(sparse_gram<T>(c.ctx, c.span, a));
    const auto turn = [&](const MatrixRef& x) { return to_sparse<T>(c.ctx, transposed(c.ctx, c.span, x)); };
    if (kForm.left_transposed) a = turn(a);
    if (kForm.right_transposed) b = turn(b);
    c.set(sparse_times_sparse<T>(c.ctx, c.span, a, b));
  });
}

// Calls f(column, value) for each stored cell of a row, of any block.
template <class T, class F>
void for_each_cell(const MatrixBlock& m, int64_t row, const F& f) {
  const int64_t cols = m.cols();
  if (m.is_dense()) {
    for (int64_t j = 0; j < cols; ++j) f(j, m.dense<T>()[row * cols + j]);
  } else if (m.is_sparse()) {
    const Csr& s = m.csr();
    const auto* offsets = s.offsets.as<int64_t>();
    for (int64_t e = offsets[row]; e < offsets[row + 1]; ++e)
      f(s.wide ? s.columns.as<int64_t>()[e] : s.columns.as<int32_t>()[e], s.values.as<T>()[e]);
  } else {
    T tile[256];
    for (int64_t begin = 0; begin < cols; begin += 256) {
      const int64_t end = std::min(cols, begin + 256);
      read_cells(m, row * cols + begin, row * cols + end, tile);
      for (int64_t j = begin; j < end; ++j) f(j, tile[j - begin]);
    }
  }
}

template <class T>
MatrixRef block_of(Context& ctx, int64_t rows, int64_t cols, const std::map<std::pair<int64_t, int64_t>, T>& cells) {
  auto out = new_sparse<T>(ctx, rows, cols, static_cast<int64_t>(cells.size()));
  Csr& s = out->csr();
  auto* offsets = s.offsets.template as<int64_t>();
  int64_t e = 0, row = 0;
  offsets[0] = 0;
  for (const auto& [place, value] : cells) {
    if (value == 0) continue;
    while (row < place.first) offsets[++row] = e;
    if (s.wide)
      s.columns.template as<int64_t>()[e] = place.second;
    else
      s.columns.template as<int32_t>()[e] = static_cast<int32_t>(place.second);
    s.values.template as<T>()[e++] = value;
  }
  while (row < rows) offsets[++row] = e;
  out->set_nnz(e);
  return out;
}

// Takes everything, 64-bit columns included; slow.
template <class T, Form kForm, class Add>
void each_product(const Call& c, const Sides& s, const Add& add) {
  const int64_t rows = s.a->rows();
  for (int64_t r = 0; r < rows; ++r) {
    if (c.ctx.session != nullptr) c.ctx.session->poll(c.span);
    if constexpr (kForm.right_transposed) {
      std::unordered_map<int64_t, T> left;
      for_each_cell<T>(*s.a, r, [&](int64_t p, T v) { left[p] = v; });
      for (int64_t j = 0; j < s.n; ++j)
        for_each_cell<T>(*s.b, j, [&](int64_t p, T w) {
          if (const auto v = left.find(p); v != left.end()) add(r, j, v->second * w);
        });
    } else {
      for_each_cell<T>(*s.a, r, [&](int64_t p, T v) {
        for_each_cell<T>(*s.b, kForm.left_transposed ? r : p,
                         [&](int64_t j, T w) { add(kForm.left_transposed ? p : r, j, v * w); });
      });
    }
  }
}

template <Form kForm>
void reference(Call& c) {
  with_real(c.ctx, [&](auto zero) {
    using T = decltype(zero);
    const Sides s = sides<kForm>(c);
    constexpr int64_t kMostDense = int64_t{1} << 26;
    if (s.m <= kMostDense / std::max<int64_t>(1, s.n)) {
      auto out = new_dense<T>(c.ctx, s.m, s.n);
      T* cells = out->template dense<T>();
      std::fill(cells, cells + s.m * s.n, T{0});
      each_product<T, kForm>(c, s, [&](int64_t i, int64_t j, T v) { cells[i * s.n + j] += v; });
      return c.set(settle<T>(c.ctx, std::move(out)));
    }
    std::map<std::pair<int64_t, int64_t>, T> cells;
    each_product<T, kForm>(c, s, [&](int64_t i, int64_t j, T v) { cells[{i, j}] += v; });
    c.set(block_of<T>(c.ctx, s.m, s.n, cells));
  });
}

template <Form kForm>
constexpr Kernel kKernels[] = {
    {"empty", takes_empty<kForm>, empty_product<kForm>},
    {"dense", takes_dense<kForm>, dense_kernel<kForm>},
    {"sparse_dense", takes_sparse_dense<kForm>, sparse_dense<kForm>},
    {"dense_sparse", takes_dense_sparse<kForm>, dense_sparse<kForm>},
    {"sparse", takes_sparse<kForm>, sparse_sparse<kForm>},
    {"reference", nullptr, reference<kForm>},
};

constexpr Op kOps[] = {
    {.name = "%*%",
     .params = {param::matrix("X"), param::matrix("Y")},
     .laws = {.associative = true, .zero = Zero::either},
     .infer = infer_product<kPlain>,
     .cost = cost_product<kPlain>,
     .kernels = kKernels<kPlain>,
     .doc = "Matrix product: X (m x k) times Y (k x n).",
     .example = "X = matrix(\"1 2 3 4\", rows=2, cols=2)\n"
                "Y = matrix(\"5 6\", rows=2, cols=1)\n"
                "Z = X %*% Y\n"
                "print(as.scalar(Z[1,1]) + \" \" + as.scalar(Z[2,1]))  # expect: 17.0 39.0\n"},
    {.name = "tmm",
     .params = {param::matrix("X"), param::matrix("Y")},
     .laws = {.zero = Zero::either},
     .infer = infer_product<kTmm>,
     .cost = cost_product<kTmm>,
     .kernels = kKernels<kTmm>,
     .doc = "t(X) %*% Y without the transposed matrix.",
     .hidden = true},
    {.name = "mmt",
     .params = {param::matrix("X"), param::matrix("Y")},
     .laws = {.zero = Zero::either},
     .infer = infer_product<kMmt>,
     .cost = cost_product<kMmt>,
     .kernels = kKernels<kMmt>,
     .doc = "X %*% t(Y) without the transposed matrix.",
     .hidden = true},
    {.name = "tsmm",
     .params = {param::matrix("X")},
     .laws = {.zero = Zero::keeps},
     .infer = infer_product<kTsmm>,
     .cost = cost_product<kTsmm>,
     .kernels = kKernels<kTsmm>,
     .doc = "t(X) %*% X; half of the products.",
     .hidden = true},
    {.name = "tsmmr",
     .params = {param::matrix("X")},
     .laws = {.zero = Zero::keeps},
     .infer = infer_product<kTsmmr>,
     .cost = cost_product<kTsmmr>,
     .kernels = kKernels<kTsmmr>,
     .doc = "X %*% t(X); half of the products.",
     .hidden = true},
};

}  // namespace

OpFamily matmul_ops() { return kOps; }

}  // namespace hopline
