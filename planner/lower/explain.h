// Plans as text, for --explain and tests. Positions are "@line:column" of the main script, "@file:line:column"
// elsewhere.
#pragma once
#include <functional>
#include <string>

#include "planner/lower/lower.h"
#include "planner/lower/region.h"
#include "runtime/base/source_files.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/register_program.h"

namespace hopline {

// What has nothing to print is "".
// Numbered hops in a stable order, shared nodes once, with sizes: "%3 = tsmm %2 [784x784] @12:5".
std::string explain_hops(const Region& region, const Scope& scope, const SourceFiles& files);
// The operators that run, in their order, with formats and devices: "%3 = tsmm %2 [784x784, dense] cpu @12:5". With
// bytes also what each result and its scratch take, what is alive meanwhile, and the highest of it.
std::string explain_lops(const Lowered& lowered, const Scope& scope, const SourceFiles& files, bool bytes);
// Instructions with their registers, "!" at the last use: "%3 = tsmm %2! @12:5".
std::string explain_plan(const Plan& plan, const Scope& scope, const SourceFiles& files);
// The instructions of each function with their operands (runtime/exec/register_instructions.def).
std::string explain_program(const RegisterProgram& program, const SourceFiles& files);

// Their parts.
std::string constant_text(const Value& value);
std::string place_text(const Span& span, const SourceFiles& files);  // " @12:5"
std::string size_text(const Meta& meta);                             // "3x4", "?x4", "double"
std::string variable_text(const Scope& scope, int32_t slot, int64_t entry);
std::string register_text(const Code& code, uint32_t reg, const Scope& scope);
// " %1 %2", " %1 rows=3": parameters that are given by name have theirs.
void add_operands(std::string& out, const Hop& hop, const std::function<std::string(size_t)>& operand);

}  // namespace hopline
