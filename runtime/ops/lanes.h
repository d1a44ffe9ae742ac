// One value type for scalars and SIMD vectors, compiled once per target of Highway. Bodies of cell-wise functions are
// templates over V = double, float, Lanes<double>, Lanes<float>; the primitives here give all of them equal bits.
// Included once per target, after hwy/foreach_target.h.
#if defined(HOPLINE_LANES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOPLINE_LANES_H_
#undef HOPLINE_LANES_H_
#else
#define HOPLINE_LANES_H_
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"

// Vectors are used from AVX2 on. The baseline runs the same bodies on scalars.
#undef HOPLINE_VECTORS
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define HOPLINE_VECTORS 1
#else
#define HOPLINE_VECTORS 0
#endif

// The deterministic functions of SLEEF: with fma (finz) wherever the CPU has it, without (cinz) on older ones.
#undef HOPLINE_DOUBLE
#undef HOPLINE_FLOAT
#undef HOPLINE_DOUBLES
#undef HOPLINE_FLOATS
#if HOPLINE_VECTORS
#define HOPLINE_DOUBLE(f) Sleef_finz_##f##d1_u10purecfma
#define HOPLINE_FLOAT(f) Sleef_finz_##f##f1_u10purecfma
#else
#define HOPLINE_DOUBLE(f) Sleef_cinz_##f##d1_u10purec
#define HOPLINE_FLOAT(f) Sleef_cinz_##f##f1_u10purec
#endif
#if HWY_TARGET == HWY_AVX3
#define HOPLINE_DOUBLES(f) Sleef_finz_##f##d8_u10avx512f
#define HOPLINE_FLOATS(f) Sleef_finz_##f##f16_u10avx512f
#elif HWY_TARGET == HWY_AVX2
#define HOPLINE_DOUBLES(f) Sleef_finz_##f##d4_u10avx2
#define HOPLINE_FLOATS(f) Sleef_finz_##f##f8_u10avx2
#endif
#undef HOPLINE_SLEEF_UNARY
#define HOPLINE_SLEEF_UNARY(APPLY) \
  APPLY(exp)                       \
  APPLY(log) APPLY(sin) APPLY(cos) APPLY(tan) APPLY(asin) APPLY(acos) APPLY(atan) APPLY(sinh) APPLY(cosh) APPLY(tanh)

HWY_BEFORE_NAMESPACE();
namespace hopline::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

extern "C" {
#define HOPLINE_DECLARE(f)          \
  double HOPLINE_DOUBLE(f)(double); \
  float HOPLINE_FLOAT(f)(float);
HOPLINE_SLEEF_UNARY(HOPLINE_DECLARE)
double HOPLINE_DOUBLE(pow)(double, double);
float HOPLINE_FLOAT(pow)(float, float);
#undef HOPLINE_DECLARE
#if HWY_TARGET == HWY_AVX3
using RawDoubles = __m512d;
using RawFloats = __m512;
#elif HWY_TARGET == HWY_AVX2
using RawDoubles = __m256d;
using RawFloats = __m256;
#endif
#if HOPLINE_VECTORS
#define HOPLINE_DECLARE(f)                   \
  RawDoubles HOPLINE_DOUBLES(f)(RawDoubles); \
  RawFloats HOPLINE_FLOATS(f)(RawFloats);
HOPLINE_SLEEF_UNARY(HOPLINE_DECLARE)
RawDoubles HOPLINE_DOUBLES(pow)(RawDoubles, RawDoubles);
RawFloats HOPLINE_FLOATS(pow)(RawFloats, RawFloats);
#undef HOPLINE_DECLARE
#endif
}  // extern "C"

// Scalars. exp() and its like hide those of <cmath>.
#define HOPLINE_SCALAR(f)                                        \
  HWY_INLINE double f(double x) { return HOPLINE_DOUBLE(f)(x); } \
  HWY_INLINE float f(float x) { return HOPLINE_FLOAT(f)(x); }
HOPLINE_SLEEF_UNARY(HOPLINE_SCALAR)
#undef HOPLINE_SCALAR
HWY_INLINE double pow(double x, double y) { return HOPLINE_DOUBLE(pow)(x, y); }
HWY_INLINE float pow(float x, float y) { return HOPLINE_FLOAT(pow)(x, y); }
#define HOPLINE_SCALAR(T)                                                     \
  HWY_INLINE T abs(T x) { return std::fabs(x); }                              \
  HWY_INLINE T sqrt(T x) { return std::sqrt(x); }                             \
  HWY_INLINE T floor(T x) { return std::floor(x); }                           \
  HWY_INLINE T ceil(T x) { return std::ceil(x); }                             \
  HWY_INLINE T copysign(T size, T sign) { return std::copysign(size, sign); } \
  HWY_INLINE T select(bool which, T yes, T no) { return which ? yes : no; }
HOPLINE_SCALAR(double)
HOPLINE_SCALAR(float)
#undef HOPLINE_SCALAR
// The larger and the smaller of two numbers of which none is NaN; of two zeros +0 is the larger.
HWY_INLINE double larger(double a, double b) { return a > b ? a : b > a ? b : std::signbit(a) ? b : a; }
HWY_INLINE float larger(float a, float b) { return a > b ? a : b > a ? b : std::signbit(a) ? b : a; }
HWY_INLINE double smaller(double a, double b) { return a < b ? a : b < a ? b : std::signbit(a) ? a : b; }
HWY_INLINE float smaller(float a, float b) { return a < b ? a : b < a ? b : std::signbit(a) ? a : b; }

// Cells per vector, and the vector type of T: T itself on the baseline.
#if HOPLINE_VECTORS

template <class T>
struct Lanes {
  using D = hn::ScalableTag<T>;
  hn::Vec<D> v;
  HWY_INLINE Lanes() = default;
  HWY_INLINE explicit Lanes(hn::Vec<D> x) : v(x) {}
  HWY_INLINE explicit Lanes(double x) : v(hn::Set(D(), static_cast<T>(x))) {}
};
template <class T>
struct LaneMask {
  hn::Mask<hn::ScalableTag<T>> m;
};

#define HOPLINE_OPERATOR(token, F)                             \
  template <class T>                                           \
  HWY_INLINE Lanes<T> operator token(Lanes<T> a, Lanes<T> b) { \
    return Lanes<T>(hn::F(a.v, b.v));                          \
  }
HOPLINE_OPERATOR(+, Add)
HOPLINE_OPERATOR(-, Sub)
HOPLINE_OPERATOR(*, Mul)
HOPLINE_OPERATOR(/, Div)
#undef HOPLINE_OPERATOR
#define HOPLINE_OPERATOR(token, F)                                \
  template <class T>                                              \
  HWY_INLINE LaneMask<T> operator token(Lanes<T> a, Lanes<T> b) { \
    return {hn::F(a.v, b.v)};                                     \
  }
HOPLINE_OPERATOR(<, Lt)
HOPLINE_OPERATOR(<=, Le)
HOPLINE_OPERATOR(>, Gt)
HOPLINE_OPERATOR(>=, Ge)
HOPLINE_OPERATOR(==, Eq)
#undef HOPLINE_OPERATOR
#define HOPLINE_OPERATOR(token, F)                                      \
  template <class T>                                                    \
  HWY_INLINE LaneMask<T> operator token(LaneMask<T> a, LaneMask<T> b) { \
    return {hn::F(a.m, b.m)};                                           \
  }
HOPLINE_OPERATOR(&, And)
HOPLINE_OPERATOR(|, Or)
HOPLINE_OPERATOR(^, Xor)
#undef HOPLINE_OPERATOR
template <class T>
HWY_INLINE LaneMask<T> operator!(LaneMask<T> a) {
  return {hn::Not(a.m)};
}
// NaN differs from everything; Highway's Ne says it does not.
template <class T>
HWY_INLINE LaneMask<T> operator!=(Lanes<T> a, Lanes<T> b) {
  return {hn::Not(hn::Eq(a.v, b.v))};
}
template <class T>
HWY_INLINE Lanes<T> operator-(Lanes<T> a) {
  return Lanes<T>(hn::Neg(a.v));
}
template <class T>
HWY_INLINE Lanes<T> select(LaneMask<T> which, Lanes<T> yes, Lanes<T> no) {
  return Lanes<T>(hn::IfThenElse(which.m, yes.v, no.v));
}
template <class T>
HWY_INLINE Lanes<T> copysign(Lanes<T> size, Lanes<T> sign) {
  return Lanes<T>(hn::CopySign(size.v, sign.v));
}
// Max and Min of x86 return the second operand where both are zeros, so the two orders differ in the sign bit alone.
template <class T>
HWY_INLINE Lanes<T> larger(Lanes<T> a, Lanes<T> b) {
  return Lanes<T>(hn::And(hn::Max(a.v, b.v), hn::Max(b.v, a.v)));
}
template <class T>
HWY_INLINE Lanes<T> smaller(Lanes<T> a, Lanes<T> b) {
  return Lanes<T>(hn::Or(hn::Min(a.v, b.v), hn::Min(b.v, a.v)));
}
#define HOPLINE_FUNCTION(f, F)        \
  template <class T>                  \
  HWY_INLINE Lanes<T> f(Lanes<T> x) { \
    return Lanes<T>(hn::F(x.v));      \
  }
HOPLINE_FUNCTION(abs, Abs)
HOPLINE_FUNCTION(sqrt, Sqrt)
HOPLINE_FUNCTION(floor, Floor)
HOPLINE_FUNCTION(ceil, Ceil)
#undef HOPLINE_FUNCTION
#define HOPLINE_FUNCTION(f)                                                              \
  HWY_INLINE Lanes<double> f(Lanes<double> x) {                                          \
    return Lanes<double>(hn::Vec<hn::ScalableTag<double>>{HOPLINE_DOUBLES(f)(x.v.raw)}); \
  }                                                                                      \
  HWY_INLINE Lanes<float> f(Lanes<float> x) {                                            \
    return Lanes<float>(hn::Vec<hn::ScalableTag<float>>{HOPLINE_FLOATS(f)(x.v.raw)});    \
  }
HOPLINE_SLEEF_UNARY(HOPLINE_FUNCTION)
#undef HOPLINE_FUNCTION
HWY_INLINE Lanes<double> pow(Lanes<double> x, Lanes<double> y) {
  return Lanes<double>(hn::Vec<hn::ScalableTag<double>>{HOPLINE_DOUBLES(pow)(x.v.raw, y.v.raw)});
}
HWY_INLINE Lanes<float> pow(Lanes<float> x, Lanes<float> y) {
  return Lanes<float>(hn::Vec<hn::ScalableTag<float>>{HOPLINE_FLOATS(pow)(x.v.raw, y.v.raw)});
}

template <class T>
using VectorOf = Lanes<T>;
template <class T>
constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
template <class T>
HWY_INLINE Lanes<T> load(const T* from) {
  return Lanes<T>(hn::LoadU(hn::ScalableTag<T>(), from));
}
template <class T>
HWY_INLINE void store(Lanes<T> x, T* to) {
  hn::StoreU(x.v, hn::ScalableTag<T>(), to);
}

#else

template <class T>
using VectorOf = T;
template <class T>
constexpr size_t kLanes = 1;
HWY_INLINE double load(const double* from) { return *from; }
HWY_INLINE float load(const float* from) { return *from; }
HWY_INLINE void store(double x, double* to) { *to = x; }
HWY_INLINE void store(float x, float* to) { *to = x; }

#endif

// Does the condition hold in any lane?
HWY_INLINE bool any(bool condition) { return condition; }
#if HOPLINE_VECTORS
template <class T>
HWY_INLINE bool any(LaneMask<T> condition) {
  return !hn::AllFalse(hn::ScalableTag<T>(), condition.m);
}
#endif

// 1 where the condition holds, else 0.
template <class V, class M>
HWY_INLINE V flag(M condition) {
  return select(condition, V(1), V(0));
}

// Functions of one or two ints on each lane; for operations that are defined on 32-bit integers.
template <class T>
HWY_INLINE int32_t to_int32(T x) {
  if (!(x > T(-2147483648.0))) return x != x ? 0 : std::numeric_limits<int32_t>::min();
  return x >= T(2147483648.0) ? std::numeric_limits<int32_t>::max() : static_cast<int32_t>(x);
}
template <class F>
HWY_INLINE double each_int32(double a, double b, F f) {
  return static_cast<double>(f(to_int32(a), to_int32(b)));
}
template <class F>
HWY_INLINE float each_int32(float a, float b, F f) {
  return static_cast<float>(f(to_int32(a), to_int32(b)));
}
#if HOPLINE_VECTORS
template <class T, class F>
HWY_INLINE Lanes<T> each_int32(Lanes<T> a, Lanes<T> b, F f) {
  T x[kLanes<T>], y[kLanes<T>];
  store(a, x), store(b, y);
  for (size_t i = 0; i < kLanes<T>; ++i) x[i] = each_int32(x[i], y[i], f);
  return load(x);
}
#endif

#include "runtime/ops/cell_functions.def"

}  // namespace hopline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HOPLINE_LANES_H_
