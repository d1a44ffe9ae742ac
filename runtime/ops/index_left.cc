// Left indexing, X[r1:r2, c1:c2] = value: in place where X has one owner.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/block_simd.h"
#include "runtime/ops/index.h"
#include "runtime/ops/list.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

constexpr size_t kTarget = 0, kValue = 1, kRowLow = 2, kColLow = 4;
constexpr int64_t kGrain = 1 << 16;                 // cells per task
constexpr int64_t kSmallTarget = int64_t{1} << 20;  // a target of so few bytes is always dense

struct Place {
  IndexRange rows, cols;
  bool one_cell() const { return rows.size == 1 && cols.size == 1; }
};

// ---- into a dense target

template <class T>
void write_sparse_rows(const MatrixBlock& v, int64_t begin, int64_t end, T* to, int64_t stride) {
  const auto scatter = [&](const auto& rows) {
    for (int64_t r = begin; r < end; ++r) {
      std::fill_n(to + r * stride, v.cols(), T{0});
      const auto row = rows[r];
      for (int64_t k = 0; k < row.count; ++k) to[r * stride + row.columns[k]] = row.values[k];
    }
  };
  if (has_wide_columns(v))
    scatter(SparseRows<T, int64_t>(v));
  else
    scatter(SparseRows<T, int32_t>(v));
}

// Rows [begin, end) of v into rows of `stride` cells.
template <class T>
void write_rows(const MatrixBlock& v, int64_t begin, int64_t end, T* to, int64_t stride) {
  const int64_t width = v.cols();
  if (v.is_sparse()) return write_sparse_rows(v, begin, end, to, stride);
  if (width == stride) {
    if (v.is_virtual())
      read_cells(v, begin * width, end * width, to + begin * width);
    else
      std::memcpy(to + begin * width, v.dense<T>() + begin * width,
                  static_cast<size_t>((end - begin) * width) * sizeof(T));
    return;
  }
  for (int64_t r = begin; r < end; ++r) {
    if (v.is_virtual())
      read_cells(v, r * width, (r + 1) * width, to + r * stride);
    else if (width == 1)
      to[r * stride] = v.dense<T>()[r];
    else
      std::memcpy(to + r * stride, v.dense<T>() + r * width, static_cast<size_t>(width) * sizeof(T));
  }
}

template <class T>
void write_dense(Call& call, MatrixBlock& x, const Place& at) {
  T* to = x.dense<T>() + at.rows.begin * x.cols() + at.cols.begin;
  if (!call.is_matrix(kValue)) {
    *to = static_cast<T>(call.real(kValue));
    return;
  }
  const MatrixBlock& v = call.matrix(kValue);
  if (v.cells() <= kGrain) return write_rows(v, 0, v.rows(), to, x.cols());
  parallel_chunks(v.rows(), std::max<int64_t>(1, kGrain / v.cols()), call.ctx.threads,
                  [&](int64_t begin, int64_t end) { write_rows(v, begin, end, to, x.cols()); });
}

// ---- into a sparse target

// Calls use(row, entries, columns from 0, values) for each row of the value.
template <class T, class Column, class Use>
void each_sparse_row(const MatrixBlock& v, int64_t first_column, const Use& use) {
  std::vector<Column> columns;
  std::vector<T> cells, values;
  const auto rebase = [&](const auto& rows) {
    for (int64_t r = 0; r < v.rows(); ++r) {
      const auto row = rows[r];
      columns.resize(static_cast<size_t>(row.count));
      for (int64_t k = 0; k < row.count; ++k)
        columns[static_cast<size_t>(k)] = static_cast<Column>(first_column + row.columns[k]);
      use(r, row.count, columns.data(), row.values);
    }
  };
  if (v.is_sparse()) return has_wide_columns(v) ? rebase(SparseRows<T, int64_t>(v)) : rebase(SparseRows<T, int32_t>(v));
  const int64_t width = v.cols();
  columns.resize(static_cast<size_t>(width)), values.resize(static_cast<size_t>(width));
  if (v.is_virtual()) cells.resize(static_cast<size_t>(width));
  for (int64_t r = 0; r < v.rows(); ++r) {
    const T* row = cells.data();
    if (v.is_virtual())
      read_cells(v, r * width, (r + 1) * width, cells.data());
    else
      row = v.dense<T>() + r * width;
    use(r, cells::collect(row, width, first_column, columns.data(), values.data()), columns.data(), values.data());
  }
}

template <class T, class Column>
void write_growing(Call& call, MatrixBlock& x, const Place& at) {
  GrowingRows& rows = x.grow(call.ctx.memory);
  int64_t change = 0;
  const int64_t begin = at.cols.begin, end = begin + at.cols.size;
  if (call.is_matrix(kValue)) {
    each_sparse_row<T, Column>(call.matrix(kValue), begin,
                               [&](int64_t r, int64_t n, const Column* columns, const T* values) {
                                 change += rows.replace(at.rows.begin + r, begin, end, columns, values, n);
                               });
  } else {
    const T value = static_cast<T>(call.real(kValue));
    const auto column = static_cast<Column>(begin);
    change = rows.replace(at.rows.begin, begin, end, &column, &value, value == 0 ? 0 : 1);
  }
  x.set_nnz(x.nnz_if_known() + change);
}

template <class T>
void write_sparse(Call& call, MatrixBlock& x, const Place& at) {
  if (has_wide_columns(x))
    write_growing<T, int64_t>(call, x, at);
  else
    write_growing<T, int32_t>(call, x, at);
}

// ---- the target

bool overflows(int64_t rows, int64_t cols, size_t width, int64_t& bytes) {
  return __builtin_mul_overflow(rows, cols, &bytes) ||
         __builtin_mul_overflow(bytes, static_cast<int64_t>(width), &bytes);
}

// Should a target of zeros be dense? Yes where that leaves most of the memory free.
template <class T>
bool dense_is_affordable(const Context& ctx, const MatrixBlock& m) {
  int64_t bytes = 0;
  if (overflows(m.rows(), m.cols(), sizeof(T), bytes)) return false;
  return bytes <= std::max(kSmallTarget, (ctx.memory.limit() - ctx.memory.counters().live) / 4);
}

// A sparse target that is small, or nearly as large as its dense form, becomes dense.
template <class T>
bool dense_is_better(const MatrixBlock& m) {
  int64_t bytes = 0;
  if (overflows(m.rows(), m.cols(), sizeof(T), bytes)) return false;
  return bytes <= kSmallTarget ||
         (m.cols() > 1 && static_cast<double>(m.nnz_if_known()) >= kSparse * static_cast<double>(m.cells()));
}

template <class T>
std::shared_ptr<MatrixBlock> copy_dense(Context& ctx, const MatrixBlock& m) {
  auto out = new_dense<T>(ctx, m.rows(), m.cols());
  T* to = out->template dense<T>();
  parallel_chunks(m.cells(), kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, m.dense<T>() + begin, static_cast<size_t>(end - begin) * sizeof(T));
  });
  return out;
}

template <class T>
std::shared_ptr<MatrixBlock> copy_sparse(Context& ctx, const MatrixBlock& m) {
  auto out = new_sparse<T>(ctx, m.rows(), m.cols(), m.nnz_if_known());
  const Csr& from = m.csr();
  Csr& to = out->csr();
  const auto nnz = static_cast<size_t>(m.nnz_if_known());
  std::memcpy(to.offsets.template as<char>(), from.offsets.as<char>(),
              static_cast<size_t>(m.rows() + 1) * sizeof(int64_t));
  std::memcpy(to.columns.template as<char>(), from.columns.as<char>(), nnz * (from.wide ? 8 : 4));
  std::memcpy(to.values.template as<char>(), from.values.as<char>(), nnz * sizeof(T));
  return out;
}

std::shared_ptr<MatrixBlock> unshare(MatrixRef m) { return std::const_pointer_cast<MatrixBlock>(std::move(m)); }

// The target for writing: dense, or sparse with growing rows. Without `mine` it is a copy.
template <class T>
std::shared_ptr<MatrixBlock> writable(Context& ctx, const MatrixRef& m, std::shared_ptr<MatrixBlock> mine) {
  const MatrixBlock& x = mine != nullptr ? *mine : *m;
  if (x.is_dense()) return mine != nullptr ? mine : copy_dense<T>(ctx, x);
  const MatrixRef ref = mine != nullptr ? MatrixRef(mine) : m;
  if (x.is_sparse()) {
    if (x.growing() == nullptr || mine == nullptr)
      if (dense_is_better<T>(x)) return unshare(to_dense<T>(ctx, ref));
    return mine != nullptr ? mine : copy_sparse<T>(ctx, x);
  }
  if (x.nnz_if_known() == 0 && !dense_is_affordable<T>(ctx, x)) {
    Csr empty;
    empty.wide = x.cols() > INT32_MAX;
    auto out = std::make_shared<MatrixBlock>(x.rows(), x.cols(), precision_of<T>, std::move(empty), 0);
    out->grow(ctx.memory);
    return out;
  }
  if (x.nnz_if_known() != 0 && virtual_is_sparse(x)) {
    const MatrixRef drawn = to_sparse<T>(ctx, ref);
    return unshare(dense_is_better<T>(*drawn) ? to_dense<T>(ctx, drawn) : drawn);
  }
  return unshare(to_dense<T>(ctx, ref));
}

template <class T>
void write(Call& call, const Place& at) {
  std::shared_ptr<MatrixBlock> mine = call.take(kTarget);
  const MatrixRef shared = mine != nullptr ? MatrixRef() : call.matrix_ref(kTarget);
  std::shared_ptr<MatrixBlock> x = writable<T>(call.ctx, shared, std::move(mine));
  if (x->is_dense()) {
    write_dense<T>(call, *x, at);
  } else {
    write_sparse<T>(call, *x, at);
    if (dense_is_better<T>(*x)) return call.set(to_dense<T>(call.ctx, x));
  }
  call.set(std::move(x));
}

// What is written must have the sizes of the place.
void check_value(const Call& call, const Place& at) {
  if (call.is_matrix(kValue)) {
    const MatrixBlock& v = call.matrix(kValue);
    if (v.rows() != at.rows.size || v.cols() != at.cols.size)
      call.fail("Invalid sizes for left indexing: expected a matrix of {}x{}, found {}", at.rows.size, at.cols.size,
                dims(v.meta()));
  } else if (!at.one_cell()) {
    call.fail("Invalid index range of scalar leftindexing: expected a single cell, found {}x{}", at.rows.size,
              at.cols.size);
  }
}

}  // namespace

void infer_left_index(InferCall& c) {
  check_index_kinds(c, kRowLow);
  const Meta &x = c.in[kTarget], &value = c.in[kValue];
  if (x.kind == Kind::list) {
    c.out[0] = {Kind::list, x.rows, 1, -1, -1};
    return;
  }
  const int64_t rows = index_size(c, kRowLow, x.rows, "rows"), cols = index_size(c, kColLow, x.cols, "columns");
  c.out[0] = matrix_meta(x.rows, x.cols);
  if (value.kind == Kind::matrix) {
    const auto differ = [](int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; };
    if (differ(rows, value.rows) || differ(cols, value.cols))
      c.fail("Invalid sizes for left indexing: expected a matrix of {}, found {}", dims(matrix_meta(rows, cols)),
             dims(value));
  } else if (!is_number(value.kind) && value.kind != Kind::boolean) {
    c.fail("Invalid value for left indexing: expected a matrix or a number, found {}", name(value.kind));
  } else if (rows > 1 || cols > 1) {
    c.fail("Invalid index range of scalar leftindexing: expected a single cell, found {}",
           dims(matrix_meta(rows, cols)));
  }
}

void run_left_index(Call& call) {
  if (call.kind(kTarget) == Kind::list) {
    const bool own_value = call.in[kTarget] == call.in[kValue];  // L[1] = L: the slot must keep the list
    Value list = own_value ? *call.in[kTarget] : call.take_value(kTarget);
    call.out[0] = assign_list(std::move(std::get<ListRef>(list)), call.take_value(kValue), *call.in[kRowLow],
                              *call.in[kRowLow + 1], call.span);
    return;
  }
  const MatrixBlock& x = call.matrix(kTarget);
  const Place at{index_range(call, kRowLow, x.rows(), "rows"), index_range(call, kColLow, x.cols(), "columns")};
  check_value(call, at);
  // All of the target: the value itself. This is also the only way in which the target may be its own value.
  if (call.is_matrix(kValue) && at.rows.size == x.rows() && at.cols.size == x.cols()) {
    call.out[0] = call.take_value(kValue);
    return;
  }
  if (at.rows.size == 0 || at.cols.size == 0) {
    call.out[0] = call.take_value(kTarget);
    return;
  }
  if (call.ctx.precision == Precision::f64)
    write<double>(call, at);
  else
    write<float>(call, at);
}

// In place as a rule: what is written is the value.
Cost cost_left_index(const InferCall& c) {
  const Meta& value = c.in[kValue];
  if (value.kind != Kind::matrix || !value.sizes_known()) return {0, 8, 8, 0};
  const double bytes = 8 * static_cast<double>(value.rows) * static_cast<double>(value.cols);
  return {0, bytes, bytes, 0};
}

}  // namespace hopline
