// Vector kernels of the generator: each lane of 64 bits holds one word of one Philox block in its low half.
// No fused multiply-add anywhere: results have the same bits for every width and CPU.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/random_simd.cc"
#include <hwy/foreach_target.h>
// Highway's own headers come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
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

// Product of the low halves.
HWY_INLINE VU multiply(VU a, VU b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(U64(), (hn::GetLane(a) & kLow) * (hn::GetLane(b) & kLow));
#else
  const hn::Repartition<uint32_t, U64> d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));
#endif
}

// Lane l of `even` and of `odd` are cells 2b and 2b+1 of block b; lanes hold their blocks in the order of lane_blocks.
template <class D, class V>
HWY_INLINE void store_pairs(D d, V even, V odd, hn::TFromD<D>* out) {
#if HWY_TARGET == HWY_SCALAR
  out[0] = hn::GetLane(even), out[1] = hn::GetLane(odd);
#else
  hn::StoreU(hn::InterleaveLower(even, odd), d, out);
  hn::StoreU(hn::InterleaveUpper(d, even, odd), d, out + hn::Lanes(d));
#endif
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

struct Lanes {
  VU w0, w1, w2, w3;  // the high halves are undefined
};

struct Keys {
  HWY_ALIGN uint64_t k0[10], k1[10];
  explicit Keys(uint64_t key) {
    uint32_t a = static_cast<uint32_t>(key), b = static_cast<uint32_t>(key >> 32);
    for (int r = 0; r < 10; ++r, a += kW0, b += kW1) k0[r] = a, k1[r] = b;
  }
};

HWY_INLINE void round(Lanes& s, VU m0, VU m1, VU k0, VU k1) {
  const VU p0 = multiply(s.w0, m0), p1 = multiply(s.w2, m1);
  s.w0 = hn::Xor(hn::ShiftRight<32>(p1), hn::Xor(s.w1, k0));
  s.w2 = hn::Xor(hn::ShiftRight<32>(p0), hn::Xor(s.w3, k1));
  s.w1 = p1, s.w3 = p0;
}

// Any block in each lane.
struct AnyBlocks {
  Keys keys;
  uint32_t draw, stream;
  HWY_INLINE Lanes operator()(VU blocks) const {
    const U64 d;
    const VU m0 = hn::Set(d, kM0), m1 = hn::Set(d, kM1);
    Lanes s{blocks, hn::ShiftRight<32>(blocks), hn::Set(d, draw), hn::Set(d, stream)};
#pragma GCC unroll 10
    for (int r = 0; r < 10; ++r) round(s, m0, m1, hn::Set(d, keys.k0[r]), hn::Set(d, keys.k1[r]));
    return s;
  }
};

// Blocks that share their high word: what does not depend on the low word is computed once (two of the 20 products).
// The argument is the first product, kM0 * low, which grows by a constant from block to block.
struct NearBlocks {
  Keys keys;
  uint64_t second_first, second_third, third_third, third_fourth;
  NearBlocks(uint64_t key, uint32_t draw, uint32_t stream, uint32_t high) : keys(key) {
    const uint64_t p1 = kM1 * draw, first = (p1 >> 32) ^ high ^ keys.k0[0], p0 = kM0 * first;
    second_first = (p1 & kLow) ^ keys.k0[1];
    second_third = stream ^ keys.k1[0];
    third_third = (p0 >> 32) ^ keys.k1[1];
    third_fourth = (p0 & kLow) ^ keys.k1[2];
  }
  HWY_INLINE Lanes first_rounds(VU p0) const {
    const U64 d;
    Lanes s;
    s.w1 = multiply(hn::Xor(hn::ShiftRight<32>(p0), hn::Set(d, second_third)), hn::Set(d, kM1));
    s.w0 = hn::Xor(hn::ShiftRight<32>(s.w1), hn::Set(d, second_first));
    s.w2 = hn::Xor(p0, hn::Set(d, third_third));
    const VU q0 = multiply(s.w0, hn::Set(d, kM0)), q1 = multiply(s.w2, hn::Set(d, kM1));
    s.w0 = hn::Xor(hn::ShiftRight<32>(q1), hn::Xor(s.w1, hn::Set(d, keys.k0[2])));
    s.w2 = hn::Xor(hn::ShiftRight<32>(q0), hn::Set(d, third_fourth));
    s.w1 = q1, s.w3 = q0;
    return s;
  }
  HWY_INLINE Lanes one(VU p0) const {
    const U64 d;
    Lanes s = first_rounds(p0);
#pragma GCC unroll 10
    for (int r = 3; r < 10; ++r)
      round(s, hn::Set(d, kM0), hn::Set(d, kM1), hn::Set(d, keys.k0[r]), hn::Set(d, keys.k1[r]));
    return s;
  }
  // Two vectors in step: the products of one fill the waits of the other.
  HWY_INLINE void two(VU p0, VU p1, Lanes& a, Lanes& b) const {
    const U64 d;
    const VU m0 = hn::Set(d, kM0), m1 = hn::Set(d, kM1);
    a = first_rounds(p0), b = first_rounds(p1);
#pragma GCC unroll 10
    for (int r = 3; r < 10; ++r) {
      const VU k0 = hn::Set(d, keys.k0[r]), k1 = hn::Set(d, keys.k1[r]);
      const VU a0 = multiply(a.w0, m0), b0 = multiply(b.w0, m0);
      const VU a1 = multiply(a.w2, m1), b1 = multiply(b.w2, m1);
      a.w0 = hn::Xor(a.w1, k0), b.w0 = hn::Xor(b.w1, k0);
      a.w2 = hn::Xor(a.w3, k1), b.w2 = hn::Xor(b.w3, k1);
      a.w0 = hn::Xor(a.w0, hn::ShiftRight<32>(a1)), b.w0 = hn::Xor(b.w0, hn::ShiftRight<32>(b1));
      a.w2 = hn::Xor(a.w2, hn::ShiftRight<32>(a0)), b.w2 = hn::Xor(b.w2, hn::ShiftRight<32>(b0));
      a.w1 = a1, b.w1 = b1, a.w3 = a0, b.w3 = b0;
    }
  }
};

// Calls store(lanes, out) for `blocks` blocks from `block` on; store writes kPerBlock numbers for each lane.
template <int kPerBlock, class T, class StoreLanes>
HWY_INLINE void each_block(uint64_t key, uint32_t draw, uint32_t stream, uint64_t block, int64_t blocks, VU order,
                           T* out, const StoreLanes& store) {
  const U64 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  while (blocks > 0) {
    const auto run =
        static_cast<int64_t>(std::min<uint64_t>(static_cast<uint64_t>(blocks), (uint64_t{1} << 32) - (block & kLow)));
    const NearBlocks philox(key, draw, stream, static_cast<uint32_t>(block >> 32));
    VU product = multiply(hn::Add(hn::Set(d, block & kLow), order), hn::Set(d, kM0));
    const VU step = hn::Set(d, kM0 * static_cast<uint64_t>(lanes));
    int64_t b = 0;
    for (; b + 2 * lanes <= run; b += 2 * lanes) {
      const VU next = hn::Add(product, step);
      Lanes first, second;
      philox.two(product, next, first, second);
      store(first, out + b * kPerBlock);
      store(second, out + (b + lanes) * kPerBlock);
      product = hn::Add(next, step);
    }
    for (; b + lanes <= run; b += lanes, product = hn::Add(product, step))
      store(philox.one(product), out + b * kPerBlock);
    if (b < run) {
      HWY_ALIGN T rest[hn::MaxLanes(U64()) * kPerBlock];
      store(philox.one(product), rest);
      std::memcpy(out + b * kPerBlock, rest, static_cast<size_t>((run - b) * kPerBlock) * sizeof(T));
    }
    block += static_cast<uint64_t>(run), blocks -= run, out += run * kPerBlock;
  }
}

// The low halves under the given high halves.
HWY_INLINE VU under(VU low, VU high) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(U64(), (hn::GetLane(low) & kLow) | (hn::GetLane(high) & ~kLow));
#else
  const hn::Repartition<uint32_t, U64> d32;
  return hn::BitCast(U64(), hn::OddEven(hn::BitCast(d32, high), hn::BitCast(d32, low)));
#endif
}

// to_unit() of two words, exactly: the words become the low digits of 2^20 and of 2^-12.
HWY_INLINE VF unit(VU high, VU low) {
  const U64 du;
  const F64 df;
  const VU upper = under(high, hn::Set(du, 0x4130000000000000));
  const VU lower = hn::Or(hn::And(low, hn::Set(du, 0xFFFFF800)), hn::Set(du, 0x3F30000000000000));
  return hn::Add(hn::Sub(hn::BitCast(df, upper), hn::Set(df, 0x1p20 + 0x1p-12)), hn::BitCast(df, lower));
}

void uniform_f64(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, double low, double range, double* out) {
  const F64 d;
  if (low == 0 && range == 1)
    return each_block<2>(key, draw, 0, block, blocks, lane_blocks(), out, [&](const Lanes& s, double* to) HWY_ATTR {
      store_pairs(d, unit(s.w0, s.w1), unit(s.w2, s.w3), to);
    });
  const VF vlow = hn::Set(d, low), vrange = hn::Set(d, range);
  each_block<2>(key, draw, 0, block, blocks, lane_blocks(), out, [&](const Lanes& s, double* to) HWY_ATTR {
    const VF even = hn::Add(hn::Mul(unit(s.w0, s.w1), vrange), vlow);
    const VF odd = hn::Add(hn::Mul(unit(s.w2, s.w3), vrange), vlow);
    store_pairs(d, even, odd, to);
  });
}

void uniform_f32(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, float low, float range, float* out) {
  const U64 du;
  const VU order = hn::Iota(du, 0);
#if HWY_TARGET == HWY_SCALAR
  each_block<2>(key, draw, 0, block, blocks, order, out, [=](const Lanes& s, float* to) {
    to[0] = static_cast<float>((hn::GetLane(s.w0) & kLow) >> 8) * 0x1p-24F * range + low;
    to[1] = static_cast<float>((hn::GetLane(s.w2) & kLow) >> 8) * 0x1p-24F * range + low;
  });
#else
  const hn::Repartition<float, U64> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto vlow = hn::Set(d, low), vrange = hn::Set(d, range), scale = hn::Set(d, 0x1p-24F);
  const VU mask = hn::Set(du, kLow);
  each_block<2>(key, draw, 0, block, blocks, order, out, [&](const Lanes& s, float* to) HWY_ATTR {
    const VU pair = hn::Or(hn::And(s.w0, mask), hn::ShiftLeft<32>(s.w2));
    const auto top = hn::BitCast(di, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), pair)));
    hn::StoreU(hn::Add(hn::Mul(hn::Mul(hn::ConvertTo(d, top), scale), vrange), vlow), d, to);
  });
#endif
}

HWY_INLINE VF c(double v) { return hn::Set(F64(), v); }
HWY_INLINE VF step(VF sum, VF w, double v) { return hn::Add(hn::Mul(sum, w), c(v)); }

// Natural logarithm of x in [2^-53, 1]; error below 1 ulp.
HWY_INLINE VF log_unit(VF x) {
  const U64 du;
  const F64 d;
  const VU bits = hn::Add(hn::BitCast(du, x), hn::Set(du, 0x3FF0000000000000 - 0x3FE6A09E00000000));
  // The exponent as a double: the low digits of 2^52, then the bias goes.
  const VF k =
      hn::Sub(hn::BitCast(d, hn::Or(hn::ShiftRight<52>(bits), hn::Set(du, 0x4330000000000000))), c(0x1p52 + 1023));
  const VU mantissa = hn::Add(hn::And(bits, hn::Set(du, 0x000FFFFFFFFFFFFF)), hn::Set(du, 0x3FE6A09E00000000));
  const VF f = hn::Sub(hn::BitCast(d, mantissa), c(1));
  const VF half_square = hn::Mul(hn::Mul(c(0.5), f), f);
  const VF s = hn::Div(f, hn::Add(c(2), f)), z = hn::Mul(s, s), w = hn::Mul(z, z);
  const VF t1 =
      hn::Mul(w, step(step(c(1.531383769920937332e-01), w, 2.222219843214978396e-01), w, 3.999999999940941908e-01));
  const VF t2 =
      hn::Mul(z, step(step(step(c(1.479819860511658591e-01), w, 1.818357216161805012e-01), w, 2.857142874366239149e-01),
                      w, 6.666666666666735130e-01));
  const VF r = hn::Mul(s, hn::Add(half_square, hn::Add(t2, t1)));
  const VF tail = hn::Add(r, hn::Mul(k, c(1.90821492927058770002e-10)));
  return hn::Add(hn::Add(hn::Sub(tail, half_square), f), hn::Mul(k, c(6.93147180369123816490e-01)));
}

// Lane by lane: `odd` where the integer is odd, else `even`.
HWY_INLINE VF by_parity(VU integer, VF odd, VF even) {
#if HWY_TARGET == HWY_SCALAR
  return (hn::GetLane(integer) & 1) != 0 ? odd : even;
#else
  return hn::IfNegativeThenElse(hn::BitCast(F64(), hn::ShiftLeft<63>(integer)), odd, even);
#endif
}

struct Angle {
  VF sine, cosine;  // of the angle's rest in [-pi/4, pi/4]
  VU quadrant;      // the two low bits count
};

// sin and cos of 2 pi u, as the quadrant and the functions of the rest.
HWY_INLINE Angle turn(VF u) {
  const U64 du;
  const VF t = hn::Mul(u, c(4)), magic = c(0x1.8p52), shifted = hn::Add(t, magic);
  const VF x = hn::Mul(hn::Sub(t, hn::Sub(shifted, magic)), c(1.57079632679489661923));
  const VF z = hn::Mul(x, x), w = hn::Mul(z, z);
  const VF s2 = hn::Add(c(8.33333333332248946124e-03),
                        hn::Mul(z, hn::Add(c(-1.98412698298579493134e-04), hn::Mul(z, c(2.75573137070700676789e-06)))));
  const VF s5 = hn::Add(c(-2.50507602534068634195e-08), hn::Mul(z, c(1.58969099521155010221e-10)));
  const VF rs = hn::Add(s2, hn::Mul(hn::Mul(z, w), s5));
  const VF sine = hn::Add(x, hn::Mul(hn::Mul(z, x), hn::Add(c(-1.66666666666666324348e-01), hn::Mul(z, rs))));
  const VF c1 = hn::Mul(
      z, hn::Add(c(4.16666666666666019037e-02),
                 hn::Mul(z, hn::Add(c(-1.38888888888741095749e-03), hn::Mul(z, c(2.48015872894767294178e-05))))));
  const VF c4 = hn::Add(c(-2.75573143513906633035e-07),
                        hn::Mul(z, hn::Add(c(2.08757232129817482790e-09), hn::Mul(z, c(-1.13596475577881948265e-11)))));
  const VF rc = hn::Add(c1, hn::Mul(hn::Mul(w, w), c4));
  const VF half = hn::Mul(c(0.5), z), whole = hn::Sub(c(1), half);
  const VF cosine = hn::Add(whole, hn::Add(hn::Sub(hn::Sub(c(1), whole), half), hn::Mul(z, rc)));
  return {sine, cosine, hn::BitCast(du, shifted)};
}

// sin(2 pi u); with a quadrant added, cos(2 pi u).
HWY_INLINE VF sine_of(const Angle& a, VU quadrant) {
  const VU sign = hn::And(hn::ShiftLeft<62>(quadrant), hn::Set(U64(), uint64_t{1} << 63));
  return hn::Xor(by_parity(quadrant, a.cosine, a.sine), hn::BitCast(F64(), sign));
}

// Box and Muller: the radius of a block's pair of normal numbers, from its first number.
HWY_INLINE VF radius(const Lanes& s) {
  const F64 d;
  const VF u = hn::Add(unit(s.w0, s.w1), hn::Set(d, 0x1p-53));
  return hn::Sqrt(hn::Mul(hn::Set(d, -2), log_unit(u)));
}

void normal_f64(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, double* out) {
  const U64 du;
  const F64 d;
  each_block<2>(key, draw, 2, block, blocks, lane_blocks(), out, [&](const Lanes& s, double* to) HWY_ATTR {
    const VF r = radius(s);
    const Angle a = turn(unit(s.w2, s.w3));
    const VF even = hn::Mul(r, sine_of(a, hn::Add(a.quadrant, hn::Set(du, 1))));
    store_pairs(d, even, hn::Mul(r, sine_of(a, a.quadrant)), to);
  });
}

void words_u32(uint64_t key, uint32_t draw, uint32_t stream, uint64_t block, int64_t blocks, uint32_t* out) {
  const U64 d;
  each_block<4>(key, draw, stream, block, blocks, lane_blocks(), out, [&](const Lanes& s, uint32_t* to) HWY_ATTR {
    const VU mask = hn::Set(d, kLow);
    const VU front = hn::Or(hn::And(s.w0, mask), hn::ShiftLeft<32>(s.w1));
    const VU back = hn::Or(hn::And(s.w2, mask), hn::ShiftLeft<32>(s.w3));
    HWY_ALIGN uint64_t pairs[2 * hn::MaxLanes(U64())];
    store_pairs(d, front, back, pairs);
    std::memcpy(to, pairs, 2 * hn::Lanes(d) * sizeof(uint64_t));
  });
}

// Calls cell(lanes of the blocks, vector of odd or even) and stores one number per cell.
template <class Cell>
HWY_INLINE void each_cell(uint64_t key, uint32_t draw, uint32_t stream, const int64_t* cells, int64_t n, double* out,
                          const Cell& cell) {
  const U64 du;
  const F64 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(du));
  const AnyBlocks philox{Keys(key), draw, stream};
  for (int64_t i = 0; i < n; i += lanes) {
    HWY_ALIGN uint64_t at[hn::MaxLanes(U64())] = {};
    const int64_t some = std::min(lanes, n - i);
    std::memcpy(at, cells + i, static_cast<size_t>(some) * sizeof(uint64_t));
    const VU e = hn::Load(du, at);
    HWY_ALIGN double cell_values[hn::MaxLanes(U64())];
    hn::Store(cell(philox(hn::ShiftRight<1>(e)), e), d, cell_values);
    std::memcpy(out + i, cell_values, static_cast<size_t>(some) * sizeof(double));
  }
}

void uniform_at_f64(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out) {
  each_cell(key, draw, 0, cells, n, out,
            [](const Lanes& s, VU e) HWY_ATTR { return by_parity(e, unit(s.w2, s.w3), unit(s.w0, s.w1)); });
}

void normal_at_f64(uint64_t key, uint32_t draw, const int64_t* cells, int64_t n, double* out) {
  each_cell(key, draw, 2, cells, n, out, [](const Lanes& s, VU e) HWY_ATTR {
    const U64 du;
    const Angle a = turn(unit(s.w2, s.w3));
    const VU one = hn::Set(du, 1);
    return hn::Mul(radius(s), sine_of(a, hn::Add(a.quadrant, hn::Xor(hn::And(e, one), one))));
  });
}

// What select() writes for a kept cell.
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

// The vector part of select(); returns where it stopped. Words and threshold are below 2^33: compared as signed.
template <class Kept>
HWY_INLINE int64_t select_lanes(const uint32_t* words, uint64_t threshold, int64_t n, const Kept& kept, double* out) {
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
HWY_INLINE int64_t select_lanes(const uint32_t* words, uint64_t threshold, int64_t n, const Kept& kept, float* out) {
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
HWY_INLINE void select(const uint32_t* words, uint64_t threshold, int64_t n, const Kept& kept, T* out) {
  for (int64_t i = select_lanes(words, threshold, n, kept, out); i < n; ++i)
    out[i] = words[i] < threshold ? kept.one(i) : T{0};
}

void keep_f64(const uint32_t* words, uint64_t threshold, int64_t n, double* out) {
  select(words, threshold, n, Same<double>{out}, out);
}
void keep_f32(const uint32_t* words, uint64_t threshold, int64_t n, float* out) {
  select(words, threshold, n, Same<float>{out}, out);
}
void choose_f64(const uint32_t* words, uint64_t threshold, int64_t n, double value, double* out) {
  select(words, threshold, n, Fixed<double>{value}, out);
}
void choose_f32(const uint32_t* words, uint64_t threshold, int64_t n, float value, float* out) {
  select(words, threshold, n, Fixed<float>{value}, out);
}

int64_t count_u32(const uint32_t* words, uint64_t threshold, int64_t n) {
  int64_t total = 0, i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::RebindToSigned<hn::Repartition<uint32_t, U64>> d;
  const auto flip = hn::Set(d, INT32_MIN);
  const auto limit = hn::Xor(hn::Set(d, static_cast<int32_t>(static_cast<uint32_t>(threshold - 1))), flip);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (threshold == 0) return 0;
  for (; i + lanes <= n; i += lanes) {
    const auto w = hn::Xor(hn::LoadU(d, reinterpret_cast<const int32_t*>(words + i)), flip);
    total += lanes - static_cast<int64_t>(hn::CountTrue(d, hn::Gt(w, limit)));
  }
#endif
  for (; i < n; ++i) total += words[i] < threshold;
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

void uniform(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, double low, double range, double* out) {
  HWY_DYNAMIC_DISPATCH(uniform_f64)(key, draw, block, blocks, low, range, out);
}
void uniform(uint64_t key, uint32_t draw, uint64_t block, int64_t blocks, float low, float range, float* out) {
  HWY_DYNAMIC_DISPATCH(uniform_f32)(key, draw, block, blocks, low, range, out);
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
int64_t count(const uint32_t* words, uint64_t threshold, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(count_u32)(words, threshold, n);
}

}  // namespace hopline::draw
#endif  // HWY_ONCE
