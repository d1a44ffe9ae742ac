// Joining what the tasks of a parfor wrote.
#pragma once
#include <vector>

#include "runtime/ops/call.h"

namespace hopline {

// Into `result`: the value of slot `slot` before the loop with every cell (or list entry) that a task changed, tasks in
// order. A task that left the value alone holds the same reference.
void merge_results(Context& ctx, const Value& before, std::vector<std::vector<Value>>& after, int32_t slot,
                   Value& result, const Span& span);

// What x += e starts from in a task: 0, "" or a matrix of zeros.
Value nothing_added(Context& ctx, const Value& before);
// result += what each task added, tasks in order.
void add_results(Context& ctx, std::vector<std::vector<Value>>& after, int32_t slot, Value& result, const Span& span);

}  // namespace hopline
