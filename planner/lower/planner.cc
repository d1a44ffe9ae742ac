#include "planner/lower/planner.h"

#include "planner/lower/explain.h"
#include "planner/lower/scalar_program.h"
#include "planner/rewrite/matrix_chain.h"

namespace hopline {

std::unique_ptr<Plan> ProgramPlanner::plan(const NodeList& sequence, size_t begin, const Scope& scope, Context& context,
                                           bool generic) {
  const std::unique_ptr<Region> region = build_region(program_, sequence, begin, scope, context, generic);
  return finish(*region, scope, context, generic).plan;
}

Lowered ProgramPlanner::finish(Region& region, const Scope& scope, Context& context, bool generic) {
  std::vector<Fired> fired = order_matrix_chains(region, context);
  for (const Fired& f : rewrite(region, context)) fired.push_back(f);
  Lowered lowered = lower_region(region, scope, generic);
  if (options_.explain) explain(region, fired, lowered, scope);
  return lowered;
}

void ProgramPlanner::explain(const Region& region, const std::vector<Fired>& fired, const Lowered& lowered,
                             const Scope& scope) {
  const SourceFiles& files = program_.files();
  const ExplainLevels& levels = options_.levels;
  if (lowered.plan->code.instructions.empty() && lowered.plan->outputs.empty()) return;
  const auto show = [this](const std::string& text) {
    if (!text.empty()) options_.explain(text);
  };
  if (levels.hops) show(explain_hops(region, scope, files));
  if (levels.rules)
    for (const Fired& f : fired) show(fmt::format("rule {}{}\n", f.rule, place_text(f.span, files)));
  if (levels.lops) show(explain_lops(lowered, scope, files, false));
  if (levels.instructions) show(explain_plan(*lowered.plan, scope, files));
  if (levels.memory) show(explain_lops(lowered, scope, files, true));
}

std::shared_ptr<const RegisterProgram> ProgramPlanner::program(const Node& node, const Scope& scope) {
  std::shared_ptr<const RegisterProgram> made = compile_scalar(node, scope);
  if (made->refused || !options_.explain) return made;
  if (options_.levels.instructions)
    options_.explain(explain_program(*made, program_.files()));
  else if (options_.levels.hops || options_.levels.lops)
    options_.explain(fmt::format("scalar program{}\n", place_text(node.span, program_.files())));
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
