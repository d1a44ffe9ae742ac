// The functions of Highway that dispatch to a CPU's instructions needs. Its library has them too, but measures the
// resolution of the clock when it is loaded: 3 ms, more than the rest of the start of a short script.
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace hwy {
namespace {

std::atomic<int64_t> for_test{0};

int64_t detected_targets() {
  int64_t targets = HWY_SCALAR | HWY_EMU128 | HWY_ENABLED_BASELINE;
#if HWY_ARCH_X86
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.1") || !__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul") ||
      !__builtin_cpu_supports("aes"))
    return targets;
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("lzcnt"))
    return targets;
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd"))
    return targets;
  targets |= HWY_AVX3;
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("vpclmulqdq") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("vaes") &&
      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bitalg") &&
      __builtin_cpu_supports("gfni"))
    targets |= HWY_AVX3_DL;
#endif
  return targets;
}

}  // namespace

int64_t SupportedTargets() {
  const int64_t chosen = for_test;
  return chosen != 0 ? chosen : detected_targets();
}

void SetSupportedTargetsForTest(int64_t targets) {
  for_test = targets;
  GetChosenTarget().DeInit();  // chosen anew at the next call
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget target;
  return target;
}

}  // namespace hwy
