#include "runtime/ops/sorting_simd.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/sorting_simd.cc"
#include <hwy/foreach_target.h>
// Highway's own headers come after foreach_target.h.
#include <hwy/highway.h>

#include "runtime/ops/sorting.h"

HWY_BEFORE_NAMESPACE();
namespace hopline::sorting {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kDecreasing>
HWY_INLINE bool write_keys_as(const double* v, int64_t n, uint64_t* keys) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto sign = hn::Set(du, kSignBit), ones = hn::Set(du, kNanKey);
  auto minus_zeros = hn::Zero(du);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto cell = hn::LoadU(d, v + i);
    minus_zeros = hn::Or(minus_zeros, hn::VecFromMask(du, hn::Eq(hn::BitCast(du, cell), sign)));
    const auto bits = hn::BitCast(du, hn::Add(cell, hn::Zero(d)));
    const auto negative = hn::BitCast(du, hn::BroadcastSignBit(hn::BitCast(di, bits)));
    auto key = hn::Xor(bits, hn::Or(negative, sign));
    if (kDecreasing) key = hn::Not(key);
    // Ne() is false for NaN.
    const auto nan = hn::RebindMask(du, hn::Not(hn::Eq(cell, cell)));
    hn::StoreU(hn::IfThenElse(nan, ones, key), du, keys + i);
  }
  bool minus_zero = !hn::AllTrue(du, hn::Eq(minus_zeros, hn::Zero(du)));
  for (; i < n; ++i) {
    minus_zero |= std::bit_cast<uint64_t>(v[i]) == kSignBit;
    keys[i] = kDecreasing ? descending_key(v[i]) : ascending_key(v[i]);
  }
  return minus_zero;
}

bool write_keys_loop(const double* v, int64_t n, bool decreasing, uint64_t* keys) {
  return decreasing ? write_keys_as<true>(v, n, keys) : write_keys_as<false>(v, n, keys);
}

void find_bins_loop(const uint64_t* keys, int64_t n, double low, double factor, double most, int32_t* bins) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<int32_t, decltype(d)> d32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto sign = hn::Set(du, kSignBit);
  const auto from = hn::Set(d, low), scale = hn::Set(d, factor), top = hn::Set(d, most);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto key = hn::LoadU(du, keys + i);
    const auto high = hn::BitCast(du, hn::BroadcastSignBit(hn::BitCast(di, key)));
    const auto number = hn::BitCast(d, hn::Xor(key, hn::Or(hn::Not(high), sign)));
    const auto at = hn::Mul(hn::Sub(number, from), scale);
    const auto inside = hn::Max(hn::IfThenElse(hn::Lt(at, top), at, top), hn::Zero(d));
    hn::StoreU(hn::DemoteTo(d32, inside), d32, bins + i);
  }
  for (; i < n; ++i) {
    double at = (std::bit_cast<double>(keys[i] ^ (((keys[i] >> 63) - 1) | kSignBit)) - low) * factor;
    at = at < most ? at : most;
    bins[i] = static_cast<int32_t>(at > 0 ? at : 0);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hopline::sorting
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline::sorting {

HWY_EXPORT(write_keys_loop);
HWY_EXPORT(find_bins_loop);

bool write_keys(const double* v, int64_t n, bool decreasing, uint64_t* keys) {
  return HWY_DYNAMIC_DISPATCH(write_keys_loop)(v, n, decreasing, keys);
}
void find_bins(const uint64_t* keys, int64_t n, double low, double factor, double most, int32_t* bins) {
  HWY_DYNAMIC_DISPATCH(find_bins_loop)(keys, n, low, factor, most, bins);
}

}  // namespace hopline::sorting
#endif
