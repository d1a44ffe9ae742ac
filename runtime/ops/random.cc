#include "runtime/ops/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/block_simd.h"
#include "runtime/ops/random_poisson.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

Words philox(uint64_t key, uint64_t block, uint32_t draw, uint32_t stream) {
  Words w{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), draw, stream};
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int r = 0; r < 10; ++r, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    const uint64_t p0 = uint64_t{0xD2511F53} * w[0], p1 = uint64_t{0xCD9E8D57} * w[2];
    w = {static_cast<uint32_t>(p1 >> 32) ^ w[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ w[3] ^ k1, static_cast<uint32_t>(p0)};
  }
  return w;
}

uint64_t keep_threshold(double sparsity) { return static_cast<uint64_t>(std::ceil(sparsity * 0x1p32)); }

namespace {

constexpr int64_t kTile = 1024;  // cells that stay in the first-level cache with their words

// Cells [begin, end) of a stream that gives `kPerBlock` numbers per block; whole(block, blocks, out) makes whole
// blocks.
template <int64_t kPerBlock, class T, class Whole>
void cut_blocks(int64_t begin, int64_t end, T* out, const Whole& whole) {
  T edge[kPerBlock];
  if (const int64_t skip = begin % kPerBlock; skip != 0) {
    const int64_t some = std::min(kPerBlock - skip, end - begin);
    whole(static_cast<uint64_t>(begin / kPerBlock), 1, edge);
    std::copy_n(edge + skip, some, out);
    begin += some, out += some;
  }
  const int64_t blocks = (end - begin) / kPerBlock;
  if (blocks > 0) whole(static_cast<uint64_t>(begin / kPerBlock), blocks, out);
  begin += blocks * kPerBlock, out += blocks * kPerBlock;
  if (begin < end) {
    whole(static_cast<uint64_t>(begin / kPerBlock), 1, edge);
    std::copy_n(edge, end - begin, out);
  }
}

uint32_t number(const Random& draw) { return static_cast<uint32_t>(draw.draw); }

template <class T>
void draw_uniform(const Random& r, int64_t begin, int64_t end, T* out) {
  const Interval<T> in(r.low, r.high);
  cut_blocks<2>(begin, end, out,
                [&](uint64_t block, int64_t blocks, T* to) { draw::uniform(r.key, number(r), block, blocks, in, to); });
}

void draw_normal(const Random& r, int64_t begin, int64_t end, double* out) {
  cut_blocks<2>(begin, end, out,
                [&](uint64_t block, int64_t blocks, double* to) { draw::normal(r.key, number(r), block, blocks, to); });
}

// In single precision the normal numbers are those of double precision, rounded.
void draw_normal(const Random& r, int64_t begin, int64_t end, float* out) {
  double tile[kTile];
  for (int64_t i = begin; i < end; i += kTile) {
    const int64_t n = std::min(kTile, end - i);
    draw_normal(r, i, i + n, tile);
    for (int64_t k = 0; k < n; ++k) out[i - begin + k] = static_cast<float>(tile[k]);
  }
}

template <class T>
void draw_poisson(const Random& r, int64_t begin, int64_t end, T* out) {
  constexpr auto kStream = static_cast<uint32_t>(Stream::poisson);
  const Poisson poisson(r.lambda, end - begin);
  uint32_t words[kTile];
  for (int64_t i = begin; i < end; i += kTile / 4) {
    const int64_t n = std::min(kTile / 4, end - i);
    draw::words(r.key, number(r), kStream, static_cast<uint64_t>(i), n, words);
    for (int64_t k = 0; k < n; ++k)
      out[i - begin + k] = static_cast<T>(poisson.cell(r.key, number(r), i + k, words + 4 * k));
  }
}

template <class T>
void draw_values(const Random& r, int64_t begin, int64_t end, T* out) {
  switch (r.distribution) {
    case Distribution::uniform:
      if (r.low == r.high) return std::fill(out, out + (end - begin), static_cast<T>(r.low));
      return draw_uniform(r, begin, end, out);
    case Distribution::normal:
      return draw_normal(r, begin, end, out);
    case Distribution::poisson:
      return draw_poisson(r, begin, end, out);
  }
}

}  // namespace

void draw_words(uint64_t key, uint64_t draw, Stream stream, int64_t begin, int64_t end, uint32_t* out) {
  cut_blocks<4>(begin, end, out, [&](uint64_t block, int64_t blocks, uint32_t* to) {
    draw::words(key, static_cast<uint32_t>(draw), static_cast<uint32_t>(stream), block, blocks, to);
  });
}

template <class T>
void draw_cells(const Random& r, int64_t begin, int64_t end, T* out) {
  if (r.sparsity >= 1) return draw_values(r, begin, end, out);
  const uint64_t threshold = keep_threshold(r.sparsity);
  const bool fixed = r.distribution == Distribution::uniform && r.low == r.high;
  uint32_t words[kTile];
  for (int64_t i = begin; i < end; i += kTile) {
    const int64_t n = std::min(kTile, end - i);
    T* tile = out + (i - begin);
    draw_words(r.key, r.draw, Stream::sparsity, i, i + n, words);
    if (fixed) {
      draw::choose(words, threshold, n, static_cast<T>(r.low), tile);
    } else {
      draw_values(r, i, i + n, tile);
      draw::keep(words, threshold, n, tile);
    }
  }
}

template <class T>
void draw_at(const Random& r, const int64_t* cells, int64_t n, T* out) {
  if (r.distribution == Distribution::uniform && r.low == r.high) return std::fill(out, out + n, static_cast<T>(r.low));
  if (r.distribution == Distribution::poisson) {
    const Poisson poisson(r.lambda, n);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(poisson.cell(r.key, number(r), cells[i]));
    return;
  }
  double tile[kTile];
  const Interval<T> in(r.low, r.high);
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t some = std::min(kTile, n - i);
    if (r.distribution == Distribution::normal) {
      draw::normal_at(r.key, number(r), cells + i, some, tile);
      for (int64_t k = 0; k < some; ++k) out[i + k] = static_cast<T>(tile[k]);
      continue;
    }
    draw::uniform_at(r.key, number(r), cells + i, some, tile);
    for (int64_t k = 0; k < some; ++k) {
      // Single precision takes the top 24 bits.
      if constexpr (sizeof(T) == 4)
        out[i + k] = in.at(static_cast<float>(static_cast<uint32_t>(tile[k] * 0x1p24)) * 0x1p-24F);
      else
        out[i + k] = in.at(tile[k]);
    }
  }
}

namespace {

// Numbers of the kept cells in [begin, end), at most kTile of them, into `kept`; returns how many.
int64_t kept_cells(const Random& r, uint64_t threshold, int64_t begin, int64_t end, int64_t* kept) {
  uint32_t words[kTile];
  draw_words(r.key, r.draw, Stream::sparsity, begin, end, words);
  return draw::kept(words, threshold, end - begin, begin, kept);
}

int64_t count_kept(const Random& r, uint64_t threshold, int64_t begin, int64_t end) {
  uint32_t words[kTile];
  int64_t n = 0;
  for (int64_t i = begin; i < end; i += kTile) {
    const int64_t stop = std::min(end, i + kTile);
    draw_words(r.key, r.draw, Stream::sparsity, i, stop, words);
    n += draw::count(words, threshold, stop - i);
  }
  return n;
}

}  // namespace

// The kept cells of rows [begin, end) at their offsets; false where one of them is 0 by chance.
template <class T, class Column>
bool fill_kept(const Random& r, uint64_t threshold, int64_t begin, int64_t end, int64_t cols, const int64_t* offsets,
               Column* columns, T* values) {
  int64_t kept[kTile], zeros = 0;
  for (int64_t row = begin; row < end; ++row) {
    int64_t k = offsets[row];
    for (int64_t e = row * cols; e < (row + 1) * cols; e += kTile) {
      const int64_t n = kept_cells(r, threshold, e, std::min((row + 1) * cols, e + kTile), kept);
      draw_at(r, kept, n, values + k);
      for (int64_t i = 0; i < n; ++i) columns[k + i] = static_cast<Column>(kept[i] - row * cols);
      zeros += n - cells::count_nonzero(values + k, n);
      k += n;
    }
  }
  return zeros == 0;
}

template <class T>
MatrixRef draw_sparse(Context& ctx, const MatrixBlock& m) {
  const Random& r = std::get<Random>(m.cells_rule());
  const uint64_t threshold = keep_threshold(r.sparsity);
  const int64_t rows = m.rows(), cols = m.cols();
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 16) / std::max<int64_t>(1, cols));
  Buffer counts = ctx.memory.allocate(static_cast<size_t>(rows + 1) * sizeof(int64_t));
  auto* offsets = counts.as<int64_t>();
  offsets[0] = 0;
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      offsets[row + 1] = count_kept(r, threshold, row * cols, (row + 1) * cols);
  });
  for (int64_t row = 0; row < rows; ++row) offsets[row + 1] += offsets[row];
  auto out = new_sparse<T>(ctx, rows, cols, offsets[rows]);
  Csr& s = out->csr();
  T* values = s.values.template as<T>();
  std::atomic<bool> zeros{false};
  parallel_chunks(rows, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    const bool whole = s.wide ? fill_kept(r, threshold, begin, end, cols, offsets, s.columns.as<int64_t>(), values)
                              : fill_kept(r, threshold, begin, end, cols, offsets, s.columns.as<int32_t>(), values);
    if (!whole) zeros = true;
  });
  s.offsets = std::move(counts);
  return zeros ? nullptr : out;
}

template void draw_cells(const Random&, int64_t, int64_t, double*);
template void draw_cells(const Random&, int64_t, int64_t, float*);
template void draw_at(const Random&, const int64_t*, int64_t, double*);
template void draw_at(const Random&, const int64_t*, int64_t, float*);
template MatrixRef draw_sparse<double>(Context&, const MatrixBlock&);
template MatrixRef draw_sparse<float>(Context&, const MatrixBlock&);

}  // namespace hopline
