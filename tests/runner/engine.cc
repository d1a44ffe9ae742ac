#include "tests/runner/engine.h"

#include "api/engine.h"
#include "frontend/config/settings.h"

namespace hopline::tests {

namespace {

// As the command does: k=v is a named argument, other words are $1, $2, ...
std::map<std::string, std::string> script_arguments(const std::vector<std::string>& words) {
  std::map<std::string, std::string> out;
  int position = 0;
  for (const std::string& w : words) {
    if (w == "-nvargs" || w == "-args") continue;
    const size_t equal = w.find('=');
    if (equal == std::string::npos)
      out[std::to_string(++position)] = w;
    else
      out[w.substr(0, equal)] = w.substr(equal + 1);
  }
  return out;
}

}  // namespace

RunResult run_script(const RunRequest& request) {
  RunResult out;
  Settings settings;
  std::vector<KeyValue> pairs;
  for (const auto& [key, value] : request.config) pairs.push_back({key, value});
  try {
    settings.apply({"test", false}, pairs);
  } catch (const Error& error) {
    out.rendered = error.what();
    out.errors.push_back({"", 0, 0, error.what()});
    return out;
  }
  Engine engine(settings.config());
  RunOptions options;
  options.arguments = script_arguments(request.arguments);
  options.print = [&](std::string_view text) { out.output += text; };
  options.seed = 1;
  if (request.explain) {
    options.explain = [&](const std::string& text) { out.plan += text; };
    options.explain_levels.rules = options.explain_levels.instructions = true;
  }
  const RunStatus status = engine.run(request.path, request.text, options);
  out.rendered = status.text;
  for (const Diagnostic& d : status.errors) {
    const Position at = status.files->position(d.span);
    out.errors.push_back({std::string(at.file), at.line, at.column, d.message});
  }
  return out;
}

}  // namespace hopline::tests
