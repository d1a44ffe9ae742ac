// Right indexing, X[r1:r2, c1:c2], and the row of left indexing.
#include "runtime/ops/index.h"

#include <cmath>
#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/families.h"
#include "runtime/ops/list.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

IndexRange index_range(const Call& call, size_t low, int64_t extent, const char* what) {
  if (!call.has(low)) return {0, extent};
  const int64_t from = call.integer(low), to = call.integer(low + 1);
  if (from < 1 || to < from || to > extent)
    call.fail(
        "Invalid values for matrix indexing: {} must be within matrix dimensions, expected 1 <= low <= high <= {}, "
        "found {}:{}",
        what, extent, from, to);
  return {from - 1, to - from + 1};
}

int64_t index_size(InferCall& c, size_t low, int64_t extent, const char* what) {
  if (c.in[low].kind == Kind::none) return extent;
  const int64_t size = c.range_size(low, low + 1);  // -1: unknown, or a range that the kernel refuses
  if (size != -1 && (size < 1 || (extent >= 0 && size > extent)))
    c.fail(
        "Invalid values for matrix indexing: {} must be within matrix dimensions, expected 1 <= low <= high <= {}, "
        "found a range of {}",
        what, extent < 0 ? "?" : std::to_string(extent), size);
  return size;
}

void check_index_kinds(const InferCall& c, size_t first_bound) {
  if (c.in[0].kind == Kind::list) {
    for (size_t i = first_bound + 2; i < c.in.size(); ++i)
      if (c.in[i].kind != Kind::none)
        c.fail("wrong list index: expected one position or name, found a row and a column");
    return;
  }
  for (size_t i = first_bound; i < c.in.size(); ++i)
    if (c.in[i].kind == Kind::string) c.fail("wrong matrix index: expected a number, found string");
}

namespace {

constexpr int64_t kGrain = 1 << 16;  // cells per task

// ---- sizes

int64_t entries_of(InferCall& c) {
  const Kind low = c.in[1].kind;
  if (low == Kind::none) return c.in[0].rows;
  if (low != Kind::string && c.in[2].kind != Kind::string) return c.range_size(1, 2);
  const auto first = c.string(1), last = c.string(2);
  return first && last && *first == *last ? 1 : -1;
}

void infer_right_index(InferCall& c) {
  check_index_kinds(c, 1);
  if (c.in[0].kind == Kind::list) {
    c.out[0] = {Kind::list, entries_of(c), 1, -1, -1};
    return;
  }
  const Meta& x = c.in[0];
  const int64_t rows = index_size(c, 1, x.rows, "rows"), cols = index_size(c, 3, x.cols, "columns");
  const bool whole = rows >= 0 && cols >= 0 && rows == x.rows && cols == x.cols;
  c.out[0] = matrix_meta(rows, cols, whole || x.nnz == 0 ? x.nnz : -1);
}

// ---- matrices

template <class T>
MatrixRef slice_dense(Context& ctx, const MatrixBlock& m, IndexRange rows, IndexRange cols) {
  auto out = new_dense<T>(ctx, rows.size, cols.size);
  T* to = out->template dense<T>();
  const T* from = m.dense<T>() + rows.begin * m.cols() + cols.begin;
  const int64_t stride = m.cols(), width = cols.size;
  const auto copy = [&](int64_t begin, int64_t end) {
    if (width == stride)
      std::memcpy(to + begin * width, from + begin * stride, static_cast<size_t>((end - begin) * width) * sizeof(T));
    else if (width == 1)
      for (int64_t r = begin; r < end; ++r) to[r] = from[r * stride];
    else
      for (int64_t r = begin; r < end; ++r)
        std::memcpy(to + r * width, from + r * stride, static_cast<size_t>(width) * sizeof(T));
  };
  if (rows.size * width <= kGrain)
    copy(0, rows.size);
  else
    parallel_chunks(rows.size, std::max<int64_t>(1, kGrain / width), ctx.threads, copy);
  if (m.nnz_if_known() == 0) out->set_nnz(0);
  return out;
}

template <class T, class Column, class NewColumn>
void fill_csr_slice(const SparseRows<T, Column>& from, IndexRange rows, IndexRange cols, Csr& to) {
  const auto* offsets = to.offsets.as<int64_t>();
  for (int64_t r = 0; r < rows.size; ++r) {
    const auto row = from.part(rows.begin + r, cols.begin, cols.begin + cols.size);
    auto* columns = to.columns.as<NewColumn>() + offsets[r];
    for (int64_t k = 0; k < row.count; ++k) columns[k] = static_cast<NewColumn>(row.columns[k] - cols.begin);
    std::copy_n(row.values, row.count, to.values.as<T>() + offsets[r]);
  }
}

template <class T, class Column>
MatrixRef slice_sparse(Context& ctx, const MatrixBlock& m, IndexRange rows, IndexRange cols) {
  const SparseRows<T, Column> from(m);
  Buffer counts = ctx.memory.allocate(static_cast<size_t>(rows.size + 1) * sizeof(int64_t));
  auto* offsets = counts.as<int64_t>();
  offsets[0] = 0;
  for (int64_t r = 0; r < rows.size; ++r)
    offsets[r + 1] = offsets[r] + from.part(rows.begin + r, cols.begin, cols.begin + cols.size).count;
  const int64_t nnz = offsets[rows.size];
  const double cells = static_cast<double>(rows.size) * static_cast<double>(cols.size);
  if (cols.size > 1 && static_cast<double>(nnz) < kSparse * cells) {
    auto out = new_sparse<T>(ctx, rows.size, cols.size, nnz);
    Csr& to = out->csr();
    to.offsets = std::move(counts);
    if (to.wide)
      fill_csr_slice<T, Column, int64_t>(from, rows, cols, to);
    else
      fill_csr_slice<T, Column, int32_t>(from, rows, cols, to);
    return out;
  }
  auto out = new_dense<T>(ctx, rows.size, cols.size);
  T* to = out->template dense<T>();
  std::fill_n(to, rows.size * cols.size, T{0});
  for (int64_t r = 0; r < rows.size; ++r) {
    const auto row = from.part(rows.begin + r, cols.begin, cols.begin + cols.size);
    for (int64_t k = 0; k < row.count; ++k) to[r * cols.size + row.columns[k] - cols.begin] = row.values[k];
  }
  out->set_nnz(nnz);
  return out;
}

// Part of a sequence whose numbers are whole: exact however they are counted.
bool slice_sequence(const MatrixBlock& m, int64_t begin, Sequence& s) {
  s = std::get<Sequence>(m.cells_rule());
  const double last = s.from + static_cast<double>(m.cells() - 1) * s.increment;
  const auto exact = [](double v) { return std::floor(v) == v && std::fabs(v) <= 0x1p53; };
  if (!exact(s.from) || !exact(s.increment) || !exact(last)) return false;
  s.from += static_cast<double>(begin) * s.increment;
  return true;
}

template <class T>
MatrixRef slice_virtual(Context& ctx, const MatrixBlock& m, IndexRange rows, IndexRange cols) {
  const Virtual& rule = m.cells_rule();
  if (const auto* c = std::get_if<Constant>(&rule)) return new_constant(ctx, rows.size, cols.size, c->value);
  if (Sequence s; std::holds_alternative<Sequence>(rule) && slice_sequence(m, rows.begin + cols.begin, s))
    return new_virtual(ctx, rows.size, cols.size, s, m.nnz_if_known() == m.cells() ? rows.size * cols.size : -1);
  auto out = new_dense<T>(ctx, rows.size, cols.size);
  T* to = out->template dense<T>();
  const int64_t first = rows.begin * m.cols() + cols.begin;
  if (cols.size == m.cols()) {
    parallel_chunks(rows.size * cols.size, kGrain, ctx.threads,
                    [&](int64_t begin, int64_t end) { read_cells(m, first + begin, first + end, to + begin); });
  } else {
    parallel_chunks(rows.size, std::max<int64_t>(1, kGrain / cols.size), ctx.threads, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        read_cells(m, first + r * m.cols(), first + r * m.cols() + cols.size, to + r * cols.size);
    });
  }
  return virtual_is_sparse(m) ? settle<T>(ctx, std::move(out)) : out;
}

template <class T, class Column>
double sparse_cell(const MatrixBlock& m, int64_t row, int64_t col) {
  const auto part = SparseRows<T, Column>(m).part(row, col, col + 1);
  return part.count == 0 ? 0 : static_cast<double>(*part.values);
}

template <class T>
double cell_of(const MatrixBlock& m, int64_t row, int64_t col) {
  if (m.is_dense()) return static_cast<double>(m.dense<T>()[row * m.cols() + col]);
  if (m.is_virtual()) return read_cell(m, row, col);
  return has_wide_columns(m) ? sparse_cell<T, int64_t>(m, row, col) : sparse_cell<T, int32_t>(m, row, col);
}

template <class T>
MatrixRef slice(Context& ctx, const MatrixBlock& m, IndexRange rows, IndexRange cols) {
  // A single cell is a constant: no buffer is needed.
  if (rows.size == 1 && cols.size == 1) return new_constant(ctx, 1, 1, cell_of<T>(m, rows.begin, cols.begin));
  if (m.is_dense()) return slice_dense<T>(ctx, m, rows, cols);
  if (m.is_virtual()) return slice_virtual<T>(ctx, m, rows, cols);
  return has_wide_columns(m) ? slice_sparse<T, int64_t>(ctx, m, rows, cols)
                             : slice_sparse<T, int32_t>(ctx, m, rows, cols);
}

void run_right_matrix(Call& call) {
  const MatrixBlock& m = call.matrix(0);
  const IndexRange rows = index_range(call, 1, m.rows(), "rows"), cols = index_range(call, 3, m.cols(), "columns");
  if (rows.size == m.rows() && cols.size == m.cols()) {
    call.out[0] = call.take_value(0);
    return;
  }
  if (call.ctx.precision == Precision::f64)
    call.set(slice<double>(call.ctx, m, rows, cols));
  else
    call.set(slice<float>(call.ctx, m, rows, cols));
}

void run_right_index(Call& call) {
  if (call.kind(0) != Kind::list) return run_right_matrix(call);
  call.out[0] = index_list(std::get<ListRef>(*call.in[0]), *call.in[1], *call.in[2], call.span);
}

Cost cost_right_index(const InferCall& c) {
  const Meta& out = c.out[0];
  if (out.kind != Kind::matrix || !out.sizes_known()) return {};
  const double bytes = 8 * static_cast<double>(out.rows) * static_cast<double>(out.cols);
  return {0, bytes, bytes, 0};
}

constexpr Kernel kRightKernels[] = {{"reference", nullptr, run_right_index}};
constexpr Kernel kLeftKernels[] = {{"reference", nullptr, run_left_index}};

constexpr Kinds kBound = kNumber | kString;

constexpr Op kOps[] = {
    {.name = "[]",
     .params = {param::of("X", kMatrix | kList), param::optional("row_low", kBound),
                param::optional("row_high", kBound), param::optional("col_low", kBound),
                param::optional("col_high", kBound)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_right_index,
     .cost = cost_right_index,
     .kernels = kRightKernels,
     .doc = "X[r1:r2, c1:c2]: the rows and columns of a matrix, or the entries of a list, in a range from 1.",
     .example =
         "X = matrix(\"1 2 3 4 5 6\", 2, 3)\nprint(sum(X[1, 2:3]))  # expect: 5.0\nprint(sum(X[, 3]))  # expect: 9.0",
     .hidden = true},
    {.name = "[]=",
     .params = {param::of("X", kMatrix | kList), param::any("value"), param::optional("row_low", kBound),
                param::optional("row_high", kBound), param::optional("col_low", kBound),
                param::optional("col_high", kBound)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_left_index,
     .cost = cost_left_index,
     .kernels = kLeftKernels,
     .doc =
         "X[r1:r2, c1:c2] = value: X with the range replaced by a matrix of its size, a single cell also by a number.",
     .example = "X = matrix(0, 2, 3)\nX[1, 2:3] = matrix(4, 1, 2)\nX[2, 1] = 7\nprint(sum(X))  # expect: 15.0",
     .hidden = true},
};

}  // namespace

OpFamily index_ops() { return kOps; }

}  // namespace hopline
