#include "frontend/config/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/nearest.h"
#include "runtime/base/error.h"

namespace hopline {
namespace {

bool is_foreign(std::string_view key) { return key.starts_with("mapred.") || key.starts_with("mapreduce."); }

std::string place(const SettingSource& source, const KeyValue& pair) {
  return pair.line > 0 ? fmt::format("{}:{}", source.name, pair.line) : source.name;
}

template <class... Args>
[[noreturn]] void refuse(const SettingSource& source, const KeyValue& pair, fmt::format_string<Args...> text,
                         Args&&... args) {
  fail(ErrorKind::usage, {}, "{}: {}", place(source, pair), fmt::format(text, std::forward<Args>(args)...));
}

[[noreturn]] void refuse_unknown(const SettingSource& source, const KeyValue& pair) {
  const size_t dot = pair.key.find('.');
  std::string_view prefix = std::string_view(pair.key).substr(0, dot == std::string::npos ? 0 : dot + 1);
  if (prefix != "sysds." && prefix != "sysml." && prefix != "hopline.") prefix = "hopline.";
  Nearest nearest(pair.key);
  std::vector<std::string> names;
  for (const Setting& row : settings()) names.push_back(fmt::format("{}{}", prefix, row.key));
  for (const std::string& name : names) nearest.offer(name);
  if (nearest.found().empty())
    for (const Setting& row : settings()) nearest.offer(row.key);
  refuse(source, pair, "unknown configuration key '{}'{}", pair.key, nearest.hint());
}

// A value that YAML would read as something else than the text it is.
bool needs_quotes(std::string_view text) {
  return text.empty() || text == "null" || text.find_first_of(":#*&!%@`'\"{}[],|> ") != std::string_view::npos;
}

std::string yaml_value(std::string_view text) {
  return needs_quotes(text) ? fmt::format("\"{}\"", text) : std::string(text);
}

std::string domain_text(const Setting& row) {
  std::string out(row.domain);
  if (row.kind == SettingKind::bytes) out = "such as " + out;
  for (size_t at = 0; (at = out.find('|', at)) != std::string::npos; at += 3) out.replace(at, 1, " | ");
  return out;
}

}  // namespace

Settings::Settings() {
  values_.reserve(settings().size());
  for (const Setting& row : settings()) values_.push_back({std::string(row.default_text), "", "default"});
}

void Settings::apply(const SettingSource& source, const std::vector<KeyValue>& pairs) {
  std::map<std::string, const KeyValue*, std::less<>> given;  // by key without prefix
  for (const KeyValue& pair : pairs) set(source, pair, given);
}

void Settings::set(const SettingSource& source, const KeyValue& pair,
                   std::map<std::string, const KeyValue*, std::less<>>& given) {
  if (is_foreign(pair.key)) {
    foreign_.push_back(pair.key);
    return;
  }
  const Setting* const row = find_setting(pair.key);
  if (row == nullptr) refuse_unknown(source, pair);
  const KeyValue*& earlier = given[std::string(row->key)];
  if (earlier != nullptr && earlier->value != pair.value && (source.is_file || earlier->key != pair.key))
    refuse(source, pair, "one key with two values: {} is {}, and {} is {}", earlier->key, earlier->value, pair.key,
           pair.value);
  earlier = &pair;
  const std::string expected = apply_setting(config_, *row, pair.value);
  if (!expected.empty()) refuse(source, pair, "{}: expected {}, found '{}'", pair.key, expected, pair.value);
  values_[static_cast<size_t>(row - settings().data())] = {pair.value, pair.key, place(source, pair)};
}

std::vector<std::string> Settings::without_effect() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < values_.size(); ++i)
    if (!settings()[i].has_effect() && !values_[i].key.empty()) out.push_back(values_[i].key);
  for (const std::string& key : foreign_)
    if (std::find(out.begin(), out.end(), key) == out.end()) out.push_back(key);
  return out;
}

std::string Settings::print(bool all) const {
  std::string out;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Setting& row = settings()[i];
    if (!all && !row.has_effect() && values_[i].key.empty()) continue;
    const std::string pair = fmt::format("hopline.{}: {}", row.key, yaml_value(values_[i].text));
    out += fmt::format("{:<48}  # {}{}\n", pair, values_[i].origin, row.has_effect() ? "" : ", without effect");
  }
  return out;
}

std::string write_yaml_settings() {
  std::string out =
      "# Every setting of Hopline with its default. Copy what you change to a file of your own and name it with "
      "-config, or\n"
      "# keep it as ~/.config/hopline/hopline.yaml. See also: hopline --print-config, hopline --help KEY.\n"
      "hopline:\n";
  bool foreign = false;
  for (const Setting& row : settings()) {
    if (!row.has_effect() && !foreign) out += "\n  # Known from SystemDS and SystemML; accepted, without effect.\n";
    foreign = !row.has_effect();
    const std::string domain = domain_text(row);
    if (!foreign) out += fmt::format("  # {}{}\n", row.help, domain.empty() ? "" : fmt::format(" ({})", domain));
    const std::string pair = fmt::format("  {}: {}", row.key, yaml_value(row.default_text));
    out += foreign ? fmt::format("{:<48}  # {}\n", pair, row.help) : pair + "\n";
  }
  return out;
}

std::string write_xml_settings() {
  std::string out =
      "<!-- Every setting of Hopline with its default, in the form of SystemDS-config.xml. The prefixes sysds. and "
      "sysml. are\n"
      "     read as well as hopline. -->\n"
      "<root>\n";
  bool foreign = false;
  for (const Setting& row : settings()) {
    if (!row.has_effect() && !foreign)
      out += "\n  <!-- Known from SystemDS and SystemML; accepted, without effect. -->\n";
    foreign = !row.has_effect();
    const std::string domain = domain_text(row);
    if (!foreign) out += fmt::format("  <!-- {}{} -->\n", row.help, domain.empty() ? "" : fmt::format(" ({})", domain));
    out += fmt::format("  <hopline.{}>{}</hopline.{}>\n", row.key, row.default_text, row.key);
  }
  return out + "</root>\n";
}

std::string describe_setting(std::string_view key) {
  const Setting* const row = find_setting(key);
  if (row == nullptr) return {};
  std::string name;
  for (char c : row->key) name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  constexpr std::string_view kKinds[] = {"true or false", "a whole number", "a number of bytes",
                                         "a number",      "a word",         "text"};
  std::string out = fmt::format("hopline.{}\n  {}\n\n", row->key, row->help);
  out += fmt::format("  value        {}", kKinds[static_cast<size_t>(row->kind)]);
  if (const std::string domain = domain_text(*row); !domain.empty()) out += fmt::format(", {}", domain);
  out += fmt::format("\n  default      {}\n", row->default_text.empty() ? "(empty)" : row->default_text);
  out += fmt::format("  also         sysds.{}, sysml.{}\n", row->key, row->key);
  out += fmt::format("  environment  HOPLINE_{}\n", name);
  if (!row->has_effect()) out += "  Accepted from configurations of SystemDS and SystemML, without effect.\n";
  return out;
}

}  // namespace hopline
