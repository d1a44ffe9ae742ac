// Writes what scripts print, and the errors they end with, into their expectations.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tests/runner/engine.h"
#include "tests/runner/test_case.h"

namespace hopline::tests {

// The text of a test file with new expectations. `results` holds one default run per case. An expectation that holds
// stays as it is. Where a case prints as many lines as it has expectations (or, having none, prints at top level), each
// goes to its place; else all stand at the end of the case.
std::string rebase(std::string_view text, std::span<const TestCase> cases, std::span<const RunResult> results);

}  // namespace hopline::tests
