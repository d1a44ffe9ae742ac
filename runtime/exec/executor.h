// Runs an executable program: plans regions as they are reached, runs plans, follows control flow. One per thread.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/exec/observer.h"
#include "runtime/exec/planner.h"
#include "runtime/exec/program.h"
#include "runtime/exec/register_machine.h"
#include "runtime/exec/scope.h"
#include "runtime/exec/stack.h"
#include "runtime/ops/call.h"

namespace hopline {

class Executor {
 public:
  Executor(const Planner& planner, Context context, Observer* observer);
  ~Executor();

  // Runs the routine's body in the scope. Throws the script's Error.
  void run(const NodeList& nodes, Scope& scope);

 private:
  struct Activation;
  void step(Activation& a);
  bool run_registers(const Node& node, Scope& scope);
  void enter_control(const Node& node, Activation& a);
  void finish(Activation& a);
  void enter_count(const Node& node, const Count& count, Scope& scope);
  bool next_iteration(Activation& a);
  void show_iteration(const Activation& a);
  void invoke(const Node& node, const Invoke& call, Scope& scope);
  void bind_results(const Node& node, const Invoke& call, const Routine& routine, Scope& inner, Scope& outer);
  const Plan& plan_for(const NodeList& nodes, size_t at, Scope& scope);
  bool holds(const Plan& plan, Scope& scope);
  void run_plan(const Plan& plan, Scope& scope);
  void run_code(const Code& code, Scope& scope, Value* temporaries, Value** registers);
  void run_instruction(const Code& code, const Instruction& i, Value* temporaries, Value** registers);
  void run_parfor(const Node& node, const Count& count, Scope& scope, int64_t from, int64_t to, int64_t step);
  bool predicate(const Scope& scope, int32_t slot, const Node& node) const;

  Planner planner_;
  Context context_;
  Observer* observer_;
  ValueStack stack_;
  std::vector<Value*> pointers_;
  std::vector<std::unique_ptr<Activation>> activations_;
  std::unique_ptr<RegisterMachine> machine_;  // made at the first scalar code
  int depth_ = 0;                             // of calls
  int loops_ = 0;                             // that are running, one within the other
};

}  // namespace hopline
