// parfor: 64 tasks whatever the number of workers; what they write is merged in iteration order, so every run has the
// same bits and text.
#include <algorithm>

#include "runtime/base/parallel.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/result_merge.h"
#include "runtime/exec/session.h"

namespace hopline {

namespace {

constexpr int64_t kTasks = 64;

}  // namespace

void Executor::run_parfor(const Node& node, const Count& count, Scope& scope, int64_t from, int64_t trips,
                          int64_t step) {
  const int64_t tasks = std::min(kTasks, trips);
  const int threads = std::max(1, context_.threads);
  const std::vector<Value> before = scope.slots;
  std::vector<Value> start = before;
  for (const int32_t s : count.accumulated)
    start[static_cast<size_t>(s)] = nothing_added(context_, before[static_cast<size_t>(s)]);
  std::vector<std::vector<Value>> after(static_cast<size_t>(tasks));
  std::vector<std::unique_ptr<Session>> outputs(static_cast<size_t>(tasks));
  for (auto& o : outputs)
    if (context_.session != nullptr) o = context_.session->task();
  const uint64_t path = scope.path;
  Session* const watched = loops_ == 1 ? context_.session : nullptr;
  if (context_.session != nullptr) context_.session->now.set(kParfor, node.span);
  parallel_for(tasks, threads, [&](int64_t task) {
    Context context = context_;
    context.threads = std::max<int>(1, threads / static_cast<int>(std::min<int64_t>(tasks, threads)));
    if (outputs[static_cast<size_t>(task)]) context.session = outputs[static_cast<size_t>(task)].get();
    Executor worker(planner_, context, observer_);
    worker.depth_ = depth_;
    worker.loops_ = loops_;
    Scope mine;
    mine.routine = scope.routine;
    mine.slots = start;
    const int64_t begin = trips * task / tasks, end = trips * (task + 1) / tasks;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t value = from + k * step;
      mine.slots[static_cast<size_t>(count.variable)] = value;
      mine.path = (path ^ static_cast<uint64_t>(k + 1)) * 0xD6E8FEB86659FD93u;
      try {
        worker.run(count.body, mine);
      } catch (Error& error) {
        error.prefix(fmt::format("iteration {}: ", value));
        throw;
      }
      if (watched != nullptr) watched->now.iteration.fetch_add(1, std::memory_order_relaxed);
    }
    after[static_cast<size_t>(task)] = std::move(mine.slots);
  });
  for (auto& o : outputs)
    if (o) o->flush_task();
  std::vector<int32_t> written;
  for (size_t s = 0; s < before.size(); ++s)
    if (before[s].index() != 0 && static_cast<int32_t>(s) != count.variable &&
        std::find(count.accumulated.begin(), count.accumulated.end(), s) == count.accumulated.end())
      written.push_back(static_cast<int32_t>(s));
  for (const int32_t s : count.accumulated)
    if (before[static_cast<size_t>(s)].index() != 0)
      add_results(context_, after, s, scope.slots[static_cast<size_t>(s)], node.span);
  for (const int32_t s : written)
    merge_results(context_, before[static_cast<size_t>(s)], after, s, scope.slots[static_cast<size_t>(s)], node.span);
}

}  // namespace hopline
