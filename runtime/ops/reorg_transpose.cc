// Transpose and reshape.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/reorg.h"
#include "runtime/ops/reorg_simd.h"

namespace hopline {

namespace {

constexpr int64_t kTileCells = 4096;               // of a tile, which stays in the first-level cache
constexpr int64_t kWide = 1024;                    // columns per task
constexpr int64_t kPastCaches = int64_t{8} << 20;  // results of at least so many bytes do not stay in the caches
constexpr int64_t kGrain = 1 << 17;                // cells per task of a copy

// A strip of up to `height` rows and kWide columns, tile by tile. Large results are gathered in a buffer first, so that
// whole cache lines are written past the caches.
template <class T>
void transpose_strip(const T* in, int64_t in_stride, int64_t rows, int64_t cols, T* out, int64_t out_stride,
                     int64_t height, bool large) {
  alignas(64) T staged[kTileCells];
  const int64_t width = kTileCells / height;
  for (int64_t c = 0; c < cols; c += width) {
    const int64_t some = std::min(width, cols - c);
    if (!large) {
      tiles::transpose(in + c, in_stride, rows, some, out + c * out_stride, out_stride);
      continue;
    }
    tiles::transpose(in + c, in_stride, rows, some, staged, height);
    for (int64_t k = 0; k < some; ++k) tiles::stream(staged + k * height, rows, out + (c + k) * out_stride);
  }
  if (large) tiles::flush();
}

// Square tiles are best where the rows of the result begin at cache lines. Else a tile's ends share lines with its
// neighbours, and long tiles have fewer ends.
template <class T>
int64_t tile_height(int64_t rows, int64_t cols) {
  if (cols <= 64) return 256;
  return rows * static_cast<int64_t>(sizeof(T)) % 64 == 0 ? 64 : 128;
}

template <class T>
void transpose_dense(Context& ctx, const T* in, int64_t rows, int64_t cols, T* out) {
  const int64_t cells = rows * cols;
  if (cells <= 1 << 14) return tiles::transpose(in, cols, rows, cols, out, rows);
  const bool large = cells * static_cast<int64_t>(sizeof(T)) >= kPastCaches;
  const int64_t height = tile_height<T>(rows, cols);
  const int64_t across = (cols + kWide - 1) / kWide, down = (rows + height - 1) / height;
  parallel_chunks(across * down, 1, cells < kGrain ? 1 : ctx.threads, [&](int64_t task, int64_t) {
    const int64_t r = task / across * height, c = task % across * kWide;
    transpose_strip(in + r * cols + c, cols, std::min(height, rows - r), std::min(kWide, cols - c), out + c * rows + r,
                    rows, height, large);
  });
}

template <class T>
void copy_cells(Context& ctx, const T* in, int64_t n, T* out) {
  parallel_chunks(n, kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    std::memcpy(out + begin, in + begin, static_cast<size_t>(end - begin) * sizeof(T));
  });
}

// The cells of a dense block under other sizes.
template <class T>
MatrixRef resize_dense(Context& ctx, MatrixRef m, int64_t rows, int64_t cols) {
  if (const auto mine = own(m)) {
    mine->reshape_dense(rows, cols);
    return mine;
  }
  auto out = new_dense<T>(ctx, rows, cols);
  copy_cells(ctx, m->dense<T>(), m->cells(), out->template dense<T>());
  out->set_nnz(m->nnz_if_known());
  return out;
}

// Chunks of rows count their entries per column; the running sums tell each chunk where its entries go. The result does
// not depend on the chunks.
template <class T, class Column, class NewColumn>
void scatter_csr(Context& ctx, const MatrixBlock& m, Csr& out) {
  const Csr& s = m.csr();
  const int64_t rows = m.rows(), cols = m.cols(), nnz = m.nnz_if_known();
  const int64_t useful = std::min<int64_t>(nnz >> 16, 4 * nnz / std::max<int64_t>(1, cols));
  const int64_t chunks = std::clamp<int64_t>(useful, 1, ctx.threads), grain = (rows + chunks - 1) / chunks;
  const auto* offsets = s.offsets.as<int64_t>();
  const auto* columns = s.columns.as<Column>();
  Buffer buffer = ctx.memory.allocate(static_cast<size_t>(chunks * cols) * sizeof(int64_t));
  auto* places = buffer.as<int64_t>();
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t* counts = places + begin / grain * cols;
    std::fill_n(counts, cols, 0);
    for (int64_t k = offsets[begin]; k < offsets[end]; ++k) ++counts[columns[k]];
  });
  auto* new_offsets = out.offsets.as<int64_t>();
  const int64_t used = rows == 0 ? 0 : (rows + grain - 1) / grain;
  int64_t total = 0;
  for (int64_t c = 0; c < cols; ++c) {
    new_offsets[c] = total;
    for (int64_t p = 0; p < used; ++p) total += std::exchange(places[p * cols + c], total);
  }
  new_offsets[cols] = total;
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t* next = places + begin / grain * cols;
    for (int64_t r = begin; r < end; ++r)
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
        const int64_t at = next[columns[k]]++;
        out.columns.as<NewColumn>()[at] = static_cast<NewColumn>(r);
        out.values.as<T>()[at] = s.values.as<T>()[k];
      }
  });
}

template <class T>
MatrixRef transpose_csr(Context& ctx, const MatrixBlock& m) {
  auto out = new_sparse<T>(ctx, m.cols(), m.rows(), m.nnz_if_known());
  Csr& to = out->csr();
  if (m.csr().wide)
    to.wide ? scatter_csr<T, int64_t, int64_t>(ctx, m, to) : scatter_csr<T, int64_t, int32_t>(ctx, m, to);
  else
    to.wide ? scatter_csr<T, int32_t, int64_t>(ctx, m, to) : scatter_csr<T, int32_t, int32_t>(ctx, m, to);
  return out;
}

bool is_vector(int64_t rows, int64_t cols) { return rows == 1 || cols == 1; }

// A virtual block whose row-major cells stay the same under the new sizes; null where they must be computed.
MatrixRef resize_virtual(Context& ctx, const MatrixBlock& m, int64_t rows, int64_t cols) {
  Virtual rule = m.cells_rule();
  if (auto* s = std::get_if<Sequence>(&rule)) {
    if (!is_vector(rows, cols)) return nullptr;
    s->across = cols != 1;
  }
  return new_virtual(ctx, rows, cols, rule, m.nnz_if_known());
}

// Entries of a CSR block under other sizes: their row-major order stays.
template <class T, class Column, class NewColumn>
void resize_csr(const MatrixBlock& m, int64_t cols, Csr& out, int64_t rows) {
  const Csr& s = m.csr();
  const auto* offsets = s.offsets.as<int64_t>();
  auto* new_offsets = out.offsets.as<int64_t>();
  int64_t filled = 0;  // rows of the result that are begun
  new_offsets[0] = 0;
  for (int64_t r = 0; r < m.rows(); ++r)
    for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
      const int64_t e = r * m.cols() + s.columns.as<Column>()[k], row = e / cols;
      while (filled < row) new_offsets[++filled] = k;
      out.columns.as<NewColumn>()[k] = static_cast<NewColumn>(e - row * cols);
      out.values.as<T>()[k] = s.values.as<T>()[k];
    }
  while (filled < rows) new_offsets[++filled] = m.nnz_if_known();
}

template <class T>
MatrixRef reshape_by_row(Context& ctx, MatrixRef m, int64_t rows, int64_t cols) {
  if (m->rows() == rows && m->cols() == cols) return m;
  if (m->is_virtual())
    if (MatrixRef out = resize_virtual(ctx, *m, rows, cols)) return out;
  if (m->is_sparse() && cols > 1) {
    auto out = new_sparse<T>(ctx, rows, cols, m->nnz_if_known());
    Csr& to = out->csr();
    if (m->csr().wide)
      to.wide ? resize_csr<T, int64_t, int64_t>(*m, cols, to, rows)
              : resize_csr<T, int64_t, int32_t>(*m, cols, to, rows);
    else
      to.wide ? resize_csr<T, int32_t, int64_t>(*m, cols, to, rows)
              : resize_csr<T, int32_t, int32_t>(*m, cols, to, rows);
    return out;
  }
  if (m->is_dense()) return resize_dense<T>(ctx, std::move(m), rows, cols);
  return resize_dense<T>(ctx, to_dense<T>(ctx, m), rows, cols);
}

}  // namespace

std::shared_ptr<MatrixBlock> own(MatrixRef& m) {
  if (m.use_count() != 1) return nullptr;
  return std::const_pointer_cast<MatrixBlock>(std::move(m));
}

template <class T>
MatrixRef transpose(Context& ctx, MatrixRef m) {
  const int64_t rows = m->rows(), cols = m->cols();
  if (is_vector(rows, cols) || m->cells() == 0) return reshape_by_row<T>(ctx, std::move(m), cols, rows);
  if (m->is_virtual()) {
    if (std::holds_alternative<Constant>(m->cells_rule()))
      return new_virtual(ctx, cols, rows, m->cells_rule(), m->nnz_if_known());
    m = materialize<T>(ctx, m);
  }
  if (m->is_sparse()) return transpose_csr<T>(ctx, *m);
  auto out = new_dense<T>(ctx, cols, rows);
  transpose_dense(ctx, m->dense<T>(), rows, cols, out->template dense<T>());
  out->set_nnz(m->nnz_if_known());
  return out;
}

template <class T>
MatrixRef reshape(Context& ctx, MatrixRef m, int64_t rows, int64_t cols, bool by_row) {
  if (by_row || m->cells() == 0 || (is_vector(m->rows(), m->cols()) && is_vector(rows, cols)))
    return reshape_by_row<T>(ctx, std::move(m), rows, cols);
  if (m->rows() == rows && m->cols() == cols) return m;
  return transpose<T>(ctx, reshape_by_row<T>(ctx, transpose<T>(ctx, std::move(m)), cols, rows));
}

template MatrixRef transpose<double>(Context&, MatrixRef);
template MatrixRef transpose<float>(Context&, MatrixRef);
template MatrixRef reshape<double>(Context&, MatrixRef, int64_t, int64_t, bool);
template MatrixRef reshape<float>(Context&, MatrixRef, int64_t, int64_t, bool);

}  // namespace hopline
