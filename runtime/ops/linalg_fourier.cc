// Fourier transforms of sizes that are powers of two, in double whatever the run's precision.
#include <sleef.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/linalg.h"

namespace hopline {

namespace {

// Everything that transforms of one length share.
struct Transform {
  Transform(int64_t length, bool inverted) : n(length), inverse(inverted) {
    cosines.resize(static_cast<size_t>(n / 2)), sines.resize(cosines.size());
    for (int64_t i = 0; i < n / 2; ++i) {
      // Without fused operations, so that every CPU gets the same factors.
      const Sleef_double_2 sc = Sleef_cinz_sincospid1_u05purec(2.0 * static_cast<double>(i) / static_cast<double>(n));
      sines[i] = inverse ? sc.x : -sc.x;
      cosines[i] = sc.y;
    }
  }
  int64_t n;
  bool inverse;
  std::vector<double> cosines, sines;
};

void reverse_bits(int64_t n, double* re, double* im) {
  for (int64_t i = 1, j = 0; i < n; ++i) {
    int64_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(re[i], re[j]), std::swap(im[i], im[j]);
  }
}

// In place; the inverse is not scaled.
void transform(const Transform& t, double* re, double* im) {
  reverse_bits(t.n, re, im);
  for (int64_t half = 1; half < t.n; half *= 2) {
    const int64_t step = t.n / (2 * half);
    for (int64_t begin = 0; begin < t.n; begin += 2 * half)
      for (int64_t i = 0; i < half; ++i) {
        const double c = t.cosines[i * step], s = t.sines[i * step];
        const int64_t lo = begin + i, hi = lo + half;
        const double x = re[hi] * c - im[hi] * s, y = re[hi] * s + im[hi] * c;
        re[hi] = re[lo] - x, im[hi] = im[lo] - y;
        re[lo] += x, im[lo] += y;
      }
  }
}

struct Lines {
  int64_t count, length;  // lines, and the cells of each
  int64_t next, step;     // cells from line to line and from cell to cell
};

// Transforms every line of the two matrices; eight lines at a time share the cache lines of a column walk.
template <class T>
void transform_lines(const Call& call, const Lines& lines, bool inverse, double factor, T* re, T* im) {
  if (lines.count == 0 || lines.length == 0) return;
  const Transform t(lines.length, inverse);
  constexpr int64_t kTogether = 8;
  const int64_t grain = std::max<int64_t>(kTogether, (1 << 14) / lines.length / kTogether * kTogether);
  parallel_chunks(lines.count, grain, call.ctx.threads, [&](int64_t begin, int64_t end) {
    Buffer buffer = call.ctx.memory.allocate(static_cast<size_t>(2 * kTogether * t.n) * sizeof(double));
    double *real = buffer.as<double>(), *imaginary = real + kTogether * t.n;
    for (int64_t first = begin; first < end; first += kTogether) {
      if (call.ctx.session != nullptr) call.ctx.session->poll(call.span);
      const int64_t together = std::min(kTogether, end - first);
      const auto cell = [&](int64_t line, int64_t i) { return (first + line) * lines.next + i * lines.step; };
      for (int64_t i = 0; i < t.n; ++i)
        for (int64_t l = 0; l < together; ++l) {
          real[l * t.n + i] = static_cast<double>(re[cell(l, i)]);
          imaginary[l * t.n + i] = static_cast<double>(im[cell(l, i)]);
        }
      for (int64_t l = 0; l < together; ++l) transform(t, real + l * t.n, imaginary + l * t.n);
      for (int64_t i = 0; i < t.n; ++i)
        for (int64_t l = 0; l < together; ++l) {
          re[cell(l, i)] = static_cast<T>(real[l * t.n + i] * factor);
          im[cell(l, i)] = static_cast<T>(imaginary[l * t.n + i] * factor);
        }
    }
  });
}

// The imaginary part of the input, zeros where it is not given.
template <class T>
std::shared_ptr<MatrixBlock> imaginary_part(Call& call, size_t i, int64_t rows, int64_t cols) {
  if (call.has(i)) return writable_dense<T>(call, i);
  auto out = new_dense<T>(call.ctx, rows, cols);
  std::fill_n(out->template dense<T>(), rows * cols, T{0});
  return out;
}

void transform_matrix(Call& call, bool inverse, bool both_ways) {
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const int64_t rows = call.matrix(0).rows(), cols = call.matrix(0).cols();
    auto im_block = imaginary_part<T>(call, 1, rows, cols), re_block = writable_dense<T>(call, 0);
    T *re = re_block->template dense<T>(), *im = im_block->template dense<T>();
    const auto scale = [&](int64_t n) { return inverse ? 1 / static_cast<double>(n) : 1.0; };
    if (cols > 1) transform_lines(call, {rows, cols, cols, 1}, inverse, scale(cols), re, im);
    if (both_ways && rows > 1) transform_lines(call, {cols, rows, 1, cols}, inverse, scale(rows), re, im);
    call.set(re_block, 0);
    call.set(im_block, 1);
  });
}

}  // namespace

void fft_kernel(Call& call) { transform_matrix(call, false, true); }
void inverse_fft_kernel(Call& call) { transform_matrix(call, true, true); }
void fft_rows_kernel(Call& call) { transform_matrix(call, false, false); }
void inverse_fft_rows_kernel(Call& call) { transform_matrix(call, true, false); }

// Each row in frames of `window` cells, each of which begins window - overlap cells behind the one before; the last
// ones are filled up with zeros.
void stft_kernel(Call& call) {
  const size_t options = call.in.size() - 2;
  const int64_t window = call.integer(options), overlap = call.integer(options + 1);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    const int64_t rows = call.matrix(0).rows(), cols = call.matrix(0).cols(), step = window - overlap;
    const int64_t frames = std::max<int64_t>(0, (cols - overlap + step - 1) / step), width = frames * window;
    auto re_block = new_dense<T>(call.ctx, rows, width), im_block = new_dense<T>(call.ctx, rows, width);
    T* out[] = {re_block->template dense<T>(), im_block->template dense<T>()};
    for (size_t part = 0; part < 2; ++part) {
      std::fill_n(out[part], rows * width, T{0});
      if (part == 1 && options == 1) break;
      const MatrixRef source = to_dense<T>(call.ctx, call.matrix_ref(part));
      const T* cells = source->template dense<T>();
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t f = 0; f < frames; ++f)
          std::copy_n(cells + i * cols + f * step, std::min(window, cols - f * step),
                      out[part] + i * width + f * window);
    }
    transform_lines(call, {rows * frames, window, window, 1}, false, 1.0, out[0], out[1]);
    call.set(re_block, 0);
    call.set(im_block, 1);
  });
}

}  // namespace hopline
