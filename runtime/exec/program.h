// The executable form of a checked program: sequences of nodes, of which the planner knows the statements behind.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/exec/plan.h"

namespace hopline {

struct Node;
struct Routine;
using Sequence = std::vector<Node>;

// Straight-line statement: planned, with what follows it, when it is reached.
struct Step {};
struct Branch {
  Sequence before;        // computes the predicate
  int32_t predicate = -1; // slot of a scalar
  Sequence then, otherwise;
};
struct Loop {  // while
  Sequence before;
  int32_t predicate = -1;
  Sequence body;
};
struct Count {  // for, parfor
  Sequence before;
  int32_t variable = -1, from = -1, to = -1, step = -1;
  Sequence body;
  bool parallel = false;
  const void* parfor = nullptr;  // ParforPlan of a parfor
};
struct Invoke {  // a call of a user function
  const Routine* routine = nullptr;      // null: eval, whose name and arguments are values
  std::vector<int32_t> arguments;        // slots of the caller
  std::vector<int32_t> results;          // slots of the caller, -1: dropped
  std::vector<bool> argument_dies;
};

// The plans made so far at one program point. Readers take no lock.
struct PlanCache {
  std::mutex mutex;
  std::atomic<uint32_t> count{0};
  static constexpr uint32_t kMost = 64;
  std::array<std::atomic<const Plan*>, kMost> plans{};
  std::vector<std::unique_ptr<Plan>> owned;
};

struct Node {
  std::variant<Step, Branch, Loop, Count, Invoke> what;
  Span span;
  const void* statement = nullptr;  // the planner's
  std::unique_ptr<PlanCache> cache; // of a Step that can begin a region
};

struct Routine {
  std::string name;
  Sequence body;
  std::vector<int32_t> inputs, outputs;
  std::vector<Kind> input_kinds, output_kinds;
  int32_t num_slots = 0;
  const void* function = nullptr;  // the planner's
  std::vector<std::string> slot_names;
};

}  // namespace hopline
