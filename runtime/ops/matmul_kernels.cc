#include "runtime/ops/matmul_kernels.h"

// One build per target; SSE levels between the baseline and AVX2 are left out to keep the library small.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/matmul_kernels.cc"
#include "hwy/foreach_target.h"  // includes this file once per target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace hopline {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The first `lanes` lanes of a vector; nothing behind them is touched, and the other lanes are 0.
template <class D>
struct Tail {
  using T = hn::TFromD<D>;
  hn::Mask<D> mask;
  int64_t lanes;
  HWY_INLINE Tail(D d, int64_t n) : mask(hn::FirstN(d, static_cast<size_t>(n))), lanes(n) {}
  HWY_INLINE hn::Vec<D> load(D d, const T* p) const {
#if HWY_TARGET == HWY_EMU128  // its masked load reads all lanes
    HWY_ALIGN T cells[16 / sizeof(T)] = {};
    for (int64_t i = 0; i < lanes; ++i) cells[i] = p[i];
    return hn::Load(d, cells);
#else
    return hn::MaskedLoad(mask, d, p);
#endif
  }
  HWY_INLINE void store(D d, hn::Vec<D> v, T* p) const { hn::BlendedStore(v, mask, d, p); }
};

template <bool kPartial, class D>
HWY_INLINE hn::Vec<D> load(D d, const Tail<D>& tail, const hn::TFromD<D>* p) {
  if constexpr (kPartial)
    return tail.load(d, p);
  else
    return hn::LoadU(d, p);
}

// A tile of kRows rows and kVectors vectors of columns, the last of which may be partial.
template <int kRows, int kVectors, bool kPartial, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void product_tile(D d, int64_t lanes, int64_t k, const T* HWY_RESTRICT a, int64_t a_row, int64_t a_col,
                               const T* HWY_RESTRICT b, int64_t ldb, T* HWY_RESTRICT c, int64_t ldc, bool add) {
  using V = hn::Vec<D>;
  const int64_t width = static_cast<int64_t>(hn::Lanes(d));
  const Tail<D> tail(d, lanes);
  V sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  for (int64_t p = 0; p < k; ++p) {
    V right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      right[v] = v + 1 == kVectors ? load<kPartial>(d, tail, b + v * width) : hn::LoadU(d, b + v * width);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, a[r * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
    a += a_col;
    b += ldb;
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      T* to = c + r * ldc + v * width;
      if (kPartial && v + 1 == kVectors) {
        const V sum = add ? hn::Add(sums[r][v], tail.load(d, to)) : sums[r][v];
        tail.store(d, sum, to);
      } else {
        hn::StoreU(add ? hn::Add(sums[r][v], hn::LoadU(d, to)) : sums[r][v], d, to);
      }
    }
}

template <int kVectors, bool kPartial, class D, class T = hn::TFromD<D>>
void product_strip(D d, int64_t lanes, int64_t m, int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b,
                   int64_t ldb, T* c, int64_t ldc, bool add) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4)
    product_tile<4, kVectors, kPartial>(d, lanes, k, a + i * a_row, a_row, a_col, b, ldb, c + i * ldc, ldc, add);
  a += i * a_row, c += i * ldc;
  switch (m - i) {
    case 3:
      return product_tile<3, kVectors, kPartial>(d, lanes, k, a, a_row, a_col, b, ldb, c, ldc, add);
    case 2:
      return product_tile<2, kVectors, kPartial>(d, lanes, k, a, a_row, a_col, b, ldb, c, ldc, add);
    case 1:
      return product_tile<1, kVectors, kPartial>(d, lanes, k, a, a_row, a_col, b, ldb, c, ldc, add);
    default:
      return;
  }
}

template <class T>
void product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t ldb, T* c,
             int64_t ldc, bool add) {
  const hn::ScalableTag<T> d;
  const int64_t width = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + 3 * width <= n; j += 3 * width)
    product_strip<3, false>(d, width, m, k, a, a_row, a_col, b + j, ldb, c + j, ldc, add);
  const int64_t left = n - j, whole = left / width, lanes = left % width;
  b += j, c += j;
  if (lanes == 0) {
    if (whole == 2) product_strip<2, false>(d, width, m, k, a, a_row, a_col, b, ldb, c, ldc, add);
    if (whole == 1) product_strip<1, false>(d, width, m, k, a, a_row, a_col, b, ldb, c, ldc, add);
    return;
  }
  if (whole == 2) product_strip<3, true>(d, lanes, m, k, a, a_row, a_col, b, ldb, c, ldc, add);
  if (whole == 1) product_strip<2, true>(d, lanes, m, k, a, a_row, a_col, b, ldb, c, ldc, add);
  if (whole == 0) product_strip<1, true>(d, lanes, m, k, a, a_row, a_col, b, ldb, c, ldc, add);
}

// kRows rows at a time, so that x is loaded once; each row has the same order of sums whatever kRows is.
template <int kRows, class T>
HWY_INLINE void dots(int64_t k, const T* HWY_RESTRICT a, int64_t lda, const T* HWY_RESTRICT x, T* HWY_RESTRICT y,
                     bool add) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t width = static_cast<int64_t>(hn::Lanes(d));
  V even[kRows], odd[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) even[r] = hn::Zero(d), odd[r] = hn::Zero(d);
  int64_t p = 0;
  for (; p + 2 * width <= k; p += 2 * width) {
    const V x0 = hn::LoadU(d, x + p), x1 = hn::LoadU(d, x + p + width);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      even[r] = hn::MulAdd(hn::LoadU(d, a + r * lda + p), x0, even[r]);
      odd[r] = hn::MulAdd(hn::LoadU(d, a + r * lda + p + width), x1, odd[r]);
    }
  }
  for (; p < k; p += width) {
    const Tail<decltype(d)> tail(d, k - p < width ? k - p : width);
    const V x0 = tail.load(d, x + p);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) even[r] = hn::MulAdd(tail.load(d, a + r * lda + p), x0, even[r]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[r], odd[r])));
    y[r] = add ? y[r] + sum : sum;
  }
}

template <class T>
void row_dots(int64_t rows, int64_t k, const T* a, int64_t lda, const T* x, T* y, bool add) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) dots<4>(k, a + i * lda, lda, x, y + i, add);
  for (; i < rows; ++i) dots<1>(k, a + i * lda, lda, x, y + i, add);
}

template <int kRows, class T>
HWY_INLINE void add_rows(int64_t n, const T* HWY_RESTRICT a, int64_t lda, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t width = static_cast<int64_t>(hn::Lanes(d));
  V weights[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) weights[r] = hn::Set(d, x[r]);
  int64_t j = 0;
  for (; j + width <= n; j += width) {
    V sum = hn::LoadU(d, y + j);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) sum = hn::MulAdd(weights[r], hn::LoadU(d, a + r * lda + j), sum);
    hn::StoreU(sum, d, y + j);
  }
  if (j == n) return;
  const Tail<decltype(d)> tail(d, n - j);
  V sum = tail.load(d, y + j);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sum = hn::MulAdd(weights[r], tail.load(d, a + r * lda + j), sum);
  tail.store(d, sum, y + j);
}

template <class T>
void add_weighted_rows(int64_t rows, int64_t n, const T* a, int64_t lda, const T* x, T* y) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) add_rows<4>(n, a + i * lda, lda, x + i, y);
  for (; i < rows; ++i) add_rows<1>(n, a + i * lda, lda, x + i, y);
}

template <class T>
void add_scaled(int64_t n, T factor, const T* from, T* to) {
  add_rows<1>(n, from, 0, &factor, to);
}

// One row of a sparse matrix times kVectors vectors of columns of B.
template <int kVectors, bool kPartial, class D, class T = hn::TFromD<D>>
HWY_INLINE void sparse_row(D d, int64_t lanes, int64_t entries, const int32_t* HWY_RESTRICT columns,
                           const T* HWY_RESTRICT values, const T* HWY_RESTRICT b, int64_t ldb, T* HWY_RESTRICT c) {
  using V = hn::Vec<D>;
  const int64_t width = static_cast<int64_t>(hn::Lanes(d));
  const Tail<D> tail(d, lanes);
  V sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (int64_t e = 0; e < entries; ++e) {
    const T* row = b + columns[e] * ldb;
    const V left = hn::Set(d, values[e]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const V right = v + 1 == kVectors ? load<kPartial>(d, tail, row + v * width) : hn::LoadU(d, row + v * width);
      sums[v] = hn::MulAdd(left, right, sums[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    if (kPartial && v + 1 == kVectors)
      tail.store(d, sums[v], c + v * width);
    else
      hn::StoreU(sums[v], d, c + v * width);
  }
}

// Four sums side by side hide the latency of the additions.
template <class T>
HWY_INLINE T sparse_dot(int64_t entries, const int32_t* HWY_RESTRICT columns, const T* HWY_RESTRICT values,
                        const T* HWY_RESTRICT x) {
  T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int64_t e = 0;
  for (; e + 4 <= entries; e += 4) {
    s0 += values[e] * x[columns[e]];
    s1 += values[e + 1] * x[columns[e + 1]];
    s2 += values[e + 2] * x[columns[e + 2]];
    s3 += values[e + 3] * x[columns[e + 3]];
  }
  for (; e < entries; ++e) s0 += values[e] * x[columns[e]];
  return (s0 + s1) + (s2 + s3);
}

template <class T>
void sparse_rows(int64_t rows, int64_t n, const int64_t* offsets, const int32_t* columns, const T* values, const T* b,
                 int64_t ldb, T* c, int64_t ldc) {
  const hn::ScalableTag<T> d;
  const int64_t width = static_cast<int64_t>(hn::Lanes(d));
  if (n == 1 && ldb == 1) {
    for (int64_t i = 0; i < rows; ++i)
      c[i * ldc] = sparse_dot(offsets[i + 1] - offsets[i], columns + offsets[i], values + offsets[i], b);
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t entries = offsets[i + 1] - offsets[i];
    const int32_t* cols = columns + offsets[i];
    const T* vals = values + offsets[i];
    T* to = c + i * ldc;
    int64_t j = 0;
    for (; j + 4 * width <= n; j += 4 * width) sparse_row<4, false>(d, width, entries, cols, vals, b + j, ldb, to + j);
    for (; j + width <= n; j += width) sparse_row<1, false>(d, width, entries, cols, vals, b + j, ldb, to + j);
    if (j < n) sparse_row<1, true>(d, n - j, entries, cols, vals, b + j, ldb, to + j);
  }
}

template <class T>
void add_lanes(int64_t entries, const int32_t* HWY_RESTRICT columns, const T* HWY_RESTRICT values,
               const T* HWY_RESTRICT a, T* HWY_RESTRICT c) {
  const hn::CappedTag<T, kLaneRows> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kVectors = static_cast<int>(kLaneRows / hn::MaxLanes(hn::CappedTag<T, kLaneRows>()));
  const int64_t width = static_cast<int64_t>(hn::Lanes(d));
  V left[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) left[v] = hn::LoadU(d, a + v * width);
  for (int64_t e = 0; e < entries; ++e) {
    T* to = c + columns[e] * kLaneRows;
    const V value = hn::Set(d, values[e]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(hn::MulAdd(value, left[v], hn::LoadU(d, to + v * width)), d, to + v * width);
  }
}

template <class T>
const MatmulKernels<T>* table() {
  static constexpr MatmulKernels<T> kTable = {product<T>,    row_dots<T>,    add_weighted_rows<T>,
                                              add_scaled<T>, sparse_rows<T>, add_lanes<T>};
  return &kTable;
}
const MatmulKernels<double>* table_f64() { return table<double>(); }
const MatmulKernels<float>* table_f32() { return table<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace hopline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline {

HWY_EXPORT(table_f64);
HWY_EXPORT(table_f32);

template <>
const MatmulKernels<double>& matmul_kernels<double>() {
  static const MatmulKernels<double>* const kChosen = HWY_DYNAMIC_DISPATCH(table_f64)();
  return *kChosen;
}
template <>
const MatmulKernels<float>& matmul_kernels<float>() {
  static const MatmulKernels<float>* const kChosen = HWY_DYNAMIC_DISPATCH(table_f32)();
  return *kChosen;
}

}  // namespace hopline
#endif
