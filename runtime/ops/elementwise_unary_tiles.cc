// Expands unary.def into code over tiles, once per CPU target.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/elementwise_unary_tiles.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "runtime/ops/cellwise.h"
#include "runtime/ops/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace hopline::HWY_NAMESPACE {
namespace {

#define DML_UNARY(id, name, alias, result, zero, flops, hidden, doc, example, body) \
  struct Unary_##id {                                                               \
    template <class V>                                                              \
    static HWY_INLINE V run(V x) {                                                  \
      return (body);                                                                \
    }                                                                               \
  };
#include "runtime/ops/unary.def"
#undef DML_UNARY

// The last vector overlaps the one before it. It is computed first, since `out` may be `in`.
template <class F, class T>
void run_tile(const T* in, T* out, size_t n) {
  constexpr size_t kStep = kLanes<T>;
  if (n < kStep) {
    T cells[kStep] = {};
    for (size_t i = 0; i < n; ++i) cells[i] = in[i];
    store(F::run(load(cells)), cells);
    for (size_t i = 0; i < n; ++i) out[i] = cells[i];
    return;
  }
  if (n == 0) return;
  const auto last = F::run(load(in + n - kStep));
  size_t i = 0;
  for (; i + 2 * kStep < n; i += 2 * kStep) {
    const auto x = F::run(load(in + i)), y = F::run(load(in + i + kStep));
    store(x, out + i), store(y, out + i + kStep);
  }
  if (i + kStep < n) store(F::run(load(in + i)), out + i);
  store(last, out + n - kStep);
}

template <class F, class T>
T run_cell(T x) {
  return F::run(x);
}

template <class T>
constexpr UnaryTiles<T> kTable[] = {
#define DML_UNARY(id, ...) {&run_tile<Unary_##id, T>, &run_cell<Unary_##id, T>},
#include "runtime/ops/unary.def"
#undef DML_UNARY
};

const UnaryTiles<double>* double_table() { return kTable<double>; }
const UnaryTiles<float>* float_table() { return kTable<float>; }

}  // namespace
}  // namespace hopline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hopline {

HWY_EXPORT(double_table);
HWY_EXPORT(float_table);

template <>
const UnaryTiles<double>* unary_tile_table() {
  return HWY_DYNAMIC_DISPATCH(double_table)();
}
template <>
const UnaryTiles<float>* unary_tile_table() {
  return HWY_DYNAMIC_DISPATCH(float_table)();
}

}  // namespace hopline
#endif
