// Plans as text, for --explain and tests.
#pragma once
#include <string>

#include "planner/lower/region.h"
#include "runtime/base/source_files.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/register_program.h"

namespace hopline {

// Numbered hops in a stable order, shared nodes once, with sizes and script lines.
std::string explain_hops(const Region& region, const SourceFiles& files);
// Instructions with their registers: "%3 = sum %2".
std::string explain_plan(const Plan& plan, const Scope& scope, const SourceFiles& files);
// The instructions of each function with their operands (runtime/exec/register_instructions.def).
std::string explain_program(const RegisterProgram& program, const SourceFiles& files);

}  // namespace hopline
