#include "runtime/ops/block_simd.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/block_simd.cc"
#include <hwy/foreach_target.h>
// Highway's own headers come after foreach_target.h.
#include <hwy/highway.h>

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace hopline::cells {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kGroup = 64;

// Highway's Ne is ordered on AVX (a NaN would count as a zero), so: not equal.
template <class V>
HWY_INLINE auto differs(V a, V b) {
  return hn::Not(hn::Eq(a, b));
}

// Bit i: cell i is not 0; kGroup cells.
template <class T>
HWY_INLINE uint64_t nonzero_bits(const T* cells) {
  const hn::ScalableTag<T> d;
  const auto zero = hn::Zero(d);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  uint64_t bits = 0;
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < kGroup; ++i) bits |= static_cast<uint64_t>(cells[i] != 0) << i;
  (void)zero, (void)lanes;
#else
  for (int64_t i = 0; i < kGroup; i += lanes) {
    uint8_t mask[8] = {};
    hn::StoreMaskBits(d, differs(hn::LoadU(d, cells + i), zero), mask);
    uint64_t some = mask[0];
    if (lanes > 8) some |= static_cast<uint64_t>(mask[1]) << 8;
    bits |= some << i;
  }
#endif
  return bits;
}

template <class T>
HWY_INLINE int64_t count(const T* cells, int64_t n) {
  int64_t total = 0, i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto zero = hn::Zero(d);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t kRun = int64_t{1} << 20;  // lanes of 32 bits do not overflow
  while (i + 4 * lanes <= n) {
    auto a = hn::Zero(di), b = a, c = a, e = a;
    const int64_t stop = n < i + kRun ? n : i + kRun;
    for (; i + 4 * lanes <= stop; i += 4 * lanes) {
      a = hn::Sub(a, hn::BitCast(di, hn::VecFromMask(d, differs(hn::LoadU(d, cells + i), zero))));
      b = hn::Sub(b, hn::BitCast(di, hn::VecFromMask(d, differs(hn::LoadU(d, cells + i + lanes), zero))));
      c = hn::Sub(c, hn::BitCast(di, hn::VecFromMask(d, differs(hn::LoadU(d, cells + i + 2 * lanes), zero))));
      e = hn::Sub(e, hn::BitCast(di, hn::VecFromMask(d, differs(hn::LoadU(d, cells + i + 3 * lanes), zero))));
    }
    total += hn::GetLane(hn::SumOfLanes(di, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  }
#endif
  for (; i < n; ++i) total += cells[i] != 0;
  return total;
}

template <class T, class Column>
HWY_INLINE int64_t gather(const T* cells, int64_t n, int64_t first, Column* columns, T* values) {
  int64_t k = 0, i = 0;
  for (; i + kGroup <= n; i += kGroup)
    for (uint64_t bits = nonzero_bits(cells + i); bits != 0; bits &= bits - 1, ++k) {
      const int64_t at = i + std::countr_zero(bits);
      columns[k] = static_cast<Column>(first + at), values[k] = cells[at];
    }
  for (; i < n; ++i)
    if (cells[i] != 0) columns[k] = static_cast<Column>(first + i), values[k++] = cells[i];
  return k;
}

int64_t count_f64(const double* cells, int64_t n) { return count(cells, n); }
int64_t count_f32(const float* cells, int64_t n) { return count(cells, n); }
int64_t gather_f64(const double* c, int64_t n, int64_t first, int32_t* columns, double* values) {
  return gather(c, n, first, columns, values);
}
int64_t gather_f32(const float* c, int64_t n, int64_t first, int32_t* columns, float* values) {
  return gather(c, n, first, columns, values);
}
int64_t gather_f64_wide(const double* c, int64_t n, int64_t first, int64_t* columns, double* values) {
  return gather(c, n, first, columns, values);
}
int64_t gather_f32_wide(const float* c, int64_t n, int64_t first, int64_t* columns, float* values) {
  return gather(c, n, first, columns, values);
}

}  // namespace HWY_NAMESPACE
}  // namespace hopline::cells
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline::cells {

HWY_EXPORT(count_f64);
HWY_EXPORT(count_f32);
HWY_EXPORT(gather_f64);
HWY_EXPORT(gather_f32);
HWY_EXPORT(gather_f64_wide);
HWY_EXPORT(gather_f32_wide);

int64_t count_nonzero(const double* cells, int64_t n) { return HWY_DYNAMIC_DISPATCH(count_f64)(cells, n); }
int64_t count_nonzero(const float* cells, int64_t n) { return HWY_DYNAMIC_DISPATCH(count_f32)(cells, n); }
int64_t collect(const double* cells, int64_t n, int64_t first_column, int32_t* columns, double* values) {
  return HWY_DYNAMIC_DISPATCH(gather_f64)(cells, n, first_column, columns, values);
}
int64_t collect(const float* cells, int64_t n, int64_t first_column, int32_t* columns, float* values) {
  return HWY_DYNAMIC_DISPATCH(gather_f32)(cells, n, first_column, columns, values);
}
int64_t collect(const double* cells, int64_t n, int64_t first_column, int64_t* columns, double* values) {
  return HWY_DYNAMIC_DISPATCH(gather_f64_wide)(cells, n, first_column, columns, values);
}
int64_t collect(const float* cells, int64_t n, int64_t first_column, int64_t* columns, float* values) {
  return HWY_DYNAMIC_DISPATCH(gather_f32_wide)(cells, n, first_column, columns, values);
}

}  // namespace hopline::cells
#endif  // HWY_ONCE
