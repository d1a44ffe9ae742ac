// The printf mode of print: Java's String.format for the scalars of the language.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/base/span.h"

namespace hopline {

using FormatArgument = std::variant<bool, int64_t, double, std::string_view>;

// %[index$][flags][width][.precision]conversion with the conversions b h s d o x e f g a (and B H S X E G A) % n.
// Decimals are rounded half up on the shortest decimal of the number. Surplus arguments are ignored. Wrong
// specifiers, a missing argument and an argument of the wrong kind fail at `span`.
std::string format_string(std::string_view format, std::span<const FormatArgument> arguments, const Span& span);

}  // namespace hopline
