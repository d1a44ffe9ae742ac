// Keyed random numbers (design 6): Philox4x32-10 with key = seed and counter = (block low, block high, draw, stream).
// A block holds four 32-bit words. Any cell can be computed alone, so tiles, threads, formats and fused operators
// agree.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "runtime/data/matrix_block.h"
#include "runtime/ops/call.h"

namespace hopline {

// Which words a cell e (row-major number) reads. This layout never changes.
enum class Stream : uint32_t {
  values = 0,    // words 2e and 2e+1: 53 bits, the first word on top; single precision: the top 24 bits of the first
  sparsity = 1,  // word e
  normal = 2,    // the pair of cells (2p, 2p+1): the four words of block p, as two 53-bit numbers
  poisson = 3,   // the four words of block e; attempt a of a rejection adds 256 * a to the stream word
};

using Words = std::array<uint32_t, 4>;
Words philox(uint64_t key, uint64_t block, uint32_t draw, uint32_t stream);

// The first word on top, 53 bits, in [0, 1).
inline double to_unit(uint32_t high, uint32_t low) {
  return static_cast<double>((static_cast<uint64_t>(high) << 32 | low) >> 11) * 0x1p-53;
}

// Cell e of a draw of uniform numbers in [0, 1).
inline double uniform_cell(uint64_t key, uint64_t draw, int64_t e) {
  const Words w = philox(key, static_cast<uint64_t>(e) >> 1, static_cast<uint32_t>(draw), 0);
  return (e & 1) != 0 ? to_unit(w[2], w[3]) : to_unit(w[0], w[1]);
}

// A cell is kept when its sparsity word is below the threshold: the least integer not below p * 2^32.
uint64_t keep_threshold(double sparsity);
inline bool keep_cell(uint64_t key, uint64_t draw, int64_t e, uint64_t threshold) {
  const Words w = philox(key, static_cast<uint64_t>(e) >> 2, static_cast<uint32_t>(draw), 1);
  return w[static_cast<size_t>(e & 3)] < threshold;
}

// [low, high): a number u in [0, 1) becomes min(low + range * u, most), where rounding would reach high.
template <class T>
struct Interval {
  T low, range, most;
  Interval(double lower, double upper)
      : low(static_cast<T>(lower)),
        range(static_cast<T>(upper) - low),
        most(std::nextafter(static_cast<T>(upper), low)) {}
  T at(T unit) const { return std::min(unit * range + low, most); }
};

// Words [begin, end) of a stream.
void draw_words(uint64_t key, uint64_t draw, Stream stream, int64_t begin, int64_t end, uint32_t* out);

// The values of n single cells of a draw, whether kept or not (sparsity is not looked at).
template <class T>
void draw_at(const Random& draw, const int64_t* cells, int64_t n, T* out);

// A sparse draw as CSR, without visiting the cells that are not kept more than once; m is a Random block.
template <class T>
MatrixRef draw_sparse(Context& ctx, const MatrixBlock& m);

// Vector kernels (random_simd.cc). Results have the same bits for every vector width.
namespace draw {
void uniform(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, const Interval<double>& in, double* out);
void uniform(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, const Interval<float>& in, float* out);
void normal(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, double* out);
void words(uint64_t key, uint32_t draw, uint32_t stream, uint64_t block, int64_t blocks, uint32_t* out);
// Single cells: their two words (uniform), or their standard normal numbers.
void uniform_at(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out);
void normal_at(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out);
// out[i] = words[i] < threshold ? out[i] : 0
void keep(const uint32_t* words, uint64_t threshold, int64_t n, double* out);
void keep(const uint32_t* words, uint64_t threshold, int64_t n, float* out);
// out[i] = words[i] < threshold ? value : 0
void choose(const uint32_t* words, uint64_t threshold, int64_t n, double value, double* out);
void choose(const uint32_t* words, uint64_t threshold, int64_t n, float value, float* out);
// Writes first + i for each word i below the threshold; returns how many.
int64_t kept(const uint32_t* words, uint64_t threshold, int64_t n, int64_t first, int64_t* out);
// How many words are below the threshold.
int64_t count(const uint32_t* words, uint64_t threshold, int64_t n);
}  // namespace draw

}  // namespace hopline
