#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/options.h"
#include "frontend/check/nearest.h"
#include "runtime/base/error.h"
#include "runtime/ops/op.h"

#ifndef HOPLINE_VERSION
#define HOPLINE_VERSION "unknown"
#endif

namespace hopline {
namespace {

struct Status {
  int value;
  std::string_view meaning;
};
constexpr Status kStatuses[] = {{0, "the script ran to its end"},
                                {1, "an error of the script"},
                                {2, "wrong use of the command or of a setting"},
                                {3, "a file could not be read or written"},
                                {4, "too little memory or another resource"},
                                {70, "an internal error"},
                                {130, "interrupted"},
                                {141, "nobody read the output"}};

constexpr std::string_view kSynopsis = "hopline [options] SCRIPT [arguments]";
constexpr std::string_view kArguments =
    "Words after SCRIPT become $1, $2, ...; NAME=VALUE becomes $NAME. A word that begins with a dash stands after "
    "\"--\", or\n"
    "after -args or -nvargs, which take everything after them. -name and --name are the same.\n";

std::string option_names(const OptionRow& row) {
  std::string out = row.letter == '\0' ? "    " : fmt::format("-{}, ", row.letter);
  out += fmt::format("--{}", row.name);
  if (!row.placeholder.empty()) {
    const bool bracket = row.value == OptionValue::optional && row.placeholder[0] != '[';
    out += fmt::format(bracket ? fmt::runtime(" [{}]") : fmt::runtime(" {}"), row.placeholder);
  }
  return out;
}

// "a|b" as "a, b", without the words that only other engines use.
std::string listed(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    const size_t bar = std::min(words.find('|'), words.size());
    out += fmt::format("{}{}", out.empty() ? "" : ", ", words.substr(0, bar));
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return out;
}

std::string kinds_text(Kinds kinds) {
  if (kinds == kAny) return "any value";
  if (kinds == kScalar) return "scalar";
  std::vector<std::string> names;
  if ((kinds & kNumber) == kNumber) {
    names.emplace_back("number");
    kinds = static_cast<Kinds>(kinds & ~kNumber);
  }
  for (int k = static_cast<int>(Kind::boolean); k <= static_cast<int>(Kind::list); ++k)
    if ((kinds >> k & 1) != 0) names.emplace_back(name(static_cast<Kind>(k)));
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return out;
}

bool is_infix(std::string_view op) {
  return !op.empty() && std::string_view("+-*/^%<>=!&|").find(op[0]) != std::string_view::npos;
}

std::string signature(const Op& op) {
  const std::span<const Param> params = op.params.span();
  if (is_infix(op.name) && params.size() == 1) return fmt::format("{}{}", op.name, params[0].name);
  if (is_infix(op.name)) return fmt::format("{} {} {}", params[0].name, op.name, params[1].name);
  std::string list;
  for (const Param& p : params) {
    list += list.empty() ? "" : ", ";
    list += p.name;
    if (!p.required() && p.default_text != "none") list += fmt::format("={}", p.default_text);
  }
  if (op.params.variadic) list += ", ...";
  std::string results;
  for (int i = 0; op.outputs > 1 && i < op.outputs; ++i)
    results += fmt::format("{}{}", i == 0 ? "[" : ", ", static_cast<char>('A' + i));
  return fmt::format("{}{}{}({})", results, results.empty() ? "" : "] = ", op.name, list);
}

std::string indent(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("    {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string op_text(const Op& op) {
  std::string out = fmt::format("{}\n  {}\n\n", signature(op), op.doc);
  size_t width = 0;
  for (const Param& p : op.params.span()) width = std::max(width, p.name.size());
  for (const Param& p : op.params.span()) {
    out += fmt::format("  {:<{}}  {}", p.name, width, kinds_text(p.accepts));
    if (p.default_text == "none")
      out += ", optional";
    else if (!p.required())
      out += fmt::format(", default {}", p.default_text);
    out += '\n';
  }
  if (op.params.variadic) out += "  The last may be repeated.\n";
  if (op.params.naming == Naming::named) out += "  Arguments are given by name.\n";
  if (op.params.naming == Naming::first_free) out += "  Arguments after the first are given by name.\n";
  for (std::string_view alias : op.aliases)
    if (!alias.empty()) out += fmt::format("  Also: {}\n", alias);
  if (!op.example.empty()) out += fmt::format("\n  Example:\n{}", indent(op.example));
  return out;
}

// Every row of that name or alias: there is one per number of arguments.
std::string ops_text(std::string_view name) {
  std::string out;
  for (const OpFamily family : op_families())
    for (const Op& op : family)
      if (!op.hidden && (op.name == name || std::find(op.aliases.begin(), op.aliases.end(), name) != op.aliases.end()))
        out += (out.empty() ? "" : "\n") + op_text(op);
  return out;
}

std::string option_text(const OptionRow& row) {
  std::string out = fmt::format("{}\n  {}\n", option_names(row).substr(row.letter == '\0' ? 4 : 0), row.help);
  if (!row.words.empty()) out += fmt::format("  One of: {}\n", listed(row.words));
  if (row.words.empty() || row.bare.empty()) return out;
  return out + fmt::format("  Alone: {}\n", row.bare);
}

// Text for roff: a dash that begins an option and a dot that begins a line are no commands.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '-' || c == '\\') out += '\\';
    out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

}  // namespace

std::string usage_text() {
  const std::string_view levels = find_option("explain")->words;
  std::string out = fmt::format("Runs a DML script.\n\n  {}\n\n{}\nOptions:\n", kSynopsis, kArguments);
  for (const OptionRow& row : option_rows())
    if (!row.help.empty()) out += fmt::format("  {:<28}  {}\n", option_names(row), row.help);
  out += "\nLevels of --explain: " + listed(levels.substr(0, levels.find("|fusion"))) + "\n\nExit status:\n";
  for (const Status& s : kStatuses) out += fmt::format("  {:>3}  {}\n", s.value, s.meaning);
  return out +
         "\nhopline --help NAME describes an operator (solve, %*%), a setting (memory.limit) or an option (explain).\n";
}

std::string topic_text(std::string_view topic) {
  std::string out = ops_text(topic);
  const std::string setting = describe_setting(topic);
  if (!setting.empty()) out += (out.empty() ? "" : "\n") + setting;
  const std::string_view name = topic.substr(std::min(topic.find_first_not_of('-'), topic.size()));
  if (const OptionRow* row = find_option(name); row != nullptr && !row->help.empty() && name.size() > 1)
    out += (out.empty() ? "" : "\n") + option_text(*row);
  if (!out.empty()) return out;
  Nearest nearest(topic);
  for (const OpFamily family : op_families())
    for (const Op& op : family)
      if (!op.hidden) nearest.offer(op.name);
  for (const Setting& row : settings()) nearest.offer(row.key);
  for (const OptionRow& row : option_rows()) nearest.offer(row.name);
  fail(ErrorKind::usage, {}, "no help on '{}': expected an operator, a setting or an option{}", topic, nearest.hint());
}

std::string version_text() { return "hopline " HOPLINE_VERSION "\n"; }

std::string bash_completion() {
  std::string options, cases;
  for (const OptionRow& row : option_rows()) {
    if (row.help.empty()) continue;
    options += fmt::format("{}--{}", options.empty() ? "" : " ", row.name);
    std::string words = listed(row.words);
    std::erase(words, ',');
    std::erase(words, '#');
    if (row.placeholder == "FILE")
      cases += fmt::format("    --{0}|-{0}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", row.name);
    else if (!words.empty())
      cases += fmt::format(
          "    --{0}|-{0}) COMPREPLY=($(compgen -W '{1}' -- \"$word\") $(compgen -f -X '!*.dml' -- \"$word\")); return "
          ";;\n",
          row.name, words);
  }
  std::string keys;
  for (const Setting& row : settings())
    if (row.has_effect()) keys += fmt::format("{}hopline.{}=", keys.empty() ? "" : " ", row.key);
  return fmt::format(
      "# bash completion of hopline: source <(hopline --completion bash)\n"
      "_hopline() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  case $before in\n"
      "{}"
      "    --set|-set) COMPREPLY=($(compgen -W '{}' -- \"$word\")); compopt -o nospace; return ;;\n"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -X '!*.dml' -- \"$word\") $(compgen -d -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _hopline hopline\n",
      cases, keys, options);
}

std::string manual_page() {
  std::string out = fmt::format(
      ".TH HOPLINE 1 \"\" \"hopline {}\"\n.SH NAME\nhopline \\- run scripts of the matrix language DML\n.SH "
      "SYNOPSIS\n.B {}\n"
      ".SH DESCRIPTION\n{}.SH OPTIONS\n",
      HOPLINE_VERSION, roff(kSynopsis), roff(kArguments));
  for (const OptionRow& row : option_rows()) {
    if (row.help.empty()) continue;
    const std::string names = option_names(row);
    out += fmt::format(".TP\n.B {}\n{}", roff(names.substr(row.letter == '\0' ? 4 : 0)), roff(row.help));
    if (!row.words.empty() && row.words != "#") out += fmt::format(" ({})", roff(listed(row.words)));
    out += '\n';
  }
  out += ".SH SETTINGS\nSet with \\-\\-set, in a file named with \\-config, or by the environment.\n";
  for (const Setting& row : settings())
    if (row.has_effect())
      out += fmt::format(".TP\n.B hopline.{}\n{} (default: {})\n", roff(row.key), roff(row.help),
                         row.default_text.empty() ? "empty" : roff(row.default_text));
  out += ".SH EXIT STATUS\n";
  for (const Status& s : kStatuses) out += fmt::format(".TP\n.B {}\n{}\n", s.value, roff(s.meaning));
  return out +
         ".SH FILES\n.TP\n.I ~/.config/hopline/hopline.yaml\nsettings of the user\n.TP\n.I ./SystemDS\\-config.xml, "
         "./SystemML\\-config.xml\nsettings used when \\-config names none\n";
}

}  // namespace hopline
