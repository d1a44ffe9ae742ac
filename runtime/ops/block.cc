// Making blocks and converting between stores.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;  // cells per task of a conversion

// Rows per task so that a task has about kGrain cells.
int64_t row_grain(int64_t cols) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cols)); }

template <class T>
void fill_dense_from_csr(Context& ctx, const MatrixBlock& m, T* out) {
  const Csr& s = m.csr();
  const auto* offsets = s.offsets.as<int64_t>();
  const T* values = s.values.as<T>();
  const int64_t cols = m.cols();
  parallel_chunks(m.rows(), row_grain(cols), ctx.threads, [&](int64_t begin, int64_t end) {
    std::memset(out + begin * cols, 0, static_cast<size_t>((end - begin) * cols) * sizeof(T));
    for (int64_t r = begin; r < end; ++r)
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k)
        out[r * cols + (s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k])] = values[k];
  });
}

// Two passes over row chunks: count, then fill. read(row, T* cells) returns the cells of a row, in place or in `cells`.
template <class T, class Read>
MatrixRef compress(Context& ctx, int64_t rows, int64_t cols, const Read& read) {
  Buffer counts = ctx.memory.allocate(static_cast<size_t>(rows + 1) * sizeof(int64_t));
  auto* offsets = counts.as<int64_t>();
  const int64_t grain = row_grain(cols);
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    std::vector<T> cells(static_cast<size_t>(cols));
    for (int64_t r = begin; r < end; ++r) {
      const T* row = read(r, cells.data());
      int64_t n = 0;
      for (int64_t c = 0; c < cols; ++c) n += row[c] != 0;
      offsets[r + 1] = n;
    }
  });
  offsets[0] = 0;
  for (int64_t r = 0; r < rows; ++r) offsets[r + 1] += offsets[r];
  auto out = new_sparse<T>(ctx, rows, cols, offsets[rows]);
  Csr& s = out->csr();
  s.offsets = std::move(counts);
  T* values = s.values.template as<T>();
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    std::vector<T> cells(static_cast<size_t>(cols));
    for (int64_t r = begin; r < end; ++r) {
      const T* row = read(r, cells.data());
      int64_t k = offsets[r];
      for (int64_t c = 0; c < cols; ++c) {
        if (row[c] == 0) continue;
        if (s.wide)
          s.columns.as<int64_t>()[k] = c;
        else
          s.columns.as<int32_t>()[k] = static_cast<int32_t>(c);
        values[k++] = row[c];
      }
    }
  });
  return out;
}

}  // namespace

template <class T>
std::shared_ptr<MatrixBlock> new_dense(Context& ctx, int64_t rows, int64_t cols) {
  Dense d{ctx.memory.allocate(static_cast<size_t>(rows * cols) * sizeof(T))};
  return std::make_shared<MatrixBlock>(rows, cols, precision_of<T>, std::move(d));
}

template <class T>
std::shared_ptr<MatrixBlock> new_sparse(Context& ctx, int64_t rows, int64_t cols, int64_t nnz) {
  Csr s;
  s.wide = cols > INT32_MAX;
  s.offsets = ctx.memory.allocate(static_cast<size_t>(rows + 1) * sizeof(int64_t));
  s.columns = ctx.memory.allocate(static_cast<size_t>(nnz) * (s.wide ? 8 : 4));
  s.values = ctx.memory.allocate(static_cast<size_t>(nnz) * sizeof(T));
  return std::make_shared<MatrixBlock>(rows, cols, precision_of<T>, std::move(s), nnz);
}

MatrixRef new_virtual(Context& ctx, int64_t rows, int64_t cols, Virtual cells, int64_t nnz) {
  return std::make_shared<MatrixBlock>(rows, cols, ctx.precision, std::move(cells), nnz);
}

MatrixRef new_constant(Context& ctx, int64_t rows, int64_t cols, double value) {
  return new_virtual(ctx, rows, cols, Constant{value}, value == 0 ? 0 : rows * cols);
}

MatrixRef new_zeros(Context& ctx, int64_t rows, int64_t cols) { return new_constant(ctx, rows, cols, 0); }

template <class T>
MatrixRef to_dense(Context& ctx, const MatrixRef& m) {
  if (m->is_dense()) return m;
  auto out = new_dense<T>(ctx, m->rows(), m->cols());
  T* cells = out->template dense<T>();
  if (m->is_sparse())
    fill_dense_from_csr(ctx, *m, cells);
  else
    parallel_chunks(m->cells(), kGrain, ctx.threads,
                    [&](int64_t begin, int64_t end) { read_cells(*m, begin, end, cells + begin); });
  out->set_nnz(m->nnz_if_known());
  return out;
}

template <class T>
MatrixRef to_sparse(Context& ctx, const MatrixRef& m) {
  if (m->is_sparse()) return m;
  const int64_t cols = m->cols();
  if (m->is_dense()) {
    const T* cells = m->dense<T>();
    return compress<T>(ctx, m->rows(), cols, [=](int64_t r, T*) { return cells + r * cols; });
  }
  if (m->nnz_if_known() == 0) {
    auto out = new_sparse<T>(ctx, m->rows(), cols, 0);
    std::fill_n(out->csr().offsets.template as<int64_t>(), m->rows() + 1, 0);
    return out;
  }
  return compress<T>(ctx, m->rows(), cols, [&](int64_t r, T* cells) {
    read_cells(*m, r * cols, (r + 1) * cols, cells);
    return static_cast<const T*>(cells);
  });
}

template <class T>
MatrixRef materialize(Context& ctx, const MatrixRef& m) {
  if (!m->is_virtual()) return m;
  return virtual_is_sparse(*m) ? to_sparse<T>(ctx, m) : to_dense<T>(ctx, m);
}

template <class T>
int64_t count_nnz(Context& ctx, const MatrixBlock& m) {
  if (m.nnz_if_known() >= 0) return m.nnz_if_known();
  std::atomic<int64_t> total{0};
  parallel_chunks(m.cells(), kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t n = 0;
    if (m.is_dense()) {
      const T* cells = m.dense<T>();
      for (int64_t i = begin; i < end; ++i) n += cells[i] != 0;
    } else {
      T tile[512];
      for (int64_t i = begin; i < end; i += 512) {
        const int64_t stop = std::min(end, i + 512);
        read_cells(m, i, stop, tile);
        for (int64_t k = 0; k < stop - i; ++k) n += tile[k] != 0;
      }
    }
    total += n;
  });
  m.set_nnz(total);
  return total;
}

template <class T>
MatrixRef settle(Context& ctx, std::shared_ptr<MatrixBlock> m) {
  const int64_t nnz = count_nnz<T>(ctx, *m);
  const bool sparse = m->cols() > 1 && static_cast<double>(nnz) < kSparse * static_cast<double>(m->cells());
  MatrixRef ref = std::move(m);
  return sparse ? to_sparse<T>(ctx, ref) : to_dense<T>(ctx, ref);
}

#define HOPLINE_INSTANTIATE(T)                                                                     \
  template std::shared_ptr<MatrixBlock> new_dense<T>(Context&, int64_t, int64_t);                  \
  template std::shared_ptr<MatrixBlock> new_sparse<T>(Context&, int64_t, int64_t, int64_t);        \
  template MatrixRef to_dense<T>(Context&, const MatrixRef&);                                      \
  template MatrixRef to_sparse<T>(Context&, const MatrixRef&);                                     \
  template MatrixRef materialize<T>(Context&, const MatrixRef&);                                   \
  template int64_t count_nnz<T>(Context&, const MatrixBlock&);                                     \
  template MatrixRef settle<T>(Context&, std::shared_ptr<MatrixBlock>);
HOPLINE_INSTANTIATE(double)
HOPLINE_INSTANTIATE(float)
#undef HOPLINE_INSTANTIATE

}  // namespace hopline
