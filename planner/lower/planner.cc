#include "planner/lower/planner.h"

#include "planner/lower/explain.h"
#include "planner/lower/lower.h"
#include "planner/lower/scalar_program.h"
#include "planner/rewrite/matrix_chain.h"
#include "planner/rewrite/rewrite.h"

namespace hopline {

std::unique_ptr<Plan> ProgramPlanner::plan(const NodeList& sequence, size_t begin, const Scope& scope, Context& context,
                                           bool generic) {
  const std::unique_ptr<Region> region = build_region(program_, sequence, begin, scope, context, generic);
  std::vector<Fired> fired = order_matrix_chains(*region, context);
  for (const Fired& f : rewrite(*region, context)) fired.push_back(f);
  if (options_.explain && options_.explain_rules)
    for (const Fired& f : fired)
      options_.explain(fmt::format("rule {}  # line {}\n", f.rule, program_.files().position(f.span).line));
  std::unique_ptr<Plan> plan = lower_region(*region, scope, generic);
  if (options_.explain && plan->num_nodes > 0) {
    if (options_.explain_hops) options_.explain(explain_hops(*region, program_.files()));
    if (options_.explain_instructions) options_.explain(explain_plan(*plan, scope, program_.files()));
  }
  return plan;
}

std::shared_ptr<const RegisterProgram> ProgramPlanner::program(const Node& node, const Scope& scope) {
  std::shared_ptr<const RegisterProgram> made = compile_scalar(node, scope);
  if (!made->refused && options_.explain && options_.explain_instructions)
    options_.explain(explain_program(*made, program_.files()));
  return made;
}

Planner ProgramPlanner::hook() {
  Planner p;
  p.self = this;
  p.plan = [](void* self, const NodeList& sequence, size_t begin, const Scope& scope, Context& context, bool generic) {
    return static_cast<ProgramPlanner*>(self)->plan(sequence, begin, scope, context, generic);
  };
  p.find_routine = [](void* self, const Routine& from, const std::string& name, Kind first) {
    return static_cast<ProgramPlanner*>(self)->program_.find(from, name, first);
  };
  p.compile_scalar = [](void* self, const Node& node, const Scope& scope) {
    return static_cast<ProgramPlanner*>(self)->program(node, scope);
  };
  return p;
}

}  // namespace hopline
