// Comparing what a script printed with what was expected.
#pragma once
#include <string>
#include <string_view>

namespace hopline::tests {

// Same text, except that numbers may differ by `tolerance` relative to the larger one (to 1e-3 near zero) and -0.0
// equals 0.0. Tolerance 0: the same text.
bool same_line(std::string_view expected, std::string_view found, double tolerance);

}  // namespace hopline::tests
