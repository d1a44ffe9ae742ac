#include "runtime/base/parallel.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hopline {

namespace {

// cpu.max of cgroup v2: "QUOTA PERIOD" or "max PERIOD".
int cgroup_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 1 << 20;
  return std::max(1, static_cast<int>(std::stod(quota) / period + 0.999));
}

int count_threads() {
  cpu_set_t set;
  const int affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::max(1, std::min(affinity, cgroup_quota()));
}

// Threads beyond the callers themselves that may still be started, in the whole process.
std::atomic<int>& tickets() {
  static std::atomic<int> left{available_threads() - 1};
  return left;
}

int draw_tickets(int wanted) {
  int left = tickets();
  for (;;) {
    const int drawn = std::clamp(wanted, 0, std::max(left, 0));
    if (drawn == 0 || tickets().compare_exchange_weak(left, left - drawn)) return drawn;
  }
}

struct FirstError {
  std::mutex mutex;
  int64_t task = INT64_MAX;
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  void keep(int64_t t) {
    const std::lock_guard lock(mutex);
    failed = true;
    if (t < task) task = t, error = std::current_exception();
  }
};

}  // namespace

int available_threads() {
  static const int kThreads = count_threads();
  return kThreads;
}

void parallel_for(int64_t tasks, int threads, const std::function<void(int64_t)>& body) {
  const int team =
      1 + (threads > 1 && tasks > 1 ? draw_tickets(static_cast<int>(std::min<int64_t>(threads, tasks)) - 1) : 0);
  if (team == 1) {
    for (int64_t i = 0; i < tasks; ++i) body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  FirstError first;
  const auto work = [&] {
    for (int64_t i; !first.failed && (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) try {
        body(i);
      } catch (...) {
        first.keep(i);
      }
  };
#ifdef HOPLINE_STD_THREADS
  std::vector<std::thread> others;
  for (int t = 1; t < team; ++t) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
#else
#pragma omp parallel num_threads(team)
  work();
#endif
  tickets() += team - 1;
  if (first.error) std::rethrow_exception(first.error);
}

}  // namespace hopline
