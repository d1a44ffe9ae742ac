// Hops -> linear instructions: order, registers, last uses, guards.
#pragma once
#include <memory>
#include <vector>

#include "planner/lower/region.h"
#include "runtime/exec/plan.h"

namespace hopline {

// A plan and the hops of its instructions: what is known of sizes.
struct Lowered {
  std::unique_ptr<Plan> plan;
  std::vector<const Hop*> hops;    // of plan->code.instructions
  std::vector<const Hop*> inputs;  // of plan->code.inputs
};

Lowered lower_region(const Region& region, const Scope& scope, bool generic);

}  // namespace hopline
