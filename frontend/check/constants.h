// Names and texts that stand for literals: pi, NaN, Inf, and the values of $ parameters.
#pragma once
#include <string>
#include <string_view>

#include "frontend/syntax/ast.h"

namespace hopline {

bool is_constant(std::string_view name);  // pi, NaN, Inf
double constant_value(std::string_view name);

// The value of a $ parameter by its text: TRUE and FALSE are booleans, what reads as an int64 an int, as a double a
// double, all else a string (without its quotes, escapes replaced).
Literal parameter_value(std::string_view text);
// The message for a $ parameter that is used but has no value.
std::string unsupplied(std::string_view name);

}  // namespace hopline
