// The executable form of a checked program: sequences of nodes. Statements behind them are known to the planner only.
#pragma once
#include <array>
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
struct RegisterProgram;
struct Routine;
struct Scope;
using NodeList = std::vector<Node>;

// Straight-line statement: planned, with what follows it, when it is reached.
struct Step {};
struct Branch {
  NodeList before;         // computes the predicate
  int32_t predicate = -1;  // slot of a scalar
  NodeList then, otherwise;
};
struct Loop {  // while
  NodeList before;
  int32_t predicate = -1;
  NodeList body;
};
struct Count {  // for, parfor
  NodeList before;
  int32_t variable = -1, from = -1, to = -1, step = -1;  // slots; step may be -1
  NodeList body;
  bool parallel = false;
  std::vector<int32_t> accumulated;  // of a parfor: slots that its body only adds to (x += e)
};
struct Invoke {                      // a call of a user function
  const Routine* routine = nullptr;  // null: eval (`eval`) or evalList, whose first argument names the function
  bool eval = false, eval_list = false;
  std::vector<int32_t> arguments;           // slots of the caller
  std::vector<int32_t> results;             // slots of the caller, -1: dropped
  std::vector<std::string> argument_names;  // eval only
};

// The plans made so far at one program point, the last ones to be tried first. Readers take no lock.
struct PlanCache {
  static constexpr uint32_t kExact = 8;  // after so many plans a generic one is made
  static constexpr uint32_t kMost = 64;
  std::mutex mutex;
  std::atomic<uint32_t> count{0};
  std::array<std::unique_ptr<Plan>, kMost> plans;
};

// The register programs made so far for one node, each for certain kinds of variables. Readers take no lock.
struct ProgramCache {
  static constexpr uint32_t kMost = 8;  // beyond, the node is left to plans
  std::mutex mutex;
  std::atomic<uint32_t> count{0};
  std::array<std::shared_ptr<const RegisterProgram>, kMost> programs;

  // The one whose guards hold; null when there is none.
  const RegisterProgram* find(const Scope& scope) const;
};

struct Node {
  std::variant<Step, Branch, Loop, Count, Invoke> what;
  Span span;
  const void* statement = nullptr;  // the planner's: a checked statement; null for a pure structure
  std::vector<int32_t> dies;        // slots that nothing reads after this node
  std::unique_ptr<PlanCache> cache = std::make_unique<PlanCache>();
  std::unique_ptr<ProgramCache> programs;  // of control flow that may be scalar code
};

struct Routine {
  std::string name;
  NodeList body;
  std::vector<int32_t> inputs, outputs;
  std::vector<Kind> input_kinds, output_kinds;  // unknown: not declared
  std::vector<std::string> output_names, input_names;
  std::vector<Value> input_defaults;  // literal ones, else monostate; of calls by eval, other calls give every argument
  std::vector<std::string> slots;     // names; temporaries start with %
  bool recursive = false, has_loop = false;
  int32_t num_statements = 0;
  const void* function = nullptr;  // the planner's
  Span span;
};

}  // namespace hopline
