// The planner of one executable program, as the executor sees it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "planner/lower/explain_levels.h"
#include "planner/lower/lower.h"
#include "planner/lower/program.h"
#include "planner/rewrite/rewrite.h"

namespace hopline {

struct PlannerOptions {
  std::function<void(const std::string&)> explain;  // takes each plan as text; null: plans are not printed
  ExplainLevels levels;
};

class ProgramPlanner {
 public:
  ProgramPlanner(Executable& program, PlannerOptions options) : program_(program), options_(std::move(options)) {}
  Planner hook();
  // The plan of a region, printed as the options say.
  Lowered finish(Region& region, const Scope& scope, Context& context, bool generic);
  // The register program of a node, refused ones too; printed as the options say.
  std::shared_ptr<const RegisterProgram> program(const Node& node, const Scope& scope);

 private:
  std::unique_ptr<Plan> plan(const NodeList& sequence, size_t begin, const Scope& scope, Context& context,
                             bool generic);
  void explain(const Region& region, const std::vector<Fired>& fired, const Lowered& lowered, const Scope& scope);
  Executable& program_;
  PlannerOptions options_;
};

}  // namespace hopline
