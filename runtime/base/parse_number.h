// Text as a number. No locale.
#pragma once
#include <optional>
#include <string_view>

namespace hopline {

// The number that the whole text, without white space around it, stands for: "3.7", "1e3", "+.5", "NaN", "-Inf",
// "Infinity" in any case. Too large is infinite, too small is zero. nullopt when it is no number.
std::optional<double> parse_number(std::string_view text);

}  // namespace hopline
