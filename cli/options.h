// What the command line asks for. Options are rows (option_rows.cc): parsing, help, completion and the man page read
// them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/config/settings.h"

namespace hopline {

enum class Action : uint8_t { run, help, version, print_config, completion, man, write_conf };

struct Options {
  Action action = Action::run;
  std::string topic;                             // of help; the shell of completion; the format of write_conf
  std::string script;                            // a file, "-" for standard input; empty with `text`
  std::optional<std::string> text;               // -s
  std::map<std::string, std::string> arguments;  // "1", "2", ... and names -> text; none is empty
  SettingRequest settings;
  std::string explain = "none";  // none, hops, rules, fusion, lops, instructions, memory or all
  bool stats = false;
  int heavy_hitters = 10;       // rows of the table of -stats
  std::optional<int64_t> seed;  // key of unseeded draws
  bool gpu = false;
  bool gpu_force = false;     // wherever a kernel exists
  std::string gpu_simulated;  // "sim:16GB": bytes of a simulated device; empty: a real one
  bool verbose = false;
  bool dry_run = false;              // plan from metadata alone
  std::string trace;                 // file for trace events; empty: none
  std::vector<std::string> ignored;  // options of SystemDS that were given and have no effect, as "-mem"
};

enum class OptionValue : uint8_t { none, required, optional };

struct OptionRow {
  std::string_view name;  // without dashes
  char letter = '\0';     // short form, or none
  OptionValue value = OptionValue::none;
  std::string_view placeholder;  // of the value: "FILE"
  // What the value may be: "a|b|sim:|#", where "sim:" stands for a start and "#" for a number; empty: anything. The
  // word after an option with an optional value belongs to it only if it is one of these.
  std::string_view words;
  std::string_view bare;  // the value meant by an option that is given without its optional one
  std::string_view help;  // one line; empty: not shown
  void (*set)(Options&, const std::string& value) = nullptr;  // throws Error{usage}; null: accepted without effect
};

std::span<const OptionRow> option_rows();
const OptionRow* find_option(std::string_view name);  // by name or letter
bool is_word(const OptionRow& row, std::string_view value);

// `arguments`: without the program's name. Throws Error{usage}.
Options parse_options(std::span<const char* const> arguments);

}  // namespace hopline
