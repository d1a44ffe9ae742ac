// Hops -> linear instructions: order, registers, last uses, guards.
#pragma once
#include <memory>

#include "planner/lower/region.h"
#include "runtime/exec/plan.h"

namespace hopline {

std::unique_ptr<Plan> lower_region(const Region& region, const Scope& scope, bool generic);

}  // namespace hopline
