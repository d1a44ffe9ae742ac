// Plans a whole program without data: sizes come from .mtd files and from what the script says.
#pragma once
#include <functional>
#include <string>

#include "planner/lower/planner.h"
#include "runtime/exec/observer.h"

namespace hopline {

struct DryRunOptions {
  std::function<void(const std::string&)> print;  // takes the plans, line by line
  ExplainLevels levels;                           // none: a summary of each plan
  Observer* observer = nullptr;
};

// Shows the plans that a run would make: both branches of an `if` that is not decided, the body of a loop once, and,
// after the main script, each function that is not inlined once; unknown sizes are "?". Runs no operator on data,
// reads no data and writes nothing. Throws the script's Error where a statement that is certainly reached must fail.
void dry_run(Executable& program, Context& context, const DryRunOptions& options);

}  // namespace hopline
