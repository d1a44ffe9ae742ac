// The planner of one executable program, as the executor sees it.
#pragma once
#include <functional>
#include <string>

#include "planner/lower/program.h"

namespace hopline {

struct PlannerOptions {
  std::function<void(const std::string&)> explain;  // takes each plan as text; null: plans are not printed
  bool explain_hops = false, explain_rules = false, explain_instructions = false;
};

class ProgramPlanner {
 public:
  ProgramPlanner(Executable& program, PlannerOptions options) : program_(program), options_(std::move(options)) {}
  Planner hook();

 private:
  std::unique_ptr<Plan> plan(const NodeList& sequence, size_t begin, const Scope& scope, Context& context,
                             bool generic);
  std::shared_ptr<const RegisterProgram> program(const Node& node, const Scope& scope);
  Executable& program_;
  PlannerOptions options_;
};

}  // namespace hopline
