#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "frontend/check/nearest.h"
#include "runtime/base/error.h"

namespace hopline {
namespace {

using Words = std::vector<std::string>;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "-5" and "-.5" are values, "-" is standard input.
bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !is_digit(word[1]) && word[1] != '.';
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

[[noreturn]] void unknown_option(std::string_view word) {
  const size_t dashes = word.find_first_not_of('-');
  std::string_view name = word.substr(std::min(dashes, word.size()));
  name = name.substr(0, name.find('='));
  Nearest nearest(name);
  for (const OptionRow& row : option_rows()) nearest.offer(row.name);
  const std::string hint = nearest.found().empty() ? "" : fmt::format("; did you mean --{}?", nearest.found());
  fail(ErrorKind::usage, {}, "unknown option {}{}", word, hint);
}

// The command line cut at "-args" or "-nvargs", and at "--".
struct Parts {
  Words options;     // options as "--name" or "--name=value", and plain words
  Words positional;  // after -args
  Words named;       // after -nvargs
  Words plain;       // after --
};

// The value of an option that has an optional one: the words after it that belong to it, else what it means without.
std::string optional_value(const OptionRow& row, std::span<const char* const> arguments, size_t& i) {
  std::string value;
  while (i + 1 < arguments.size()) {
    const std::string_view next = arguments[i + 1];
    if (row.words.empty() ? looks_like_option(next) : !is_word(row, next)) break;
    value += (value.empty() ? "" : ",") + std::string(next);
    ++i;
    if (row.name != "gpu") break;
  }
  return value.empty() ? std::string(row.bare) : value;
}

void add_option(Parts& parts, std::span<const char* const> arguments, size_t& i) {
  const std::string_view word = arguments[i];
  const std::string_view name = word.substr(word[1] == '-' ? 2 : 1);
  const size_t equals = std::min(name.find('='), name.size());
  const OptionRow* const row = find_option(name.substr(0, equals));
  if (row == nullptr) unknown_option(word);
  std::string option = fmt::format("--{}", row->name);
  if (equals < name.size() && row->value == OptionValue::none)
    fail(ErrorKind::usage, {}, "option --{}: expected no value, found '{}'", row->name, name.substr(equals + 1));
  if (equals < name.size()) {
    option += name.substr(equals);
  } else if (row->value == OptionValue::optional) {
    option += "=" + optional_value(*row, arguments, i);
  } else if (row->value == OptionValue::required) {
    option += fmt::format("={}", i + 1 < arguments.size() ? arguments[++i] : "");
  }
  if (option.back() == '=')
    fail(ErrorKind::usage, {}, "option --{}: expected {}, found nothing", row->name, row->placeholder);
  parts.options.push_back(std::move(option));
}

Parts split(std::span<const char* const> arguments) {
  Parts parts;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    Words* rest = nullptr;
    if (word == "--") rest = &parts.plain;
    if (word == "-args" || word == "--args") rest = &parts.positional;
    if (word == "-nvargs" || word == "--nvargs") rest = &parts.named;
    if (rest != nullptr) {
      rest->assign(arguments.begin() + static_cast<ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (looks_like_option(word))
      add_option(parts, arguments, i);
    else
      parts.options.emplace_back(word);
  }
  return parts;
}

void take(Options& options, const OptionRow& row, const std::string& value) {
  const bool checked = !row.words.empty() && row.name != "gpu" && row.name != "help";
  if (checked && !is_word(row, value)) {
    std::string words(row.words == "#" ? "a number" : row.words);
    for (size_t at = 0; (at = words.find('|', at)) != std::string::npos; at += 2) words.replace(at, 1, ", ");
    fail(ErrorKind::usage, {}, "option --{}: expected {}, found '{}'", row.name, words, value);
  }
  if (row.set == nullptr)
    options.ignored.push_back(fmt::format("-{}", row.name));
  else
    row.set(options, value);
}

void register_option(CLI::App& app, const OptionRow& row, Options& options) {
  const std::string name = fmt::format("--{}", row.name);
  if (app.get_option_no_throw(name) != nullptr) return;
  if (row.value == OptionValue::none) {
    app.add_flag_callback(name, [&options, &row] { take(options, row, ""); });
    return;
  }
  const CLI::callback_t set = [&options, &row](const CLI::results_t& values) {
    for (const std::string& value : values) take(options, row, value);
    return true;
  };
  app.add_option(name, set)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// Lets CLI11 read `words`; returns those that belong to no option. Only options that were given are registered: CLI11
// takes 0.2 ms for all, which a one-line script would notice.
Words read_options(Options& options, Words words) {
  const auto is_option = [](const std::string& word) { return word.starts_with("--"); };
  if (std::none_of(words.begin(), words.end(), is_option)) return words;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  for (const std::string& word : words)
    if (is_option(word)) register_option(app, *find_option(word.substr(2, word.find('=') - 2)), options);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::Error& e) {
    fail(ErrorKind::usage, {}, "{}", e.what());
  }
  return app.remaining();
}

void add_named(Options& options, const std::string& word, size_t equals) {
  const std::string name = word.substr(0, equals);
  if (options.arguments.contains(name)) fail(ErrorKind::usage, {}, "argument {} is given twice", name);
  if (equals + 1 < word.size()) options.arguments[name] = word.substr(equals + 1);
}

}  // namespace

Options parse_options(std::span<const char* const> arguments) {
  Options options;
  Parts parts = split(arguments);
  Words words = read_options(options, std::move(parts.options));
  words.insert(words.end(), parts.plain.begin(), parts.plain.end());
  size_t next = 0;
  if (options.script.empty() && !options.text.has_value() && !words.empty()) options.script = words[next++];
  words.insert(words.end(), parts.positional.begin(), parts.positional.end());
  const size_t first_swallowed = words.size() - parts.positional.size();
  int position = 0;
  for (size_t i = next; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (i < first_swallowed && equals != std::string::npos && is_name(words[i].substr(0, equals))) {
      add_named(options, words[i], equals);
      continue;
    }
    ++position;
    if (!words[i].empty()) options.arguments[std::to_string(position)] = words[i];
  }
  for (const std::string& word : parts.named) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || !is_name(word.substr(0, equals)))
      fail(ErrorKind::usage, {}, "option --nvargs: expected NAME=VALUE, found '{}'", word);
    add_named(options, word, equals);
  }
  if (options.action == Action::run && options.script.empty() && !options.text.has_value())
    fail(ErrorKind::usage, {}, "no script: expected hopline [options] SCRIPT [arguments]; see hopline --help");
  return options;
}

}  // namespace hopline
