// The way up: what the executor asks of the planner. planner/lower fills it in.
#pragma once
#include <memory>
#include <string>

#include "runtime/exec/program.h"
#include "runtime/exec/scope.h"
#include "runtime/ops/call.h"

namespace hopline {

struct Planner {
  void* self = nullptr;
  // A plan for the region that begins at sequence[begin], for the values in scope. A plan with num_nodes 0 says that
  // the node is control flow for the executor. generic: sizes and scalar values must not be used.
  std::unique_ptr<Plan> (*plan)(void* self, const NodeList& sequence, size_t begin, const Scope& scope,
                                Context& context, bool generic) = nullptr;
  // The routine of a function named at run time (eval); null when there is none.
  const Routine* (*find_routine)(void* self, const Routine& from, const std::string& name, Kind first) = nullptr;
  // A register program for the node, for the kinds of the variables in scope; one that is refused when it is not scalar
  // code.
  std::shared_ptr<const RegisterProgram> (*compile_scalar)(void* self, const Node& node, const Scope& scope) = nullptr;
};

}  // namespace hopline
