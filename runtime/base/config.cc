#include "runtime/base/config.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "runtime/base/error.h"

namespace hopline {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// `domain` is "low..high", "low.." or empty.
bool within(double value, std::string_view domain) {
  const size_t dots = domain.find("..");
  if (dots == std::string_view::npos) return true;
  double low = 0, high = 0;
  if (parse_number(domain.substr(0, dots), low) && value < low) return false;
  return !parse_number(domain.substr(dots + 2), high) || value <= high;
}

bool has_word(std::string_view domain, std::string_view word) {
  while (!domain.empty()) {
    const size_t bar = std::min(domain.find('|'), domain.size());
    if (domain.substr(0, bar) == word) return true;
    domain.remove_prefix(std::min(bar + 1, domain.size()));
  }
  return false;
}

std::string expected_words(std::string_view domain) {
  std::string out;
  while (!domain.empty()) {
    const size_t bar = std::min(domain.find('|'), domain.size());
    const bool last = bar == domain.size();
    out += fmt::format("{}{}", out.empty() ? "" : last ? " or " : ", ", domain.substr(0, bar));
    domain.remove_prefix(std::min(bar + 1, domain.size()));
  }
  return out;
}

std::string expected_number(std::string_view what, std::string_view domain) {
  const size_t dots = domain.find("..");
  if (dots == std::string_view::npos) return std::string(what);
  const std::string_view high = domain.substr(dots + 2);
  return high.empty() ? fmt::format("{} of at least {}", what, domain.substr(0, dots))
                      : fmt::format("{} from {} to {}", what, domain.substr(0, dots), high);
}

std::string set_integer(Config& config, const Setting& row, std::string_view text) {
  int64_t value = 0;
  if (!parse_number(text, value) || !within(static_cast<double>(value), row.domain))
    return expected_number("a whole number", row.domain);
  config.*std::get<int Config::*>(row.field) = static_cast<int>(value);
  return {};
}

std::string set_real(Config& config, const Setting& row, std::string_view text) {
  double value = 0;
  if (!parse_number(text, value) || !std::isfinite(value) || !within(value, row.domain))
    return expected_number("a number", row.domain);
  config.*std::get<double Config::*>(row.field) = value;
  return {};
}

}  // namespace

int64_t parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return -1;
  std::string unit = lower(text.substr(static_cast<size_t>(end - text.data())));
  std::erase(unit, ' ');
  if (unit.size() > 1 && unit.back() == 'b') unit.pop_back();
  if (unit.size() > 1 && unit.back() == 'i') unit.pop_back();
  constexpr std::string_view kUnits = "bkmgtp";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit[0]);
  if (unit.size() > 1 || power == std::string_view::npos) return -1;
  const double bytes = std::ldexp(value, static_cast<int>(power) * 10);
  return bytes < 0x1p62 ? static_cast<int64_t>(bytes) : -1;
}

std::string apply_setting(Config& config, const Setting& row, std::string_view text) {
  if (!row.has_effect()) return {};
  switch (row.kind) {
    case SettingKind::boolean: {
      const std::string word = lower(text);
      if (word != "true" && word != "false") return "true or false";
      config.*std::get<bool Config::*>(row.field) = word == "true";
      return {};
    }
    case SettingKind::integer:
      return set_integer(config, row, text);
    case SettingKind::real:
      return set_real(config, row, text);
    case SettingKind::bytes: {
      const int64_t bytes = parse_bytes(text);
      if (bytes < 0) return fmt::format("a number of bytes such as {}", row.domain);
      config.*std::get<int64_t Config::*>(row.field) = bytes;
      return {};
    }
    case SettingKind::word: {
      std::string word = lower(text);
      if (!has_word(row.domain, word)) return expected_words(row.domain);
      config.*std::get<std::string Config::*>(row.field) = std::move(word);
      return {};
    }
    case SettingKind::text:
      config.*std::get<std::string Config::*>(row.field) = text;
      return {};
  }
  return {};
}

const Setting* find_setting(std::string_view key) {
  for (const std::string_view prefix : {"hopline.", "sysds.", "sysml."})
    if (key.starts_with(prefix)) {
      key.remove_prefix(prefix.size());
      break;
    }
  for (const Setting& row : settings())
    if (row.key == key) return &row;
  return nullptr;
}

Config::Config() {
  for (const Setting& row : settings()) HOPLINE_CHECK(apply_setting(*this, row, row.default_text).empty());
}

}  // namespace hopline
