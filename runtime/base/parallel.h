// The only place that starts threads for loops. Work is cut by the caller, so results never depend on the team's size.
#pragma once
#include <cstdint>
#include <functional>

namespace hopline {

// Threads that the process may use: the smaller of the affinity mask and the cgroup quota, at least 1.
int available_threads();

// Calls body(i) for every i in [0, tasks), by at most `threads` threads, in any order; returns when all are done.
// Teams share a process-wide count of tickets: n callers never make n full teams. The first exception of the lowest
// task is rethrown after the others have ended.
void parallel_for(int64_t tasks, int threads, const std::function<void(int64_t)>& body);

// body(begin, end) over [0, n) in chunks of `grain`; the borders depend on n and grain alone.
template <class F>
void parallel_chunks(int64_t n, int64_t grain, int threads, const F& body) {
  const int64_t chunks = (n + grain - 1) / grain;
  if (chunks <= 1 || threads <= 1) {
    for (int64_t c = 0; c < chunks; ++c) body(c * grain, n < (c + 1) * grain ? n : (c + 1) * grain);
    return;
  }
  parallel_for(chunks, threads, [&](int64_t c) { body(c * grain, n < (c + 1) * grain ? n : (c + 1) * grain); });
}

}  // namespace hopline
