// Scalars made to be of a declared kind: arguments and outputs of functions.
#pragma once
#include <string>

#include "runtime/ops/call.h"

namespace hopline {

// A scalar made to be of the declared kind; matrices, frames and lists must be of it already. Messages begin with
// "argument NAME of ROUTINE" or "output NAME of ROUTINE".
Value convert_value(Context& ctx, Value value, Kind declared, bool output, const std::string& name,
                    const std::string& routine, const Span& span);

// A bound or increment of a counting loop as an int; `finite` becomes false where it is not. `what`: "start", ...
int64_t loop_bound(const Value& value, const char* what, const Span& span, bool& finite);

// How often a counting loop runs, and its increment where none is given (0).
int64_t loop_trips(int64_t from, int64_t to, int64_t& step, bool has_step, bool finite);

// A predicate's value.
bool truth_value(const Value& value, const Span& span);

}  // namespace hopline
