#include "tests/runner/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hopline::tests {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A number as the language prints them at the begin of the text: its length, 0 when there is none.
size_t number_at(std::string_view text, double& value) {
  const size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  for (const std::string_view word : {"NaN", "Infinity"})
    if (text.substr(sign, word.size()) == word) {
      value = word == "NaN" ? std::nan("") : sign != 0 ? -HUGE_VAL : HUGE_VAL;
      return sign + word.size();
    }
  if (text.size() <= sign || std::isdigit(static_cast<unsigned char>(text[sign])) == 0) return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::invalid_argument ? 0 : static_cast<size_t>(end - text.data());
}

bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  constexpr double kNearZero = 1e-3;
  return std::fabs(a - b) <= tolerance * std::max({std::fabs(a), std::fabs(b), kNearZero});
}

}  // namespace

bool same_line(std::string_view expected, std::string_view found, double tolerance) {
  if (expected == found) return true;
  if (tolerance == 0) return false;
  size_t e = 0, f = 0;
  while (e < expected.size() && f < found.size()) {
    double a = 0, b = 0;
    const bool inside = e > 0 && is_word(expected[e - 1]);
    const size_t n = inside ? 0 : number_at(expected.substr(e), a), m = inside ? 0 : number_at(found.substr(f), b);
    if (n > 0 && m > 0) {
      if (!close(a, b, tolerance)) return false;
      e += n, f += m;
    } else if (expected[e] == found[f]) {
      ++e, ++f;
    } else {
      return false;
    }
  }
  return e == expected.size() && f == found.size();
}

}  // namespace hopline::tests
