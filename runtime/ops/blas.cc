// Finding a library whose products are right and fast on this CPU.
#include "runtime/ops/blas.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/ops/blas_loops.h"

namespace hopline {

namespace {

constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

// While it lives, the process's environment has other values for the given names. The array of entries is exchanged as
// a whole, so a getenv on another thread reads either the old or the new one, both valid; new arrays are never freed.
class Environment {
 public:
  using Values = std::vector<std::pair<std::string, std::string>>;
  explicit Environment(const Values& values) : before_(environ) {
    static std::vector<std::unique_ptr<Environment::Block>> kept;
    kept.push_back(std::make_unique<Block>());
    Block& block = *kept.back();
    const auto replaced = [&](std::string_view entry) {
      for (const auto& [name, value] : values)
        if (entry.size() > name.size() && entry.substr(0, name.size()) == name && entry[name.size()] == '=')
          return true;
      return false;
    };
    for (char** e = before_; e != nullptr && *e != nullptr; ++e)
      if (!replaced(*e)) block.entries.push_back(*e);
    block.texts.reserve(values.size());
    for (const auto& [name, value] : values) {
      if (value.empty()) continue;
      block.texts.push_back(name + "=" + value);
      block.entries.push_back(block.texts.back().data());
    }
    block.entries.push_back(nullptr);
    during_ = block.entries.data();
    environ = during_;
  }
  ~Environment() {
    if (environ == during_) environ = before_;
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  struct Block {
    std::vector<char*> entries;
    std::vector<std::string> texts;
  };
  char** before_;
  char** during_;
};

// What a CPU or a kernel set of OpenBLAS can do.
enum class Vectors { baseline, avx, avx2, avx512 };

Vectors cpu_vectors() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
    return Vectors::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Vectors::avx2;
  if (__builtin_cpu_supports("avx")) return Vectors::avx;
#endif
  return Vectors::baseline;
}

Vectors core_vectors(std::string_view core) {
  for (std::string_view name : {"SkylakeX", "Cooperlake", "SapphireRapids"})
    if (core == name) return Vectors::avx512;
  for (std::string_view name : {"Haswell", "Zen", "Excavator"})
    if (core == name) return Vectors::avx2;
  for (std::string_view name : {"Sandybridge", "Bulldozer", "Piledriver", "Steamroller"})
    if (core == name) return Vectors::avx;
  return Vectors::baseline;
}

const char* core_for(Vectors vectors) {
  constexpr const char* kCores[] = {"Prescott", "Sandybridge", "Haswell", "SkylakeX"};
  return kCores[static_cast<int>(vectors)];
}

struct Library {
  void* blas = nullptr;
  void* lapack = nullptr;
  std::string name;
  Blas<double> real = loops<double>();
  Blas<float> single = loops<float>();
  std::unique_ptr<Lapack<double>> more_real;
  std::unique_ptr<Lapack<float>> more_single;
};

template <class F>
bool bind(void* library, const char* name, F& function) {
  void* symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) return false;
  static_assert(sizeof symbol == sizeof function);
  std::memcpy(&function, &symbol, sizeof symbol);
  return true;
}

// Names carry the precision's letter: d or s.
template <class T>
std::string named(std::string_view before, std::string_view after) {
  return std::string(before) + (sizeof(T) == 8 ? "d" : "s") + std::string(after);
}

template <class T>
bool bind_blas(const Library& l, Blas<T>& b) {
  return bind(l.blas, named<T>("cblas_", "gemm").c_str(), b.gemm) &&
         bind(l.blas, named<T>("cblas_", "syrk").c_str(), b.syrk) &&
         bind(l.blas, named<T>("cblas_", "trsm").c_str(), b.trsm) &&
         bind(l.lapack, named<T>("", "getrf_").c_str(), b.getrf) &&
         bind(l.lapack, named<T>("", "potrf_").c_str(), b.potrf);
}

template <class T>
std::unique_ptr<Lapack<T>> bind_lapack(const Library& l) {
  auto f = std::make_unique<Lapack<T>>();
  const bool all = bind(l.lapack, named<T>("", "geqrf_").c_str(), f->geqrf) &&
                   bind(l.lapack, named<T>("", "gels_").c_str(), f->gels) &&
                   bind(l.lapack, named<T>("", "syevr_").c_str(), f->syevr) &&
                   bind(l.lapack, named<T>("", "geev_").c_str(), f->geev) &&
                   bind(l.lapack, named<T>("", "gesdd_").c_str(), f->gesdd) &&
                   bind(l.lapack, named<T>("", "gesvd_").c_str(), f->gesvd);
  return all ? std::move(f) : nullptr;
}

// Some kernel sets give wrong products on some CPUs (or under some emulators), so a small product with odd borders is
// compared with plain loops before the library is trusted.
template <class T>
bool products_are_right(const Blas<T>& b) {
  constexpr int kM = 37, kN = 29, kK = 51;
  std::vector<T> left(kM * kK), right(kK * kN), gram(kK * kK, T{7}), expected_gram(kK * kK, T{7});
  for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<T>(static_cast<int>(i * 37 % 101) - 50) / 16;
  for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<T>(static_cast<int>(i * 53 % 97) - 48) / 16;
  const auto close = [](const std::vector<T>& x, const std::vector<T>& y) {
    for (size_t i = 0; i < x.size(); ++i)
      if (!(std::fabs(x[i] - y[i]) <= (sizeof(T) == 8 ? T(1e-9) : T(1e-2)))) return false;
    return true;
  };
  using enum BlasTranspose;
  constexpr std::array<std::pair<BlasTranspose, BlasTranspose>, 4> kForms{{{no, no}, {yes, no}, {no, yes}, {yes, yes}}};
  for (const auto& [ta, tb] : kForms) {
    std::vector<T> c(kM * kN, T{3}), expected(kM * kN, T{3});
    for (const Blas<T>* f : {&b, &loops<T>()})
      f->gemm(BlasOrder::row_major, ta, tb, kM, kN, kK, 1, left.data(), ta == no ? kK : kM, right.data(),
              tb == no ? kN : kK, 1, (f == &b ? c : expected).data(), kN);
    if (!close(c, expected)) return false;
  }
  b.syrk(BlasOrder::row_major, BlasTriangle::upper, yes, kK, kM, 1, left.data(), kK, 0, gram.data(), kK);
  loops<T>().syrk(BlasOrder::row_major, BlasTriangle::upper, yes, kK, kM, 1, left.data(), kK, 0, expected_gram.data(),
                  kK);
  return close(gram, expected_gram);
}

void close_library(Library& l) {
  if (l.lapack != nullptr && l.lapack != l.blas) dlclose(l.lapack);
  if (l.blas != nullptr) dlclose(l.blas);
  l = Library{};
}

// core: the kernel set to force; empty: OpenBLAS chooses.
bool open_openblas(Library& l, const std::string& core) {
  close_library(l);
  {
    const Environment environment(Environment::Values{{"OPENBLAS_NUM_THREADS", "1"}, {kCoreVariable, core}});
    l.blas = l.lapack = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  }
  if (l.blas == nullptr) return false;
  void (*set_threads)(int) = nullptr;
  if (bind(l.blas, "openblas_set_num_threads", set_threads)) set_threads(1);
  char* (*core_name)() = nullptr;
  l.name = bind(l.blas, "openblas_get_corename", core_name) ? std::string("OpenBLAS ") + core_name() : "OpenBLAS";
  return true;
}

bool open_netlib(Library& l) {
  close_library(l);
  const Environment environment(Environment::Values{{"OPENBLAS_NUM_THREADS", "1"}});
  l.blas = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
  l.lapack = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
  l.name = "libblas";
  return l.blas != nullptr && l.lapack != nullptr;
}

bool usable(Library& l) {
  Library bound;
  if (!bind_blas(l, bound.real) || !bind_blas(l, bound.single)) return false;
  if (!products_are_right(bound.real) || !products_are_right(bound.single)) return false;
  l.real = bound.real, l.single = bound.single;
  l.more_real = bind_lapack<double>(l), l.more_single = bind_lapack<float>(l);
  return true;
}

bool find_openblas(Library& l) {
  const char* chosen = getenv(kCoreVariable);
  if (chosen != nullptr && *chosen != 0 && open_openblas(l, chosen) && usable(l)) return true;
  if (!open_openblas(l, "")) return false;
  const Vectors wanted = cpu_vectors();
  const std::string_view core = std::string_view(l.name).substr(std::string_view("OpenBLAS").size());
  if (core_vectors(core.empty() ? core : core.substr(1)) < wanted) {
    if (open_openblas(l, core_for(wanted)) && usable(l)) return true;
    if (!open_openblas(l, "")) return false;
  }
  if (usable(l)) return true;
  for (int v = static_cast<int>(wanted); v >= 0; --v)
    if (open_openblas(l, core_for(static_cast<Vectors>(v))) && usable(l)) return true;
  return false;
}

const Library& library() {
  static const Library& found = [&]() -> const Library& {
    auto* l = new Library;  // never closed: other threads may compute while the process ends
    if (find_openblas(*l) || (open_netlib(*l) && usable(*l))) return *l;
    close_library(*l);
    l->name = "built-in loops";
    return *l;
  }();
  return found;
}

}  // namespace

template <>
const Blas<double>& blas<double>() {
  return library().real;
}
template <>
const Blas<float>& blas<float>() {
  return library().single;
}
template <>
const Lapack<double>* lapack<double>() {
  return library().more_real.get();
}
template <>
const Lapack<float>* lapack<float>() {
  return library().more_single.get();
}
const std::string& blas_name() { return library().name; }

}  // namespace hopline
