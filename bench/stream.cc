// The memory bandwidth that run.py compares kernels with: simple loops on arrays far larger than any cache, on all
// cores. Prints, per loop, the smallest time of several runs. Usage: stream [cells of an array] [threads]
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "runtime/base/parallel.h"

namespace {

constexpr size_t kHuge = size_t{2} << 20;
constexpr int kRuns = 12;

double* allocate(size_t cells) {
  const size_t bytes = (cells * sizeof(double) + kHuge - 1) / kHuge * kHuge;
  void* data = std::aligned_alloc(kHuge, bytes);
  if (data == nullptr) throw std::bad_alloc();
  madvise(data, bytes, MADV_HUGEPAGE);
  return static_cast<double*>(data);
}

// body(begin, end) of each thread's part of [0, cells).
template <class F>
void on_all(size_t cells, int threads, const F& body) {
  std::vector<std::thread> others;
  const size_t part = (cells + threads - 1) / threads / 8 * 8 + 8;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([&, t] { body(std::min(cells, t * part), std::min(cells, (t + 1) * part)); });
  body(0, std::min(cells, part));
  for (std::thread& t : others) t.join();
}

template <class F>
void measure(const char* name, size_t cells, int threads, const F& body) {
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    on_all(cells, threads, body);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("RESULT %s seconds=%.9g\n", name, best);
}

double sum(const double* a, size_t begin, size_t end) {
  double lanes[32] = {};
  for (size_t i = begin; i + 32 <= end; i += 32)
    for (size_t k = 0; k < 32; ++k) lanes[k] += a[i + k];
  double total = 0;
  for (double lane : lanes) total += lane;
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t cells = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 25000000;
  const int threads = argc > 2 ? std::max(1, std::atoi(argv[2])) : hopline::available_threads();
  double *a = allocate(cells), *b = allocate(cells), *c = allocate(cells);
  on_all(cells, threads, [=](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) a[i] = 1, b[i] = 2, c[i] = 0;
  });
  double sums[256] = {};
  measure("read", cells, threads, [&](size_t begin, size_t end) { sums[begin % 255] += sum(a, begin, end); });
  measure("scale", cells, threads, [=](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) c[i] = 3 * a[i];
  });
  measure("add", cells, threads, [=](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
  });
  volatile double used = sums[0] + c[cells / 2];  // the loops must not vanish
  static_cast<void>(used);
  std::free(a), std::free(b), std::free(c);
}
