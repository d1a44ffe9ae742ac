// Vector kernels of the generator: each lane of 64 bits holds one word of one Philox block in its low half.
// No fused multiply-add anywhere: results have the same bits for every width and CPU.
#pragma GCC optimize("schedule-insns")  // before registers are given out: the vectors in step stay mixed
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/random_simd.cc"
#include <hwy/foreach_target.h>
// Highway's own headers come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/ops/random.h"

HWY_BEFORE_NAMESPACE();
namespace hopline::draw {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U64 = hn::ScalableTag<uint64_t>;
using F64 = hn::ScalableTag<double>;
using VU = hn::Vec<U64>;
using VF = hn::Vec<F64>;

constexpr uint64_t kM0 = 0xD2511F53, kM1 = 0xCD9E8D57;
constexpr uint32_t kW0 = 0x9E3779B9, kW1 = 0xBB67AE85;
constexpr uint64_t kLow = 0xFFFFFFFF;

// kN vectors that go through the same steps: the products of one fill the waits of the others.
template <class V, int kN>
struct Pack {
  V v[kN];
};
template <int kN>
using Ints = Pack<VU, kN>;
template <int kN>
using Reals = Pack<VF, kN>;

HWY_INLINE VU vector_of(uint64_t v) { return hn::Set(U64(), v); }
HWY_INLINE VF vector_of(double v) { return hn::Set(F64(), v); }
template <class V, int kN>
HWY_INLINE V part(const Pack<V, kN>& a, int i) {
  return a.v[i];
}
HWY_INLINE VU part(uint64_t a, int) { return vector_of(a); }
HWY_INLINE VF part(double a, int) { return vector_of(a); }

#define HOPLINE_EACH(N, statement) _Pragma("GCC unroll 4") for (int i = 0; i < (N); ++i) statement
// An operator of two packs, or of a pack and a number.
#define HOPLINE_BINARY(name, Type, Number, expression)                 \
  template <int kN>                                                    \
  HWY_INLINE Type<kN> name(const Type<kN>& a, const Type<kN>& b) {     \
    Type<kN> out;                                                      \
    HOPLINE_EACH(kN, out.v[i] = hn::expression(a.v[i], b.v[i]));       \
    return out;                                                        \
  }                                                                    \
  template <int kN>                                                    \
  HWY_INLINE Type<kN> name(const Type<kN>& a, Number b) {              \
    Type<kN> out;                                                      \
    HOPLINE_EACH(kN, out.v[i] = hn::expression(a.v[i], vector_of(b))); \
    return out;                                                        \
  }
HOPLINE_BINARY(operator^, Ints, uint64_t, Xor)
HOPLINE_BINARY(operator&, Ints, uint64_t, And)
HOPLINE_BINARY(operator|, Ints, uint64_t, Or)
HOPLINE_BINARY(operator+, Ints, uint64_t, Add)
HOPLINE_BINARY(operator+, Reals, double, Add)
HOPLINE_BINARY(operator-, Reals, double, Sub)
HOPLINE_BINARY(operator*, Reals, double, Mul)
HOPLINE_BINARY(operator/, Reals, double, Div)
#undef HOPLINE_BINARY

template <int kBits, int kN>
HWY_INLINE Ints<kN> shift_right(const Ints<kN>& a) {
  Ints<kN> out;
  HOPLINE_EACH(kN, out.v[i] = hn::ShiftRight<kBits>(a.v[i]));
  return out;
}
template <int kBits, int kN>
HWY_INLINE Ints<kN> shift_left(const Ints<kN>& a) {
  Ints<kN> out;
  HOPLINE_EACH(kN, out.v[i] = hn::ShiftLeft<kBits>(a.v[i]));
  return out;
}
template <int kN>
HWY_INLINE Reals<kN> as_reals(const Ints<kN>& a) {
  Reals<kN> out;
  HOPLINE_EACH(kN, out.v[i] = hn::BitCast(F64(), a.v[i]));
  return out;
}
template <int kN>
HWY_INLINE Ints<kN> as_ints(const Reals<kN>& a) {
  Ints<kN> out;
  HOPLINE_EACH(kN, out.v[i] = hn::BitCast(U64(), a.v[i]));
  return out;
}

// ---- where the CPU without vectors does not know an operation

// Product of the low halves.
HWY_INLINE VU multiply(VU a, uint64_t b) {
#if HWY_TARGET == HWY_SCALAR
  return vector_of((hn::GetLane(a) & kLow) * b);
#else
  const hn::Repartition<uint32_t, U64> d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, vector_of(b)));
#endif
}
template <int kN>
HWY_INLINE Ints<kN> multiply(const Ints<kN>& a, uint64_t b) {
  Ints<kN> out;
  HOPLINE_EACH(kN, out.v[i] = multiply(a.v[i], b));
  return out;
}

// The low halves under the given high half.
template <int kN>
HWY_INLINE Ints<kN> under(const Ints<kN>& low, uint64_t high) {
#if HWY_TARGET == HWY_SCALAR
  return (low & kLow) | high;
#else
  const hn::Repartition<uint32_t, U64> d32;
  Ints<kN> out;
  HOPLINE_EACH(
      kN, out.v[i] = hn::BitCast(U64(), hn::OddEven(hn::BitCast(d32, vector_of(high)), hn::BitCast(d32, low.v[i]))));
  return out;
#endif
}

// Lane by lane: `odd` where the top bit of `parity` is set, else `even`.
template <int kN>
HWY_INLINE Reals<kN> select(const Ints<kN>& parity, const Reals<kN>& odd, const Reals<kN>& even) {
  Reals<kN> out;
#if HWY_TARGET == HWY_SCALAR
  HOPLINE_EACH(kN, out.v[i] = hn::GetLane(parity.v[i]) >> 63 != 0 ? odd.v[i] : even.v[i]);
#else
  HOPLINE_EACH(kN, out.v[i] = hn::IfNegativeThenElse(hn::BitCast(F64(), parity.v[i]), odd.v[i], even.v[i]));
#endif
  return out;
}

// Which block, counted from the first, each lane holds: even lanes the first half, odd lanes the second, so that
// interleaving two vectors gives cells in order.
HWY_INLINE VU lane_blocks() {
  const U64 d;
  HWY_ALIGN uint64_t blocks[hn::MaxLanes(U64())];
  const size_t lanes = hn::Lanes(d);
  for (size_t l = 0; l < lanes; ++l) blocks[l] = lanes == 1 ? 0 : (l & 1) * (lanes / 2) + l / 2;
  return hn::Load(d, blocks);
}

// Lane l of `even` and of `odd` are cells 2b and 2b+1 of block b; lanes hold their blocks in the order of lane_blocks.
template <class D, class V, int kN>
HWY_INLINE void store_pairs(D d, const Pack<V, kN>& even, const Pack<V, kN>& odd, hn::TFromD<D>* out) {
  const size_t lanes = hn::Lanes(d);
#if HWY_TARGET == HWY_SCALAR
  HOPLINE_EACH(kN, (out[2 * i] = hn::GetLane(even.v[i]), out[2 * i + 1] = hn::GetLane(odd.v[i])));
  (void)lanes;
#else
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i, out += 2 * lanes) {
    hn::StoreU(hn::InterleaveLower(even.v[i], odd.v[i]), d, out);
    hn::StoreU(hn::InterleaveUpper(d, even.v[i], odd.v[i]), d, out + lanes);
  }
#endif
}

// ---- Philox4x32-10; each lane of 64 bits holds one word of one block in its low half

template <int kN>
struct State {
  Ints<kN> w0, w1, w2, w3;  // the high halves are undefined
};

struct Keys {
  uint64_t k0[10], k1[10];
  explicit Keys(uint64_t key) {
    uint32_t a = static_cast<uint32_t>(key), b = static_cast<uint32_t>(key >> 32);
    for (int r = 0; r < 10; ++r, a += kW0, b += kW1) k0[r] = a, k1[r] = b;
  }
};

template <int kN>
HWY_INLINE void round(State<kN>& s, uint64_t k0, uint64_t k1) {
  const Ints<kN> p0 = multiply(s.w0, kM0), p1 = multiply(s.w2, kM1);
  s.w0 = (s.w1 ^ k0) ^ shift_right<32>(p1);
  s.w2 = (s.w3 ^ k1) ^ shift_right<32>(p0);
  s.w1 = p1, s.w3 = p0;
}

// Any block in each lane.
struct AnyBlocks {
  Keys keys;
  uint64_t draw, stream;
  template <int kN>
  HWY_INLINE State<kN> operator()(const Ints<kN>& blocks) const {
    State<kN> s;
    s.w0 = blocks, s.w1 = shift_right<32>(blocks);
    HOPLINE_EACH(kN, s.w2.v[i] = vector_of(draw));
    HOPLINE_EACH(kN, s.w3.v[i] = vector_of(stream));
#pragma GCC unroll 10
    for (int r = 0; r < 10; ++r) round(s, keys.k0[r], keys.k1[r]);
    return s;
  }
};

// Blocks that share their high word: what does not depend on the low word is computed once (two of the 20 products).
// The argument is the first product, kM0 * low, which grows by a constant from block to block.
struct NearBlocks {
  Keys keys;
  uint64_t second_first, second_third, third_third, third_fourth;
  NearBlocks(uint64_t key, uint64_t draw, uint64_t stream, uint64_t high) : keys(key) {
    const uint64_t p1 = kM1 * draw, first = (p1 >> 32) ^ high ^ keys.k0[0], p0 = kM0 * first;
    second_first = (p1 & kLow) ^ keys.k0[1];
    second_third = stream ^ keys.k1[0];
    third_third = (p0 >> 32) ^ keys.k1[1];
    third_fourth = (p0 & kLow) ^ keys.k1[2];
  }
  template <int kN>
  HWY_INLINE State<kN> operator()(const Ints<kN>& product) const {
    State<kN> s;
    s.w1 = multiply(shift_right<32>(product) ^ second_third, kM1);
    s.w0 = shift_right<32>(s.w1) ^ second_first;
    s.w2 = product ^ third_third;
    const Ints<kN> p0 = multiply(s.w0, kM0), p1 = multiply(s.w2, kM1);
    s.w0 = (s.w1 ^ keys.k0[2]) ^ shift_right<32>(p1);
    s.w2 = shift_right<32>(p0) ^ third_fourth;
    s.w1 = p1, s.w3 = p0;
#pragma GCC unroll 10
    for (int r = 3; r < 10; ++r) round(s, keys.k0[r], keys.k1[r]);
    return s;
  }
};

// Calls store(state, out) for `blocks` blocks from `block` on, kN vectors at a time, at the end one by one; store
// writes kPerBlock numbers for each lane.
template <int64_t kPerBlock, int kN, class T, class Store>
HWY_INLINE void each_block(uint64_t key, uint32_t draw, uint32_t stream, uint64_t block, int64_t blocks, VU order,
                           T* out, const Store& store) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(U64()));
  const VU step = vector_of(kM0 * static_cast<uint64_t>(lanes));
  while (blocks > 0) {
    const auto run =
        static_cast<int64_t>(std::min<uint64_t>(static_cast<uint64_t>(blocks), (uint64_t{1} << 32) - (block & kLow)));
    const NearBlocks philox(key, draw, stream, block >> 32);
    VU product = multiply(hn::Add(vector_of(block & kLow), order), kM0);
    int64_t b = 0;
    for (; b + kN * lanes <= run; b += kN * lanes) {
      Ints<kN> products;
      HOPLINE_EACH(kN, (products.v[i] = product, product = hn::Add(product, step)));
      store(philox(products), out + b * kPerBlock);
    }
    for (; b + lanes <= run; b += lanes, product = hn::Add(product, step))
      store(philox(Ints<1>{{product}}), out + b * kPerBlock);
    if (b < run) {
      HWY_ALIGN T rest[hn::MaxLanes(U64()) * kPerBlock];
      store(philox(Ints<1>{{product}}), rest);
      std::memcpy(out + b * kPerBlock, rest, static_cast<size_t>((run - b) * kPerBlock) * sizeof(T));
    }
    block += static_cast<uint64_t>(run), blocks -= run, out += run * kPerBlock;
  }
}

// Single cells: cell(state of their blocks, parity of the cells in the top bit) gives one number per lane.
template <class Cell>
HWY_INLINE void each_cell(uint64_t key, uint32_t draw, uint32_t stream, const int64_t* cells, int64_t n, double* out,
                          const Cell& cell) {
  constexpr int kN = 2;
  const U64 du;
  const F64 d;
  constexpr size_t kMost = hn::MaxLanes(U64());
  const auto lanes = hn::Lanes(du);
  const auto step = static_cast<int64_t>(kN * lanes);
  const AnyBlocks philox{Keys(key), draw, stream};
  for (int64_t i = 0; i < n; i += step) {
    HWY_ALIGN uint64_t at[kN * kMost] = {};
    HWY_ALIGN double numbers[kN * kMost];
    const auto some = static_cast<size_t>(std::min(step, n - i));
    std::memcpy(at, cells + i, some * sizeof(uint64_t));
    const Ints<kN> e{{hn::Load(du, at), hn::Load(du, at + lanes)}};
    const Reals<kN> found = cell(philox(shift_right<1>(e)), shift_left<63>(e));
    hn::Store(found.v[0], d, numbers);
    hn::Store(found.v[1], d, numbers + lanes);
    std::memcpy(out + i, numbers, some * sizeof(double));
  }
}

// ---- uniform

// to_unit() of two words, exactly: the words become the low digits of 2^20 and of 2^-12.
template <int kN>
HWY_INLINE Reals<kN> unit(const Ints<kN>& high, const Ints<kN>& low) {
  const Reals<kN> upper = as_reals(under(high, 0x4130000000000000));
  const Reals<kN> lower = as_reals((low & 0xFFFFF800) | 0x3F30000000000000);
  return (upper - (0x1p20 + 0x1p-12)) + lower;
}

template <int kN>
HWY_INLINE Reals<kN> placed(const Reals<kN>& unit, const Interval<double>& in) {
  const VF most = vector_of(in.most);
  Reals<kN> out = unit * in.range + in.low;
  HOPLINE_EACH(kN, out.v[i] = hn::Min(out.v[i], most));
  return out;
}

void uniform_f64(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, const Interval<double>& in, double* out) {
  const F64 d;
  if (in.low == 0 && in.range == 1)
    return each_block<2, 3>(key, draw, 0, block, blocks, lane_blocks(), out, [=](const auto& s, double* to) HWY_ATTR {
      store_pairs(d, unit(s.w0, s.w1), unit(s.w2, s.w3), to);
    });
  each_block<2, 2>(key, draw, 0, block, blocks, lane_blocks(), out, [=](const auto& s, double* to) HWY_ATTR {
    store_pairs(d, placed(unit(s.w0, s.w1), in), placed(unit(s.w2, s.w3), in), to);
  });
}

// Even and odd cells of a block stand next to each other, so blocks are taken in order.
void uniform_f32(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, const Interval<float>& in, float* out) {
  const VU order = hn::Iota(U64(), 0);
#if HWY_TARGET == HWY_SCALAR
  each_block<2, 1>(key, draw, 0, block, blocks, order, out, [=](const auto& s, float* to) {
    to[0] = in.at(static_cast<float>((hn::GetLane(s.w0.v[0]) & kLow) >> 8) * 0x1p-24F);
    to[1] = in.at(static_cast<float>((hn::GetLane(s.w2.v[0]) & kLow) >> 8) * 0x1p-24F);
  });
#else
  const hn::Repartition<float, U64> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto low = hn::Set(d, in.low), range = hn::Set(d, in.range), most = hn::Set(d, in.most);
  const auto scale = hn::Set(d, 0x1p-24F);
  const auto lanes = hn::Lanes(d);
  each_block<2, 3>(key, draw, 0, block, blocks, order, out, [=](const auto& s, float* to) HWY_ATTR {
    const auto pairs = (s.w0 & kLow) | shift_left<32>(s.w2);
    for (const VU& pair : pairs.v) {
      const auto top = hn::BitCast(di, hn::ShiftRight<8>(hn::BitCast(du, pair)));
      const auto unit = hn::Mul(hn::ConvertTo(d, top), scale);
      hn::StoreU(hn::Min(hn::Add(hn::Mul(unit, range), low), most), d, to);
      to += lanes;
    }
  });
#endif
}

void uniform_at_f64(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out) {
  each_cell(key, draw, 0, cells, n, out, [](const auto& s, const auto& parity) HWY_ATTR {
    return select(parity, unit(s.w2, s.w3), unit(s.w0, s.w1));
  });
}

// ---- normal, by the method of Box and Muller

// -2 log(u) for u in [2^-53, 1]: with u = m 2^k, m in [sqrt(1/2), sqrt(2)), it is -2 k log(2) - 4 atanh((m - 1) / (m +
// 1)).
template <int kN>
HWY_INLINE Reals<kN> minus_two_log(const Reals<kN>& u) {
  constexpr uint64_t kRoot = 0x3FE6A09E00000000;  // just below sqrt(1/2)
  const Ints<kN> bits = as_ints(u) + (0x3FF0000000000000 - kRoot);
  // The exponent as a double: the low digits of 2^52, then the bias goes.
  const Reals<kN> k = as_reals(shift_right<52>(bits) | 0x4330000000000000) - (0x1p52 + 1023);
  const Reals<kN> f = as_reals((bits & 0x000FFFFFFFFFFFFF) + kRoot) - 1.0;
  const Reals<kN> s = f / (f + 2.0), z = s * s;
  Reals<kN> sum = z * -0.2923289937008681 + -0.30663443201112084;
  sum = sum * z + -0.36365778250523445;
  sum = sum * z + -0.4444442226959016;
  sum = sum * z + -0.5714285725195097;
  sum = sum * z + -0.7999999999979901;
  sum = sum * z + -1.333333333333334;
  sum = (sum * z + -4.0) * s;
  return (k * -3.81642985854117540004e-10 + sum) + k * -1.38629436073824763298e+00;
}

// cos and sin of 2 pi u. The rest x of the angle, in quarter turns, lies in [-1/2, 1/2].
template <int kN>
struct Turn {
  Reals<kN> cosine, sine;  // of the rest
  Ints<kN> odd, half;      // top bit: an odd quarter, the second half of the circle
};
template <int kN>
HWY_INLINE Turn<kN> turn(const Reals<kN>& u) {
  constexpr double kMagic = 0x1.8p52;  // leaves the whole part in the low bits
  const Reals<kN> quarters = u * 4.0, shifted = quarters + kMagic;
  const Reals<kN> x = quarters - (shifted - kMagic), z = x * x;
  Reals<kN> sine = z * 5.633933781537854e-08 + -3.59864335298231e-06;
  Reals<kN> cosine = z * -6.329396344967424e-09 + 4.710678405505227e-07;
  sine = sine * z + 0.0001604411507421909, cosine = cosine * z + -2.5202039028029178e-05;
  sine = sine * z + -0.004681754132340976, cosine = cosine * z + 0.0009192602745468447;
  sine = sine * z + 0.07969262624604301, cosine = cosine * z + -0.020863480763340773;
  sine = sine * z + -0.6459640975062443, cosine = cosine * z + 0.2536695079010478;
  sine = sine * z + 1.5707963267948966, cosine = cosine * z + -1.2337005501361697;
  const Ints<kN> quadrant = as_ints(shifted);
  return {cosine * z + 1.0, sine * x, shift_left<63>(quadrant), shift_left<62>(quadrant)};
}

constexpr uint64_t kSign = uint64_t{1} << 63;

template <int kN>
HWY_INLINE Reals<kN> negate(const Reals<kN>& a, const Ints<kN>& sign) {
  return as_reals(as_ints(a) ^ (sign & kSign));
}
template <int kN>
HWY_INLINE Reals<kN> cosine(const Turn<kN>& t) {
  return negate(select(t.odd, t.sine, t.cosine), t.half ^ t.odd);
}
template <int kN>
HWY_INLINE Reals<kN> sine(const Turn<kN>& t) {
  return negate(select(t.odd, t.cosine, t.sine), t.half);
}

template <int kN>
HWY_INLINE Reals<kN> radius(const State<kN>& s) {
  Reals<kN> out = minus_two_log(unit(s.w0, s.w1) + 0x1p-53);
  HOPLINE_EACH(kN, out.v[i] = hn::Sqrt(out.v[i]));
  return out;
}

void normal_f64(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, double* out) {
  each_block<2, 2>(key, draw, 2, block, blocks, lane_blocks(), out, [](const auto& s, double* to) HWY_ATTR {
    const auto r = radius(s);
    const auto t = turn(unit(s.w2, s.w3));
    store_pairs(F64(), r * cosine(t), r * sine(t), to);
  });
}

void normal_at_f64(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out) {
  each_cell(key, draw, 2, cells, n, out, [](const auto& s, const auto& parity) HWY_ATTR {
    const auto t = turn(unit(s.w2, s.w3));
    return radius(s) * select(parity, sine(t), cosine(t));
  });
}

// ---- words and masks

void words_u32(uint64_t key, uint32_t draw, uint32_t stream, uint64_t block, int64_t blocks, uint32_t* out) {
  each_block<4, 3>(key, draw, stream, block, blocks, lane_blocks(), out, [](const auto& s, uint32_t* to) HWY_ATTR {
    const auto front = (s.w0 & kLow) | shift_left<32>(s.w1), back = (s.w2 & kLow) | shift_left<32>(s.w3);
    HWY_ALIGN uint64_t pairs[6 * hn::MaxLanes(U64())];
    store_pairs(U64(), front, back, pairs);
    std::memcpy(to, pairs, 2 * std::size(front.v) * hn::Lanes(U64()) * sizeof(uint64_t));
  });
}

// What choose() writes for a kept cell.
template <class T>
struct Same {
  const T* cells;
  HWY_INLINE T one(int64_t i) const { return cells[i]; }
  template <class D>
  HWY_INLINE hn::Vec<D> many(D d, int64_t i) const {
    return hn::LoadU(d, cells + i);
  }
};
template <class T>
struct Fixed {
  T value;
  HWY_INLINE T one(int64_t) const { return value; }
  template <class D>
  HWY_INLINE hn::Vec<D> many(D d, int64_t) const {
    return hn::Set(d, value);
  }
};

// The vector part of choose(); returns where it stopped. Words and threshold are below 2^33: compared as signed.
template <class Kept>
HWY_INLINE int64_t choose_lanes(const uint32_t* words, uint64_t threshold, int64_t n, const Kept& kept, double* out) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const F64 d;
  const hn::RebindToSigned<U64> di;
  const hn::Rebind<uint32_t, U64> half;
  const auto limit = hn::Set(di, static_cast<int64_t>(threshold));
  for (const auto lanes = static_cast<int64_t>(hn::Lanes(d)); i + lanes <= n; i += lanes) {
    const auto w = hn::BitCast(di, hn::PromoteTo(U64(), hn::LoadU(half, words + i)));
    hn::StoreU(hn::IfThenElseZero(hn::RebindMask(d, hn::Lt(w, limit)), kept.many(d, i)), d, out + i);
  }
#endif
  return i;
}
template <class Kept>
HWY_INLINE int64_t choose_lanes(const uint32_t* words, uint64_t threshold, int64_t n, const Kept& kept, float* out) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<float, U64> d;
  const hn::RebindToSigned<decltype(d)> di;
  if (threshold == 0) return 0;
  // word <= threshold - 1, compared as signed after flipping the top bits
  const auto flip = hn::Set(di, INT32_MIN);
  const auto limit = hn::Xor(hn::Set(di, static_cast<int32_t>(static_cast<uint32_t>(threshold - 1))), flip);
  for (const auto lanes = static_cast<int64_t>(hn::Lanes(d)); i + lanes <= n; i += lanes) {
    const auto w = hn::Xor(hn::LoadU(di, reinterpret_cast<const int32_t*>(words + i)), flip);
    hn::StoreU(hn::IfThenZeroElse(hn::RebindMask(d, hn::Gt(w, limit)), kept.many(d, i)), d, out + i);
  }
#endif
  return i;
}

template <class Kept, class T>
HWY_INLINE void choose(const uint32_t* words, uint64_t threshold, int64_t n, const Kept& kept, T* out) {
  for (int64_t i = choose_lanes(words, threshold, n, kept, out); i < n; ++i)
    out[i] = words[i] < threshold ? kept.one(i) : T{0};
}

void keep_f64(const uint32_t* words, uint64_t threshold, int64_t n, double* out) {
  choose(words, threshold, n, Same<double>{out}, out);
}
void keep_f32(const uint32_t* words, uint64_t threshold, int64_t n, float* out) {
  choose(words, threshold, n, Same<float>{out}, out);
}
void choose_f64(const uint32_t* words, uint64_t threshold, int64_t n, double value, double* out) {
  choose(words, threshold, n, Fixed<double>{value}, out);
}
void choose_f32(const uint32_t* words, uint64_t threshold, int64_t n, float value, float* out) {
  choose(words, threshold, n, Fixed<float>{value}, out);
}

#if HWY_TARGET != HWY_SCALAR
using U32 = hn::Repartition<uint32_t, U64>;
using S32 = hn::RebindToSigned<U32>;

// Words below a threshold > 0: compared as signed numbers after flipping the top bits.
struct Below {
  hn::Vec<S32> flip = hn::Set(S32(), INT32_MIN), last;
  explicit HWY_INLINE Below(uint64_t threshold)
      : last(hn::Xor(hn::Set(S32(), static_cast<int32_t>(static_cast<uint32_t>(threshold - 1))), flip)) {}
  HWY_INLINE hn::Mask<S32> operator()(const uint32_t* words) const {
    return hn::Not(hn::Gt(hn::Xor(hn::LoadU(S32(), reinterpret_cast<const int32_t*>(words)), flip), last));
  }
};
#endif

int64_t count_u32(const uint32_t* words, uint64_t threshold, int64_t n) {
  int64_t total = 0, i = 0;
  if (threshold == 0) return 0;
#if HWY_TARGET != HWY_SCALAR
  const Below below(threshold);
  for (const auto lanes = static_cast<int64_t>(hn::Lanes(S32())); i + lanes <= n; i += lanes)
    total += static_cast<int64_t>(hn::CountTrue(S32(), below(words + i)));
#endif
  for (; i < n; ++i) total += words[i] < threshold;
  return total;
}

int64_t kept_i64(const uint32_t* words, uint64_t threshold, int64_t n, int64_t first, int64_t* out) {
  int64_t total = 0, i = 0;
  if (threshold == 0) return 0;
#if HWY_TARGET != HWY_SCALAR
  const Below below(threshold);
  for (const auto lanes = static_cast<int64_t>(hn::Lanes(S32())); i + lanes <= n; i += lanes) {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(S32(), below(words + i), bytes);
    for (uint32_t bits = bytes[0] | static_cast<uint32_t>(bytes[1]) << 8; bits != 0; bits &= bits - 1)
      out[total++] = first + i + std::countr_zero(bits);
  }
#endif
  for (; i < n; ++i)
    if (words[i] < threshold) out[total++] = first + i;
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace hopline::draw
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline::draw {

HWY_EXPORT(uniform_f64);
HWY_EXPORT(uniform_f32);
HWY_EXPORT(normal_f64);
HWY_EXPORT(words_u32);
HWY_EXPORT(uniform_at_f64);
HWY_EXPORT(normal_at_f64);
HWY_EXPORT(keep_f64);
HWY_EXPORT(keep_f32);
HWY_EXPORT(choose_f64);
HWY_EXPORT(choose_f32);
HWY_EXPORT(count_u32);
HWY_EXPORT(kept_i64);

void uniform(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, const Interval<double>& in, double* out) {
  HWY_DYNAMIC_DISPATCH(uniform_f64)(key, draw, block, blocks, in, out);
}
void uniform(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, const Interval<float>& in, float* out) {
  HWY_DYNAMIC_DISPATCH(uniform_f32)(key, draw, block, blocks, in, out);
}
void normal(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, double* out) {
  HWY_DYNAMIC_DISPATCH(normal_f64)(key, draw, block, blocks, out);
}
void words(uint64_t key, uint32_t draw, uint32_t stream, uint64_t block, int64_t blocks, uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(words_u32)(key, draw, stream, block, blocks, out);
}
void uniform_at(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(uniform_at_f64)(key, draw, cells, n, out);
}
void normal_at(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(normal_at_f64)(key, draw, cells, n, out);
}
void keep(const uint32_t* words, uint64_t threshold, int64_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(keep_f64)(words, threshold, n, out);
}
void keep(const uint32_t* words, uint64_t threshold, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(keep_f32)(words, threshold, n, out);
}
void choose(const uint32_t* words, uint64_t threshold, int64_t n, double value, double* out) {
  HWY_DYNAMIC_DISPATCH(choose_f64)(words, threshold, n, value, out);
}
void choose(const uint32_t* words, uint64_t threshold, int64_t n, float value, float* out) {
  HWY_DYNAMIC_DISPATCH(choose_f32)(words, threshold, n, value, out);
}
int64_t kept(const uint32_t* words, uint64_t threshold, int64_t n, int64_t first, int64_t* out) {
  return HWY_DYNAMIC_DISPATCH(kept_i64)(words, threshold, n, first, out);
}
int64_t count(const uint32_t* words, uint64_t threshold, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(count_u32)(words, threshold, n);
}

}  // namespace hopline::draw
#endif  // HWY_ONCE
