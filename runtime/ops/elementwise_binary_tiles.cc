// Expands binary.def into code over tiles, once per CPU target.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/elementwise_binary_tiles.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "runtime/ops/cellwise.h"
#include "runtime/ops/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace hopline::HWY_NAMESPACE {
namespace {

#define DML_BINARY(id, name, alias, result, laws, zero, flops, doc, example, body) \
  struct Binary_##id {                                                             \
    template <class V>                                                             \
    static HWY_INLINE V run(V a, V b) {                                            \
      return (body);                                                               \
    }                                                                              \
  };
#include "runtime/ops/binary.def"
#undef DML_BINARY

// A stream of operands: cells in memory, or one value for all.
template <class T>
struct Cells {
  const T* from;
  HWY_INLINE VectorOf<T> at(size_t i) const { return load(from + i); }
  HWY_INLINE T one(size_t i) const { return from[i]; }
};
template <class T>
struct Same {
  explicit Same(T x) : value(x), vector(VectorOf<T>(x)) {}
  T value;
  VectorOf<T> vector;
  HWY_INLINE VectorOf<T> at(size_t) const { return vector; }
  HWY_INLINE T one(size_t) const { return value; }
};

// The last vector overlaps the one before it. It is computed first, since `out` may be an input.
template <class F, class T, class A, class B>
HWY_INLINE void run_tile(const A a, const B b, T* out, size_t n, F f) {
  constexpr size_t kStep = kLanes<T>;
  if (n < kStep) {
    T x[kStep] = {}, y[kStep] = {};
    for (size_t i = 0; i < n; ++i) x[i] = a.one(i), y[i] = b.one(i);
    store(f(load(x), load(y)), x);
    for (size_t i = 0; i < n; ++i) out[i] = x[i];
    return;
  }
  if (n == 0) return;
  const auto last = f(a.at(n - kStep), b.at(n - kStep));
  size_t i = 0;
  for (; i + 2 * kStep < n; i += 2 * kStep) {
    const auto x = f(a.at(i), b.at(i)), y = f(a.at(i + kStep), b.at(i + kStep));
    store(x, out + i), store(y, out + i + kStep);
  }
  if (i + kStep < n) store(f(a.at(i), b.at(i)), out + i);
  store(last, out + n - kStep);
}

template <class F>
struct Apply {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return F::run(a, b);
  }
};

template <class F, class T>
void run_both(const T* a, const T* b, T* out, size_t n) {
  run_tile(Cells<T>{a}, Cells<T>{b}, out, n, Apply<F>());
}
template <class F, class T>
void run_left(T a, const T* b, T* out, size_t n) {
  run_tile(Same<T>(a), Cells<T>{b}, out, n, Apply<F>());
}
template <class F, class T>
void run_right(const T* a, T b, T* out, size_t n) {
  run_tile(Cells<T>{a}, Same<T>(b), out, n, Apply<F>());
}
template <class F, class T>
T run_cell(T a, T b) {
  return F::run(a, b);
}

// One power for all cells: most scripts use those that need no logarithm.
struct Square {
  template <class V>
  HWY_INLINE V operator()(V a, V) const {
    return a * a;
  }
};
struct Root {
  template <class V>
  HWY_INLINE V operator()(V a, V) const {
    return power_half(a);
  }
};
template <>
void run_right<Binary_power, double>(const double* a, double b, double* out, size_t n) {
  if (b == 2) return run_tile(Cells<double>{a}, Same<double>(b), out, n, Square());
  if (b == 0.5) return run_tile(Cells<double>{a}, Same<double>(b), out, n, Root());
  run_tile(Cells<double>{a}, Same<double>(b), out, n, Apply<Binary_power>());
}
template <>
void run_right<Binary_power, float>(const float* a, float b, float* out, size_t n) {
  if (b == 2) return run_tile(Cells<float>{a}, Same<float>(b), out, n, Square());
  if (b == 0.5F) return run_tile(Cells<float>{a}, Same<float>(b), out, n, Root());
  run_tile(Cells<float>{a}, Same<float>(b), out, n, Apply<Binary_power>());
}

template <class T>
constexpr BinaryTiles<T> kTable[] = {
#define DML_BINARY(id, ...) \
  {&run_both<Binary_##id, T>, &run_right<Binary_##id, T>, &run_left<Binary_##id, T>, &run_cell<Binary_##id, T>},
#include "runtime/ops/binary.def"
#undef DML_BINARY
};

const BinaryTiles<double>* double_table() { return kTable<double>; }
const BinaryTiles<float>* float_table() { return kTable<float>; }

template <class T>
HWY_INLINE void choose(const T* condition, const T* yes, const T* no, T* out, size_t n) {
  using V = VectorOf<T>;
  size_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>)
    store(select(load(condition + i) != V(0), load(yes + i), load(no + i)), out + i);
  for (; i < n; ++i) out[i] = condition[i] != T(0) ? yes[i] : no[i];
}
void choose_double(const double* c, const double* yes, const double* no, double* out, size_t n) {
  choose(c, yes, no, out, n);
}
void choose_float(const float* c, const float* yes, const float* no, float* out, size_t n) {
  choose(c, yes, no, out, n);
}

}  // namespace
}  // namespace hopline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline {

HWY_EXPORT(double_table);
HWY_EXPORT(float_table);
HWY_EXPORT(choose_double);
HWY_EXPORT(choose_float);

template <>
const BinaryTiles<double>* binary_tile_table() {
  return HWY_DYNAMIC_DISPATCH(double_table)();
}
template <>
const BinaryTiles<float>* binary_tile_table() {
  return HWY_DYNAMIC_DISPATCH(float_table)();
}
template <>
void ifelse_tile(const double* condition, const double* yes, const double* no, double* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(choose_double)(condition, yes, no, out, n);
}
template <>
void ifelse_tile(const float* condition, const float* yes, const float* no, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(choose_float)(condition, yes, no, out, n);
}

}  // namespace hopline
#endif
