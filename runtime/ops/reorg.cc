// Operators that move cells: t, rev, roll, diag, lower.tri, upper.tri, rbind, cbind.
#include "runtime/ops/reorg.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/reorg_bind.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;  // cells per task

int64_t row_grain(int64_t cols) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cols)); }

// ---- t

void infer_transpose(InferCall& c) { c.out[0] = matrix_meta(c.in[0].cols, c.in[0].rows, c.in[0].nnz); }

void run_transpose(Call& call) {
  with_real(call.ctx,
            [&](auto zero) { call.set(transpose<decltype(zero)>(call.ctx, std::get<MatrixRef>(call.take_value(0)))); });
}

// ---- rev and roll

template <class T, class From>
MatrixRef pick_rows_dense(Context& ctx, const MatrixBlock& m, const From& from) {
  const int64_t cols = m.cols();
  auto out = new_dense<T>(ctx, m.rows(), cols);
  T* to = out->template dense<T>();
  const T* in = m.dense<T>();
  parallel_chunks(m.rows(), row_grain(cols), ctx.threads, [&](int64_t begin, int64_t end) {
    if (cols == 1)
      for (int64_t r = begin; r < end; ++r) to[r] = in[from(r)];
    else
      for (int64_t r = begin; r < end; ++r)
        std::memcpy(to + r * cols, in + from(r) * cols, static_cast<size_t>(cols) * sizeof(T));
  });
  return out;
}

template <class T, class From>
MatrixRef pick_rows_csr(Context& ctx, const MatrixBlock& m, const From& from) {
  const Csr& s = m.csr();
  auto out = new_sparse<T>(ctx, m.rows(), m.cols(), m.nnz_if_known());
  Csr& to = out->csr();
  const auto* old = s.offsets.as<int64_t>();
  auto* offsets = to.offsets.template as<int64_t>();
  const int64_t width = s.wide ? 8 : 4;
  offsets[0] = 0;
  for (int64_t r = 0; r < m.rows(); ++r) {
    const int64_t at = old[from(r)], n = old[from(r) + 1] - at;
    offsets[r + 1] = offsets[r] + n;
    if (n == 0) continue;
    std::memcpy(to.columns.as<char>() + offsets[r] * width, s.columns.as<char>() + at * width,
                static_cast<size_t>(n * width));
    std::memcpy(to.values.as<T>() + offsets[r], s.values.as<T>() + at, static_cast<size_t>(n) * sizeof(T));
  }
  return out;
}

// Row r of the result is row from(r) of the input.
template <class From>
void pick_rows(Call& call, const From& from) {
  const MatrixRef m = call.matrix_ref(0);
  if (m->rows() <= 1 || m->cells() == 0 || (m->is_virtual() && std::holds_alternative<Constant>(m->cells_rule())))
    return call.set(m);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const MatrixRef real = materialize<T>(call.ctx, m);
    const MatrixRef out =
        real->is_dense() ? pick_rows_dense<T>(call.ctx, *real, from) : pick_rows_csr<T>(call.ctx, *real, from);
    out->set_nnz(real->nnz_if_known());
    call.set(out);
  });
}

void infer_same(InferCall& c) { c.out[0] = c.in[0]; }

// A sequence of whole numbers runs backwards exactly.
bool reversed_exactly(const MatrixBlock& m, Sequence& s) {
  if (!m.is_virtual() || !std::holds_alternative<Sequence>(m.cells_rule()) || m.cols() != 1) return false;
  s = std::get<Sequence>(m.cells_rule());
  const double last = s.from + static_cast<double>(m.rows() - 1) * s.increment;
  const auto exact = [](double v) { return std::floor(v) == v && std::fabs(v) <= 0x1p53; };
  if (!exact(s.from) || !exact(s.increment) || !exact(last)) return false;
  s.from = last, s.increment = -s.increment;
  return true;
}

template <class T>
void reverse_in_place(T* cells, int64_t rows, int64_t cols) {
  if (cols == 1) return std::reverse(cells, cells + rows);
  for (int64_t r = 0; r < rows / 2; ++r)
    std::swap_ranges(cells + r * cols, cells + (r + 1) * cols, cells + (rows - 1 - r) * cols);
}

void run_reverse(Call& call) {
  const int64_t rows = call.matrix(0).rows();
  if (Sequence s; rows > 0 && reversed_exactly(call.matrix(0), s))
    return call.set(new_virtual(call.ctx, rows, 1, s, call.matrix(0).nnz_if_known()));
  if (call.matrix(0).is_dense())
    if (const auto mine = call.take(0)) {
      const int64_t nnz = mine->nnz_if_known();
      with_real(call.ctx, [&](auto zero) { reverse_in_place(mine->dense<decltype(zero)>(), rows, mine->cols()); });
      mine->set_nnz(nnz);
      return call.set(mine);
    }
  pick_rows(call, [=](int64_t r) { return rows - 1 - r; });
}

void run_roll(Call& call) {
  const int64_t rows = call.matrix(0).rows();
  if (rows == 0) return call.set(call.matrix_ref(0));
  const int64_t by = call.integer(1) % rows, down = by < 0 ? by + rows : by;
  if (down == 0) return call.set(call.matrix_ref(0));
  pick_rows(call, [=](int64_t r) { return r >= down ? r - down : r - down + rows; });
}

// ---- diag

void infer_diag(InferCall& c) {
  const Meta& in = c.in[0];
  if (in.sizes_known() && in.cols != 1 && in.rows != in.cols)
    c.fail("diag: expected a column vector or a square matrix, found {}", dims(in));
  const int64_t rows = in.rows >= 0 ? in.rows : in.cols > 1 ? in.cols : -1;
  c.out[0] = matrix_meta(rows, -1, in.nnz == 0 ? 0 : -1);
  if (in.cols == 1) c.out[0].cols = rows, c.out[0].nnz = in.nnz;
  if (in.cols > 1 || (in.cols == 0 && in.rows == 0) || rows == 1) c.out[0].cols = 1;
}

template <class T>
MatrixRef diagonal_matrix(Context& ctx, const MatrixRef& vector) {
  const int64_t n = vector->rows();
  const MatrixRef dense = to_dense<T>(ctx, vector);
  const T* cells = dense->dense<T>();
  auto out = new_sparse<T>(ctx, n, n, count_nnz<T>(ctx, *dense));
  Csr& s = out->csr();
  auto* offsets = s.offsets.template as<int64_t>();
  int64_t k = 0;
  for (int64_t r = 0; r < n; ++r) {
    offsets[r] = k;
    if (cells[r] == 0) continue;
    if (s.wide)
      s.columns.as<int64_t>()[k] = r;
    else
      s.columns.as<int32_t>()[k] = static_cast<int32_t>(r);
    s.values.as<T>()[k++] = cells[r];
  }
  offsets[n] = k;
  return out;
}

template <class T, class Column>
T find_in_row(const Csr& s, int64_t row, int64_t col) {
  const auto* offsets = s.offsets.as<int64_t>();
  const auto* columns = s.columns.as<Column>();
  const auto* at = std::lower_bound(columns + offsets[row], columns + offsets[row + 1], col);
  return at != columns + offsets[row + 1] && *at == col ? s.values.as<T>()[at - columns] : T{0};
}

template <class T>
MatrixRef diagonal_vector(Context& ctx, const MatrixRef& m) {
  const int64_t n = m->rows();
  if (m->is_virtual() && std::holds_alternative<Constant>(m->cells_rule()))
    return new_constant(ctx, n, 1, std::get<Constant>(m->cells_rule()).value);
  const MatrixRef real = materialize<T>(ctx, m);
  auto out = new_dense<T>(ctx, n, 1);
  T* cells = out->template dense<T>();
  for (int64_t r = 0; r < n; ++r) {
    if (real->is_dense())
      cells[r] = real->dense<T>()[r * n + r];
    else
      cells[r] =
          real->csr().wide ? find_in_row<T, int64_t>(real->csr(), r, r) : find_in_row<T, int32_t>(real->csr(), r, r);
  }
  return out;
}

void run_diag(Call& call) {
  const MatrixRef& m = call.matrix_ref(0);
  if (m->cols() == 1 && m->rows() == 1) return call.set(m);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    call.set(m->cols() == 1 ? diagonal_matrix<T>(call.ctx, m) : diagonal_vector<T>(call.ctx, m));
  });
}

// ---- lower.tri and upper.tri

constexpr size_t kTarget = 0, kDiag = 1, kValues = 2;

// Columns [begin, end) of a row that belong to the triangle.
struct Triangle {
  bool lower, diag;
  int64_t cols;
  int64_t begin(int64_t row) const { return lower ? 0 : std::min(cols, diag ? row : row + 1); }
  int64_t end(int64_t row) const { return lower ? std::min(cols, diag ? row + 1 : row) : cols; }
};

template <class T>
MatrixRef ones_in_triangle(Context& ctx, int64_t rows, const Triangle& tri) {
  int64_t nnz = 0;
  for (int64_t r = 0; r < rows; ++r) nnz += tri.end(r) - tri.begin(r);
  const int64_t cols = tri.cols;
  if (cols > 1 && static_cast<double>(nnz) < kSparse * static_cast<double>(rows) * static_cast<double>(cols)) {
    auto out = new_sparse<T>(ctx, rows, cols, nnz);
    Csr& s = out->csr();
    int64_t k = 0;
    for (int64_t r = 0; r < rows; ++r) {
      s.offsets.template as<int64_t>()[r] = k;
      for (int64_t c = tri.begin(r); c < tri.end(r); ++c, ++k) {
        if (s.wide)
          s.columns.as<int64_t>()[k] = c;
        else
          s.columns.as<int32_t>()[k] = static_cast<int32_t>(c);
        s.values.as<T>()[k] = 1;
      }
    }
    s.offsets.template as<int64_t>()[rows] = k;
    return out;
  }
  auto out = new_dense<T>(ctx, rows, cols);
  T* cells = out->template dense<T>();
  parallel_chunks(rows, row_grain(cols), ctx.threads, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      std::fill_n(cells + r * cols, cols, T{0});
      std::fill(cells + r * cols + tri.begin(r), cells + r * cols + tri.end(r), T{1});
    }
  });
  out->set_nnz(nnz);
  return out;
}

template <class T, class Column>
MatrixRef triangle_of_csr(Context& ctx, const MatrixBlock& m, const Triangle& tri) {
  const Csr& s = m.csr();
  const auto* old = s.offsets.as<int64_t>();
  const auto* columns = s.columns.as<Column>();
  auto out = new_sparse<T>(ctx, m.rows(), m.cols(), m.nnz_if_known());
  Csr& to = out->csr();
  int64_t k = 0;
  for (int64_t r = 0; r < m.rows(); ++r) {
    to.offsets.template as<int64_t>()[r] = k;
    const Column* begin = std::lower_bound(columns + old[r], columns + old[r + 1], tri.begin(r));
    const Column* end = std::lower_bound(begin, columns + old[r + 1], std::max(tri.begin(r), tri.end(r)));
    std::copy(begin, end, to.columns.as<Column>() + k);
    std::copy_n(s.values.as<T>() + (begin - columns), end - begin, to.values.as<T>() + k);
    k += end - begin;
  }
  to.offsets.template as<int64_t>()[m.rows()] = k;
  out->set_nnz(k);
  return out;
}

// Cells outside the triangle become 0, in place where the input is ours.
template <class T>
MatrixRef triangle_of_dense(Call& call, const Triangle& tri) {
  auto out = call.matrix(kTarget).is_dense() ? call.take(kTarget) : nullptr;
  const MatrixRef in = out != nullptr ? MatrixRef(out) : to_dense<T>(call.ctx, call.matrix_ref(kTarget));
  const T* from = in->dense<T>();
  if (out == nullptr) out = new_dense<T>(call.ctx, in->rows(), in->cols());
  T* to = out->template dense<T>();
  const int64_t cols = tri.cols;
  parallel_chunks(out->rows(), row_grain(cols), call.ctx.threads, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      const int64_t begin = tri.begin(r), end = std::max(begin, tri.end(r));
      std::fill(to + r * cols, to + r * cols + begin, T{0});
      if (to != from) std::copy(from + r * cols + begin, from + r * cols + end, to + r * cols + begin);
      std::fill(to + r * cols + end, to + (r + 1) * cols, T{0});
    }
  });
  return settle<T>(call.ctx, std::move(out));
}

void infer_triangle(InferCall& c) { c.out[0] = matrix_meta(c.in[kTarget].rows, c.in[kTarget].cols); }

void run_triangle(Call& call, bool lower) {
  const MatrixRef m = call.boolean(kValues) ? MatrixRef() : call.matrix_ref(kTarget);
  const Triangle tri{lower, call.boolean(kDiag), call.matrix(kTarget).cols()};
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    if (m != nullptr) return call.set(ones_in_triangle<T>(call.ctx, m->rows(), tri));
    const MatrixBlock& target = call.matrix(kTarget);
    if (target.nnz_if_known() == 0) return call.set(new_zeros(call.ctx, target.rows(), target.cols()));
    if (!target.is_sparse()) return call.set(triangle_of_dense<T>(call, tri));
    call.set(target.csr().wide ? triangle_of_csr<T, int64_t>(call.ctx, target, tri)
                               : triangle_of_csr<T, int32_t>(call.ctx, target, tri));
  });
}

void run_lower(Call& call) { run_triangle(call, true); }
void run_upper(Call& call) { run_triangle(call, false); }

// ---- the rows

Cost cost_transpose(const InferCall& c) {
  const double cells = static_cast<double>(c.in[0].rows) * static_cast<double>(c.in[0].cols);
  if (!c.in[0].sizes_known()) return {};
  // Sparse: one counter per column for each chunk of rows.
  const double scratch = c.in[0].nnz >= 0 && static_cast<double>(c.in[0].nnz) < kSparse * cells
                             ? 16 * static_cast<double>(c.in[0].cols)
                             : 0;
  return {0, 8 * cells, 8 * cells, scratch};
}

constexpr Kernel kTransposeKernels[] = {{"reference", nullptr, run_transpose}};
constexpr Kernel kReverseKernels[] = {{"reference", nullptr, run_reverse}};
constexpr Kernel kRollKernels[] = {{"reference", nullptr, run_roll}};
constexpr Kernel kDiagKernels[] = {{"reference", nullptr, run_diag}};
constexpr Kernel kLowerKernels[] = {{"reference", nullptr, run_lower}};
constexpr Kernel kUpperKernels[] = {{"reference", nullptr, run_upper}};
constexpr Kernel kRbindKernels[] = {{"reference", nullptr, run_rbind}};
constexpr Kernel kCbindKernels[] = {{"reference", nullptr, run_cbind}};

constexpr Params kTriangle =
    Params{param::matrix("target"), param::number("diag", "FALSE"), param::number("values", "FALSE")}.by(Naming::named);
constexpr Kinds kBound = kMatrix | kList | kScalar;

constexpr Op kOps[] = {
    {.name = "t",
     .aliases = {"tr"},
     .params = {param::matrix("X")},
     .infer = infer_transpose,
     .cost = cost_transpose,
     .kernels = kTransposeKernels,
     .doc = "The transpose of X.",
     .example = "X = t(matrix(\"1 2 3 4 5 6\", 2, 3))\nprint(as.scalar(X[3, 1]))  # expect: 3.0"},
    {.name = "rev",
     .params = {param::matrix("X")},
     .infer = infer_same,
     .kernels = kReverseKernels,
     .doc = "The rows of X in reverse order.",
     .example = "X = rev(seq(1, 3))\nprint(as.scalar(X[1, 1]))  # expect: 3.0"},
    {.name = "roll",
     .params = {param::matrix("X"), param::number("shift")},
     .infer = infer_same,
     .kernels = kRollKernels,
     .doc = "The rows of X moved down by shift, those that leave at the end come in at the start; negative: up.",
     .example = "X = roll(seq(1, 3), 1)\nprint(as.scalar(X[1, 1]))  # expect: 3.0"},
    {.name = "diag",
     .params = {param::matrix("X")},
     .infer = infer_diag,
     .kernels = kDiagKernels,
     .doc = "A column vector as a diagonal matrix; a square matrix's diagonal as a column vector.",
     .example = "print(sum(diag(seq(1, 3))))  # expect: 6.0\nprint(sum(diag(matrix(2, 3, 3))))  # expect: 6.0"},
    {.name = "lower.tri",
     .params = kTriangle,
     .infer = infer_triangle,
     .kernels = kLowerKernels,
     .doc = "1 (values=TRUE: the cell of target) below the diagonal, 0 elsewhere; diag=TRUE includes the diagonal.",
     .example = "print(sum(lower.tri(target=matrix(5, 3, 3), diag=TRUE)))  # expect: 6.0"},
    {.name = "upper.tri",
     .params = kTriangle,
     .infer = infer_triangle,
     .kernels = kUpperKernels,
     .doc = "1 (values=TRUE: the cell of target) above the diagonal, 0 elsewhere; diag=TRUE includes the diagonal.",
     .example = "print(sum(upper.tri(target=matrix(5, 3, 3), values=TRUE)))  # expect: 15.0"},
    {.name = "rbind",
     .params = Params{param::of("A", kBound), param::of("B", kAny)}.repeat_last(),
     .infer = infer_rbind,
     .kernels = kRbindKernels,
     .doc = "Matrices below each other; strings joined by line breaks; values appended to a list.",
     .example =
         "X = rbind(matrix(1, 2, 3), matrix(2, 1, 3))\nprint(nrow(X))  # expect: 3\nprint(sum(X))  # expect: 12.0"},
    {.name = "rbind",
     .params = {param::of("A", kMatrix | kList | kString)},
     .laws = {.failure = Failure::by_data, .size_from_data = true},
     .infer = infer_rbind,
     .kernels = kRbindKernels,
     .doc = "The matrices of a list below each other.",
     .example = "print(nrow(rbind(list(matrix(1, 2, 3), matrix(2, 1, 3)))))  # expect: 3"},
    {.name = "cbind",
     .aliases = {"append"},
     .params = Params{param::of("A", kBound), param::of("B", kAny)}.repeat_last(),
     .infer = infer_cbind,
     .kernels = kCbindKernels,
     .doc = "Matrices next to each other; strings joined by line breaks; values appended to a list.",
     .example = "X = cbind(matrix(1, 2, 3), matrix(2, 2, 1))\nprint(ncol(X))  # expect: 4\n"
                "L = append(list(1, 2), 3)\nprint(length(L))  # expect: 3"},
    {.name = "cbind",
     .aliases = {"append"},
     .params = {param::of("A", kMatrix | kList | kString)},
     .laws = {.failure = Failure::by_data, .size_from_data = true},
     .infer = infer_cbind,
     .kernels = kCbindKernels,
     .doc = "The matrices of a list next to each other.",
     .example = "print(ncol(cbind(list(matrix(1, 2, 3), matrix(2, 2, 1)))))  # expect: 4"},
};

}  // namespace

OpFamily reorg_ops() { return kOps; }

}  // namespace hopline
