#include "cli/run.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "api/engine.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/monitor.h"
#include "runtime/base/error.h"
#include "runtime/exec/trace.h"
#include "runtime/io/unfinished.h"

namespace hopline {
namespace {

std::string read_all(FILE* file, const std::string& name) {
  std::string text;
  char buffer[16384];
  size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, got);
  if (std::ferror(file) != 0) fail(ErrorKind::io, {}, "cannot read the script {}: {}", name, std::strerror(errno));
  return text;
}

void note_ignored(const Options& options, const Settings& settings, Output& output) {
  std::string list;
  for (const std::string& option : options.ignored) list += fmt::format("{}{}", list.empty() ? "" : ", ", option);
  for (const std::string& key : settings.without_effect()) list += fmt::format("{}{}", list.empty() ? "" : ", ", key);
  if (!list.empty()) output.note(fmt::format("hopline: note: accepted without effect: {}\n", list));
}

int answer(const Options& options, Output& output) {
  switch (options.action) {
    case Action::help:
      output.print(options.topic.empty() ? usage_text() : topic_text(options.topic));
      return 0;
    case Action::version:
      output.print(version_text());
      return 0;
    case Action::print_config:
      output.print(load_settings(options.settings).print(options.verbose));
      return 0;
    case Action::completion:
      output.print(bash_completion());
      return 0;
    case Action::man:
      output.print(manual_page());
      return 0;
    case Action::write_conf:
      output.print(options.topic == "xml" ? write_xml_settings() : write_yaml_settings());
      return 0;
    case Action::run:
      return run(options, output);
  }
  return 0;
}

ExplainLevels explain_levels(std::string_view level) {
  const auto is = [&](std::string_view one) { return level == one || level == "all"; };
  return {is("hops"), is("rules"), is("lops"), is("instructions"), is("memory")};
}

RunStatus watched_run(Engine& engine, ScriptText script, const RunOptions& options, Output& output,
                      std::optional<Trace>& trace) {
  const Interruptible interruptible(engine);
  const Monitor monitor(engine, output, [&trace] {
    if (trace) trace->abandon();
    remove_unfinished();
  });
  return engine.run(script.name, std::move(script.text), options);
}

}  // namespace

ScriptText read_script(const Options& options) {
  if (options.text.has_value()) return {"-s", *options.text};
  if (options.script == "-") return {"stdin", read_all(stdin, "on standard input")};
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(options.script.c_str(), "rb"), std::fclose);
  if (file == nullptr) fail(ErrorKind::io, {}, "cannot read the script {}: {}", options.script, std::strerror(errno));
  return {options.script, read_all(file.get(), options.script)};
}

int run(const Options& options, Output& output) {
  const Settings settings = load_settings(options.settings);
  if (options.verbose) note_ignored(options, settings, output);
  ScriptText script = read_script(options);
  Engine engine(settings.config());
  RunOptions run;
  run.arguments = options.arguments;
  run.print = [&](std::string_view text) { output.print(text); };
  run.note = [&](const std::string& text) { output.note(text); };
  run.explain_levels = explain_levels(options.explain);
  if (options.explain != "none") run.explain = run.note;
  run.dry_run = options.dry_run;
  run.warnings = options.verbose;
  if (options.seed) run.seed = static_cast<uint64_t>(*options.seed);
  Statistics statistics;
  std::optional<Trace> trace;
  Observers observers;
  if (options.stats) observers.add(&statistics);
  if (!options.trace.empty()) observers.add(&trace.emplace(options.trace));
  if (!observers.empty()) run.observer = &observers;
  const RunStatus status = watched_run(engine, std::move(script), run, output, trace);
  if (!status.text.empty()) output.note(status.text);
  if (options.stats)
    output.note(
        statistics.text(status.totals, static_cast<size_t>(options.heavy_hitters), settings.config().stats_name_width));
  if (trace) trace->finish(status.totals);
  return status.status;
}

int command(std::span<const char* const> arguments, Output& output) {
  constexpr int kClosedPipe = 141;
  try {
    const int status = answer(parse_options(arguments), output);
    output.flush();
    return status;
  } catch (const ClosedPipe&) {
    return kClosedPipe;
  } catch (const Error& e) {
    output.note(render(e, SourceFiles()));
    return static_cast<int>(e.kind());
  } catch (const std::bad_alloc&) {
    output.note("hopline: error: out of memory\n");
    return static_cast<int>(ErrorKind::resource);
  }
}

}  // namespace hopline
