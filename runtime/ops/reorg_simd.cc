#include "runtime/ops/reorg_simd.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/reorg_simd.cc"
#include <hwy/foreach_target.h>
// Highway's own headers come after foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hopline::tiles {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kLine = 64;  // bytes

// A square that fits in registers: kSide x kSide cells.
#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr int64_t kSide = 1;
template <class T>
HWY_INLINE void square(const T* in, int64_t, T* out, int64_t) {
  *out = *in;
}
#else
template <class T>
constexpr int64_t kSide = 32 / sizeof(T);

HWY_INLINE void square(const double* in, int64_t is, double* out, int64_t os) {
  const hn::FixedTag<double, 4> d;
  const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + is);
  const auto c = hn::LoadU(d, in + 2 * is), e = hn::LoadU(d, in + 3 * is);
  const auto ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
  const auto ce0 = hn::InterleaveLower(d, c, e), ce1 = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce0, ab0), d, out);
  hn::StoreU(hn::ConcatLowerLower(d, ce1, ab1), d, out + os);
  hn::StoreU(hn::ConcatUpperUpper(d, ce0, ab0), d, out + 2 * os);
  hn::StoreU(hn::ConcatUpperUpper(d, ce1, ab1), d, out + 3 * os);
}

HWY_INLINE void square(const float* in, int64_t is, float* out, int64_t os) {
  const hn::FixedTag<float, 8> d;
  const hn::FixedTag<double, 4> dd;
  hn::Vec<hn::FixedTag<float, 8>> quads[2][4];  // column k and k + 4 of four rows
  for (int64_t h = 0; h < 2; ++h) {
    const float* rows = in + 4 * h * is;
    const auto a = hn::LoadU(d, rows), b = hn::LoadU(d, rows + is);
    const auto c = hn::LoadU(d, rows + 2 * is), e = hn::LoadU(d, rows + 3 * is);
    const auto ab0 = hn::BitCast(dd, hn::InterleaveLower(d, a, b)), ab1 = hn::BitCast(dd, hn::InterleaveUpper(d, a, b));
    const auto ce0 = hn::BitCast(dd, hn::InterleaveLower(d, c, e)), ce1 = hn::BitCast(dd, hn::InterleaveUpper(d, c, e));
    quads[h][0] = hn::BitCast(d, hn::InterleaveLower(dd, ab0, ce0));
    quads[h][1] = hn::BitCast(d, hn::InterleaveUpper(dd, ab0, ce0));
    quads[h][2] = hn::BitCast(d, hn::InterleaveLower(dd, ab1, ce1));
    quads[h][3] = hn::BitCast(d, hn::InterleaveUpper(dd, ab1, ce1));
  }
  for (int64_t k = 0; k < 4; ++k) {
    hn::StoreU(hn::ConcatLowerLower(d, quads[1][k], quads[0][k]), d, out + k * os);
    hn::StoreU(hn::ConcatUpperUpper(d, quads[1][k], quads[0][k]), d, out + (k + 4) * os);
  }
}
#endif

template <class T>
HWY_INLINE void tile(const T* in, int64_t is, int64_t rows, int64_t cols, T* out, int64_t os) {
  constexpr int64_t kStep = kSide<T>;
  const int64_t whole_rows = rows / kStep * kStep, whole_cols = cols / kStep * kStep;
  for (int64_t r = 0; r < whole_rows; r += kStep)
    for (int64_t c = 0; c < whole_cols; c += kStep) square(in + r * is + c, is, out + c * os + r, os);
  for (int64_t c = 0; c < whole_cols; ++c)
    for (int64_t r = whole_rows; r < rows; ++r) out[c * os + r] = in[r * is + c];
  for (int64_t c = whole_cols; c < cols; ++c)
    for (int64_t r = 0; r < rows; ++r) out[c * os + r] = in[r * is + c];
}

template <class T>
HWY_INLINE void past_caches(const T* in, int64_t n, T* out) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr auto kCells = static_cast<int64_t>(kLine / sizeof(T));
  const hn::FixedTag<T, kCells / 2> d;
  for (; i < n && reinterpret_cast<uintptr_t>(out + i) % kLine != 0; ++i) out[i] = in[i];
  for (; i + kCells <= n; i += kCells) {
    hn::Stream(hn::LoadU(d, in + i), d, out + i);
    hn::Stream(hn::LoadU(d, in + i + kCells / 2), d, out + i + kCells / 2);
  }
#endif
  for (; i < n; ++i) out[i] = in[i];
}

void tile_f64(const double* in, int64_t is, int64_t rows, int64_t cols, double* out, int64_t os) {
  tile(in, is, rows, cols, out, os);
}
void tile_f32(const float* in, int64_t is, int64_t rows, int64_t cols, float* out, int64_t os) {
  tile(in, is, rows, cols, out, os);
}
void stream_f64(const double* in, int64_t n, double* out) { past_caches(in, n, out); }
void stream_f32(const float* in, int64_t n, float* out) { past_caches(in, n, out); }

}  // namespace HWY_NAMESPACE
}  // namespace hopline::tiles
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline::tiles {

HWY_EXPORT(tile_f64);
HWY_EXPORT(tile_f32);
HWY_EXPORT(stream_f64);
HWY_EXPORT(stream_f32);

void transpose(const double* in, int64_t in_stride, int64_t rows, int64_t cols, double* out, int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(tile_f64)(in, in_stride, rows, cols, out, out_stride);
}
void transpose(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out, int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(tile_f32)(in, in_stride, rows, cols, out, out_stride);
}
void stream(const double* in, int64_t n, double* out) { HWY_DYNAMIC_DISPATCH(stream_f64)(in, n, out); }
void stream(const float* in, int64_t n, float* out) { HWY_DYNAMIC_DISPATCH(stream_f32)(in, n, out); }
void flush() { hwy::FlushStream(); }

}  // namespace hopline::tiles
#endif  // HWY_ONCE
