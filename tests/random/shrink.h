// Makes a script that shows something smaller while it still shows it.
#pragma once
#include <functional>
#include <string>

namespace hopline::tests {

// Removes statements, replaces control flow by its body and expressions by their operands, one change at a time, as
// long as `shows` holds for the result; stops after `seconds`.
std::string shrink(std::string script, const std::function<bool(const std::string&)>& shows, double seconds);

}  // namespace hopline::tests
