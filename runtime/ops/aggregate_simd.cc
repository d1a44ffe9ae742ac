#include "runtime/ops/aggregate_simd.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/aggregate_simd.cc"
#include <hwy/foreach_target.h>
// Highway's own headers come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hopline::sums {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kLanes>;
using V = hn::Vec<D>;
constexpr int kWidth = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kLanes / kWidth;

HWY_INLINE V read(const double* x) { return hn::LoadU(D(), x); }
HWY_INLINE V read(const float* x) {
  const hn::Rebind<float, D> d;
  return hn::PromoteTo(D(), hn::LoadU(d, x));
}

HWY_INLINE void add(V v, V& high, V& low) {
  const V y = hn::Sub(v, low), t = hn::Add(high, y);
  low = hn::Sub(hn::Sub(t, high), y);
  high = t;
}

template <class T>
void lanes(const T* x, int64_t n, bool squared, double centre, double* high, double* low) {
  V h[kVectors], l[kVectors];
  for (int k = 0; k < kVectors; ++k) h[k] = read(high + k * kWidth), l[k] = read(low + k * kWidth);
  const V c = hn::Set(D(), centre);
  for (int64_t i = 0; i < n; i += kLanes)
    for (int k = 0; k < kVectors; ++k) {
      V v = read(x + i + k * kWidth);
      if (squared) v = hn::Sub(v, c), v = hn::Mul(v, v);
      add(v, h[k], l[k]);
    }
  for (int k = 0; k < kVectors; ++k) {
    hn::StoreU(h[k], D(), high + k * kWidth);
    hn::StoreU(l[k], D(), low + k * kWidth);
  }
}

template <class T>
void row(const T* x, int64_t n, const double* centres, double* high, double* low) {
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    V v = read(x + i);
    if (centres != nullptr) v = hn::Sub(v, read(centres + i)), v = hn::Mul(v, v);
    V h = read(high + i), l = read(low + i);
    add(v, h, l);
    hn::StoreU(h, D(), high + i);
    hn::StoreU(l, D(), low + i);
  }
  for (; i < n; ++i) {
    double v = static_cast<double>(x[i]);
    if (centres != nullptr) v = (v - centres[i]) * (v - centres[i]);
    const double y = v - low[i], t = high[i] + y;
    low[i] = (t - high[i]) - y;
    high[i] = t;
  }
}

template <class T>
void fold(const T* x, int64_t n, bool greatest, double* lanes) {
  V f[kVectors];
  for (int k = 0; k < kVectors; ++k) f[k] = read(lanes + k * kWidth);
  for (int64_t i = 0; i < n; i += kLanes)
    for (int k = 0; k < kVectors; ++k) {
      const V v = read(x + i + k * kWidth);
      // A NaN that was found stays; else the new cell wins unless it is worse (a NaN is neither).
      const auto worse = greatest ? hn::Lt(v, f[k]) : hn::Gt(v, f[k]);
      const auto keep = hn::Or(worse, hn::IsNaN(f[k]));
      f[k] = hn::IfThenElse(keep, f[k], v);
    }
  for (int k = 0; k < kVectors; ++k) hn::StoreU(f[k], D(), lanes + k * kWidth);
}

void lanes_f64(const double* x, int64_t n, bool s, double c, double* h, double* l) { lanes(x, n, s, c, h, l); }
void lanes_f32(const float* x, int64_t n, bool s, double c, double* h, double* l) { lanes(x, n, s, c, h, l); }
void row_f64(const double* x, int64_t n, const double* c, double* h, double* l) { row(x, n, c, h, l); }
void row_f32(const float* x, int64_t n, const double* c, double* h, double* l) { row(x, n, c, h, l); }
void fold_f64(const double* x, int64_t n, bool greatest, double* lanes) { fold(x, n, greatest, lanes); }
void fold_f32(const float* x, int64_t n, bool greatest, double* lanes) { fold(x, n, greatest, lanes); }

}  // namespace HWY_NAMESPACE
}  // namespace hopline::sums
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline::sums {

HWY_EXPORT(lanes_f64);
HWY_EXPORT(lanes_f32);
HWY_EXPORT(row_f64);
HWY_EXPORT(row_f32);
HWY_EXPORT(fold_f64);
HWY_EXPORT(fold_f32);

void add_lanes(const double* x, int64_t n, bool squared, double centre, double* high, double* low) {
  HWY_DYNAMIC_DISPATCH(lanes_f64)(x, n, squared, centre, high, low);
}
void add_lanes(const float* x, int64_t n, bool squared, double centre, double* high, double* low) {
  HWY_DYNAMIC_DISPATCH(lanes_f32)(x, n, squared, centre, high, low);
}
void add_row(const double* x, int64_t n, const double* centres, double* high, double* low) {
  HWY_DYNAMIC_DISPATCH(row_f64)(x, n, centres, high, low);
}
void add_row(const float* x, int64_t n, const double* centres, double* high, double* low) {
  HWY_DYNAMIC_DISPATCH(row_f32)(x, n, centres, high, low);
}
void fold_lanes(const double* x, int64_t n, bool greatest, double* lanes) {
  HWY_DYNAMIC_DISPATCH(fold_f64)(x, n, greatest, lanes);
}
void fold_lanes(const float* x, int64_t n, bool greatest, double* lanes) {
  HWY_DYNAMIC_DISPATCH(fold_f32)(x, n, greatest, lanes);
}

}  // namespace hopline::sums
#endif  // HWY_ONCE
