#include "frontend/check/constants.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace hopline {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<int64_t> whole_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && is_digit(text[1])) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> real_number(std::string_view text) {
  const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  double value = 0;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") {
    value = std::numeric_limits<double>::infinity();
  } else {
    if (text.empty() || (!is_digit(text[0]) && text[0] != '.')) return std::nullopt;
    if (const char last = text.back(); last == 'd' || last == 'D' || last == 'f' || last == 'F') text.remove_suffix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || text.empty()) return std::nullopt;
    if (error == std::errc::result_out_of_range) {
      const size_t exponent = text.find_first_of("eE");
      const bool tiny = exponent != std::string_view::npos && text.substr(exponent + 1, 1) == "-";
      value = tiny ? 0 : std::numeric_limits<double>::infinity();
    } else if (error != std::errc()) {
      return std::nullopt;
    }
  }
  return negative ? -value : value;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back())
    text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    constexpr std::string_view kLetters = "btnfr'\"", kCharacters = "\b\t\n\f\r'\"";
    const size_t which = text[i] == '\\' && i + 1 < text.size() ? kLetters.find(text[i + 1]) : std::string_view::npos;
    out += which == std::string_view::npos ? text[i] : kCharacters[which];
    i += which != std::string_view::npos;
  }
  return out;
}

}  // namespace

bool is_constant(std::string_view name) { return name == "pi" || name == "NaN" || name == "Inf"; }

double constant_value(std::string_view name) {
  if (name == "pi") return M_PI;
  return name == "NaN" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
}

Literal parameter_value(std::string_view text) {
  if (text == "TRUE" || text == "FALSE") return {text == "TRUE"};
  if (const auto whole = whole_number(text)) return {*whole};
  if (const auto real = real_number(text)) return {*real};
  return {unquoted(text)};
}

std::string unsupplied(std::string_view name) {
  const std::string option = is_digit(name[0]) ? std::string("-args ...") : fmt::format("-nvargs {}=...", name);
  return fmt::format("parameter ${0} has no value: pass it ({1}) or give it a default with ifdef(${0}, ...)", name,
                     option);
}

}  // namespace hopline
