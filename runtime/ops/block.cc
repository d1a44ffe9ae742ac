// Making blocks and converting between stores.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/block_simd.h"
#include "runtime/ops/call.h"
#include "runtime/ops/random.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;  // cells per task of a conversion
constexpr int64_t kTile = 4096;      // cells of a virtual block that are made at a time

// Rows per task so that a task has about kGrain cells.
int64_t row_grain(int64_t cols) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cols)); }

size_t cell_bytes(int64_t rows, int64_t cols, size_t width) {
  HOPLINE_CHECK(rows >= 0 && cols >= 0);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, cols, &bytes) || __builtin_mul_overflow(bytes, static_cast<int64_t>(width), &bytes))
    fail(ErrorKind::resource, {}, "out of memory: a dense matrix of {}x{} cells is too large", rows, cols);
  return static_cast<size_t>(bytes);
}

template <class T>
void fill_dense_from_csr(Context& ctx, const MatrixBlock& m, T* out) {
  const Csr& s = m.csr();
  const auto* offsets = s.offsets.as<int64_t>();
  const T* values = s.values.as<T>();
  const int64_t cols = m.cols();
  const auto scatter = [&](const auto* columns) {
    parallel_chunks(m.rows(), row_grain(cols), ctx.threads, [&](int64_t begin, int64_t end) {
      std::memset(out + begin * cols, 0, static_cast<size_t>((end - begin) * cols) * sizeof(T));
      for (int64_t r = begin; r < end; ++r)
        for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) out[r * cols + columns[k]] = values[k];
    });
  };
  if (s.wide)
    scatter(s.columns.as<int64_t>());
  else
    scatter(s.columns.as<int32_t>());
}

// Calls use(first cell, count, cells) over the cells [begin, end) of a dense or virtual block, tile by tile.
template <class T, class Use>
void each_tile(const MatrixBlock& m, int64_t begin, int64_t end, const Use& use) {
  if (m.is_dense()) return use(begin, end - begin, m.dense<T>() + begin);
  T tile[kTile];
  for (int64_t e = begin; e < end; e += kTile) {
    const int64_t n = std::min(kTile, end - e);
    read_cells(m, e, e + n, tile);
    use(e, n, static_cast<const T*>(tile));
  }
}

// offsets[r + 1] = how many cells of row r are not 0; then their running sum. Returns the total.
template <class T>
int64_t count_rows(Context& ctx, const MatrixBlock& m, int64_t* offsets) {
  const int64_t rows = m.rows(), cols = m.cols();
  offsets[0] = 0;
  parallel_chunks(rows, row_grain(cols), ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t n = 0;
      each_tile<T>(m, r * cols, (r + 1) * cols,
                   [&](int64_t, int64_t count, const T* cells) { n += cells::count_nonzero(cells, count); });
      offsets[r + 1] = n;
    }
  });
  for (int64_t r = 0; r < rows; ++r) offsets[r + 1] += offsets[r];
  return offsets[rows];
}

// A dense or virtual block as CSR; `counts` holds the running counts of its rows.
template <class T>
MatrixRef compress(Context& ctx, const MatrixBlock& m, Buffer counts) {
  const int64_t rows = m.rows(), cols = m.cols();
  const auto* offsets = counts.as<int64_t>();
  auto out = new_sparse<T>(ctx, rows, cols, offsets[rows]);
  Csr& s = out->csr();
  T* values = s.values.template as<T>();
  const auto fill = [&](auto* columns) {
    parallel_chunks(rows, row_grain(cols), ctx.threads, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t k = offsets[r];
        each_tile<T>(m, r * cols, (r + 1) * cols, [&](int64_t e, int64_t n, const T* cells) {
          k += cells::collect(cells, n, e - r * cols, columns + k, values + k);
        });
      }
    });
  };
  if (s.wide)
    fill(s.columns.as<int64_t>());
  else
    fill(s.columns.as<int32_t>());
  s.offsets = std::move(counts);
  return out;
}

template <class T>
MatrixRef count_and_compress(Context& ctx, const MatrixBlock& m) {
  Buffer counts = ctx.memory.allocate(static_cast<size_t>(m.rows() + 1) * sizeof(int64_t));
  m.set_nnz(count_rows<T>(ctx, m, counts.as<int64_t>()));
  return compress<T>(ctx, m, std::move(counts));
}

// Looks at 64 evenly spaced runs of a large block: is it dense beyond doubt? Depends on the cells alone.
template <class T>
bool clearly_dense(const MatrixBlock& m) {
  constexpr int64_t kRuns = 64, kRun = 1024;
  if (m.cells() < 16 * kRuns * kRun) return false;
  const int64_t stride = (m.cells() - kRun) / (kRuns - 1);
  int64_t n = 0;
  for (int64_t i = 0; i < kRuns; ++i) n += cells::count_nonzero(m.dense<T>() + i * stride, kRun);
  return n > kRuns * kRun * 6 / 10;
}

}  // namespace

template <class T>
std::shared_ptr<MatrixBlock> new_dense(Context& ctx, int64_t rows, int64_t cols) {
  Dense d{ctx.memory.allocate(cell_bytes(rows, cols, sizeof(T)))};
  return std::make_shared<MatrixBlock>(rows, cols, precision_of<T>, std::move(d));
}

template <class T>
std::shared_ptr<MatrixBlock> new_sparse(Context& ctx, int64_t rows, int64_t cols, int64_t nnz) {
  HOPLINE_CHECK(cols >= 0);
  Csr s;
  s.wide = cols > INT32_MAX;
  s.offsets = ctx.memory.allocate(cell_bytes(rows, 1, sizeof(int64_t)) + sizeof(int64_t));
  s.columns = ctx.memory.allocate(cell_bytes(nnz, 1, s.wide ? 8 : 4));
  s.values = ctx.memory.allocate(cell_bytes(nnz, 1, sizeof(T)));
  return std::make_shared<MatrixBlock>(rows, cols, precision_of<T>, std::move(s), nnz);
}

MatrixRef new_virtual(Context& ctx, int64_t rows, int64_t cols, Virtual cells, int64_t nnz) {
  return std::make_shared<MatrixBlock>(rows, cols, ctx.precision, std::move(cells), nnz);
}

MatrixRef new_constant(Context& ctx, int64_t rows, int64_t cols, double value) {
  if (ctx.precision == Precision::f32) value = static_cast<float>(value);
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
  if (m->nnz_if_known() == 0) {
    auto out = new_sparse<T>(ctx, m->rows(), m->cols(), 0);
    std::fill_n(out->csr().offsets.template as<int64_t>(), m->rows() + 1, 0);
    return out;
  }
  if (m->is_virtual())
    if (const auto* r = std::get_if<Random>(&m->cells_rule());
        r != nullptr && r->sparsity < 1 && r->distribution != Distribution::poisson)
      // Null where a kept cell is 0 by chance: then as any other block.
      if (MatrixRef drawn = draw_sparse<T>(ctx, *m)) return drawn;
  return count_and_compress<T>(ctx, *m);
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
    each_tile<T>(m, begin, end,
                 [&](int64_t, int64_t count, const T* cells) { n += cells::count_nonzero(cells, count); });
    total.fetch_add(n, std::memory_order_relaxed);
  });
  m.set_nnz(total);
  return total;
}

template <class T>
MatrixRef settle(Context& ctx, std::shared_ptr<MatrixBlock> m) {
  const int64_t cols = m->cols(), known = m->nnz_if_known();
  const auto pays = [&](int64_t nnz) {
    return cols > 1 && static_cast<double>(nnz) < kSparse * static_cast<double>(m->cells());
  };
  if (m->is_virtual()) return m;
  if (m->is_sparse()) return pays(known) ? MatrixRef(std::move(m)) : to_dense<T>(ctx, m);
  if (cols <= 1 || (known >= 0 ? !pays(known) : clearly_dense<T>(*m))) return m;
  Buffer counts = ctx.memory.allocate(static_cast<size_t>(m->rows() + 1) * sizeof(int64_t));
  m->set_nnz(count_rows<T>(ctx, *m, counts.as<int64_t>()));
  if (!pays(m->nnz_if_known())) return m;
  return compress<T>(ctx, *m, std::move(counts));
}

#define HOPLINE_INSTANTIATE(T)                                                              \
  template std::shared_ptr<MatrixBlock> new_dense<T>(Context&, int64_t, int64_t);           \
  template std::shared_ptr<MatrixBlock> new_sparse<T>(Context&, int64_t, int64_t, int64_t); \
  template MatrixRef to_dense<T>(Context&, const MatrixRef&);                               \
  template MatrixRef to_sparse<T>(Context&, const MatrixRef&);                              \
  template MatrixRef materialize<T>(Context&, const MatrixRef&);                            \
  template int64_t count_nnz<T>(Context&, const MatrixBlock&);                              \
  template MatrixRef settle<T>(Context&, std::shared_ptr<MatrixBlock>);
HOPLINE_INSTANTIATE(double)
HOPLINE_INSTANTIATE(float)
#undef HOPLINE_INSTANTIATE

}  // namespace hopline
