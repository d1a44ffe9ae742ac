#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/options.h"
#include "runtime/base/error.h"

namespace hopline {
namespace {

using enum OptionValue;

template <class Number>
Number number(std::string_view option, const std::string& text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    fail(ErrorKind::usage, {}, "option --{}: expected a whole number from {} to {}, found '{}'", option, least, most,
         text);
  return value;
}

void set_action(Options& options, Action action, const std::string& topic = {}) {
  options.action = action;
  options.topic = topic;
}

void set_explain(Options& options, const std::string& word) {
  if (word == "fusion")
    fail(ErrorKind::usage, {},
         "option --explain: this version fuses no operators: expected hops, rules, lops, instructions, memory or all, "
         "found 'fusion'");
  if (word == "runtime")
    options.explain = "instructions";
  else if (word.starts_with("recompile_") || word.starts_with("codegen"))
    options.explain = "all";
  else
    options.explain = word;
}

void set_stats(Options& options, const std::string& rows) {
  options.stats = true;
  options.heavy_hitters = number<int>("stats", rows, 0, 1000000);
}

void set_gpu(Options& options, const std::string& words) {
  options.gpu = true;
  for (size_t begin = 0; begin < words.size();) {
    const size_t end = std::min(words.find(',', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    begin = end + 1;
    options.gpu_force |= word == "force";
    if (!word.starts_with("sim:")) continue;
    options.gpu_simulated = word.substr(4);
    if (parse_bytes(options.gpu_simulated) <= 0)
      fail(ErrorKind::usage, {}, "option --gpu: expected a size such as sim:16GB, found '{}'", word);
  }
}

void set_pair(Options& options, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    fail(ErrorKind::usage, {}, "option --set: expected KEY=VALUE, found '{}'", text);
  options.settings.command_line.push_back({text.substr(0, equals), text.substr(equals + 1), 0});
}

void set_script(Options& options, const std::string& file) {
  if (options.text.has_value() || !options.script.empty())
    fail(ErrorKind::usage, {}, "more than one script: expected one of -f FILE and -s TEXT");
  options.script = file;
}

void set_text(Options& options, const std::string& text) {
  set_script(options, "");
  options.text = text;
}

// The words from "fusion" on are not listed by the help: no level yet, or another name of one.
constexpr std::string_view kExplainWords =
    "none|hops|rules|lops|instructions|runtime|memory|all|fusion|recompile_hops|recompile_runtime|codegen|codegen_"
    "recompile";
constexpr std::string_view kLineageWords =
    "none|dedup|reuse|reuse_full|reuse_partial|reuse_multilevel|reuse_hybrid|policy_lru|policy_costnsize|policy_"
    "dagheight|"
    "estimate|debugger";

constexpr OptionRow kOptions[] = {
    {"file", 'f', required, "FILE", "", "", "run the script in FILE; - is standard input", set_script},
    {"script", 's', required, "TEXT", "", "", "run TEXT", set_text},
    {"args", '\0', none, "VALUE...", "", "", "everything after it: values of $1, $2, ...", nullptr},
    {"nvargs", '\0', none, "NAME=VALUE...", "", "", "everything after it: values of $NAME", nullptr},
    {"config", '\0', required, "FILE", "", "", "settings, as XML (SystemDS, SystemML) or YAML",
     [](Options& o, const std::string& v) { o.settings.config_file = v; }},
    {"set", '\0', required, "KEY=VALUE", "", "", "one setting; may be repeated", set_pair},
    {"threads", '\0', required, "N", "", "", "threads of the run; 0: all that are available",
     [](Options& o, const std::string& v) {
       o.settings.command_line.push_back({"hopline.cp.parallel.threads", v, 0});
     }},
    {"seed", '\0', required, "N", "", "", "seed of everything random that the script gives no seed",
     [](Options& o, const std::string& v) { o.seed = number<int64_t>("seed", v, INT64_MIN, INT64_MAX); }},
    {"gpu", '\0', optional, "[force] [sim:SIZE]", "auto|force|sim:", "auto",
     "use a GPU; wherever possible; a simulated one", set_gpu},
    {"exec", '\0', required, "MODE", "singlenode|hybrid|spark|hadoop|hybrid_spark", "",
     "execution mode of SystemDS; without effect", nullptr},
    {"explain", '\0', optional, "LEVEL", kExplainWords, "instructions", "print each plan as it is made", set_explain},
    {"stats", '\0', optional, "N", "#", "10", "print statistics at the end, with the N heaviest operators (10)",
     set_stats},
    {"trace", '\0', required, "FILE", "", "", "write events for a trace viewer (Chrome's JSON format)",
     [](Options& o, const std::string& v) { o.trace = v; }},
    {"dry-run", '\0', none, "", "", "", "plan from the sizes in .mtd files; read and write no data",
     [](Options& o, const std::string&) { o.dry_run = true; }},
    {"verbose", 'v', none, "", "", "", "also print warnings and settings without effect",
     [](Options& o, const std::string&) { o.verbose = true; }},
    {"debug", '\0', none, "", "", "", "same as --verbose", [](Options& o, const std::string&) { o.verbose = true; }},
    {"print-config", '\0', none, "", "", "", "print every setting and where it comes from",
     [](Options& o, const std::string&) { set_action(o, Action::print_config); }},
    {"help", 'h', optional, "NAME", "", "usage", "help, or help on an operator, a setting or an option",
     [](Options& o, const std::string& v) { set_action(o, Action::help, v == "usage" ? "" : v); }},
    {"version", 'V', none, "", "", "", "print the version",
     [](Options& o, const std::string&) { set_action(o, Action::version); }},
    {"completion", '\0', required, "SHELL", "bash", "", "print the completion script of a shell",
     [](Options& o, const std::string& v) { set_action(o, Action::completion, v); }},
    {"man", '\0', none, "", "", "", "print the manual page",
     [](Options& o, const std::string&) { set_action(o, Action::man); }},
    {"write-conf", '\0', required, "FORMAT", "yaml|xml", "", "",
     [](Options& o, const std::string& v) { set_action(o, Action::write_conf, v); }},
    // of SystemDS, without effect
    {"mem", '\0', none, "", "", "", "", nullptr},
    {"clean", '\0', none, "", "", "", "", nullptr},
    {"ooc", '\0', none, "", "", "", "", nullptr},
    {"oocStats", '\0', optional, "", "#", "10", "", nullptr},
    {"lineage", '\0', optional, "", kLineageWords, "none", "", nullptr},
    {"fedStats", '\0', optional, "", "#", "10", "", nullptr},
    {"checkPrivacy", '\0', none, "", "", "", "", nullptr},
    {"federatedCompilation", '\0', none, "", "", "", "", nullptr},
    {"noFedRuntimeConversion", '\0', none, "", "", "", "", nullptr},
    {"sparseIntermediate", '\0', none, "", "", "", "", nullptr},
};

}  // namespace

std::span<const OptionRow> option_rows() { return kOptions; }

const OptionRow* find_option(std::string_view name) {
  for (const OptionRow& row : kOptions)
    if (row.name == name || (name.size() == 1 && row.letter == name[0])) return &row;
  return nullptr;
}

bool is_word(const OptionRow& row, std::string_view value) {
  std::string_view words = row.words;
  while (!words.empty()) {
    const size_t bar = std::min(words.find('|'), words.size());
    const std::string_view word = words.substr(0, bar);
    words.remove_prefix(std::min(bar + 1, words.size()));
    if (word == value || (word.ends_with(':') && value.starts_with(word))) return true;
    if (word == "#" && !value.empty() &&
        std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return true;
  }
  return false;
}

}  // namespace hopline
