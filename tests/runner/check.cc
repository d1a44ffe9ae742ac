#include "tests/runner/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "tests/runner/compare.h"

namespace hopline::tests {

namespace {

// A plan without what differs between places: "  # line 3", " @12:3,14:1".
std::string without_positions(std::string_view plan) {
  std::string out;
  for (const std::string& line : split_lines(plan)) {
    const size_t at = std::min(line.find("  # line "), line.find(" @"));
    out += line.substr(0, at) + "\n";
  }
  return out;
}

std::string_view trim_left(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

std::string compare_output(const TestCase& test, const RunResult& result, double tolerance) {
  const std::vector<std::string> found = split_lines(result.output);
  if (std::find(found.begin(), found.end(), "NOT REACHED") != found.end()) return "  printed: NOT REACHED\n";
  if (test.fails && test.output.empty()) return "";
  const size_t n = std::max(found.size(), test.output.size());
  for (size_t i = 0; i < n; ++i) {
    const bool both = i < found.size() && i < test.output.size();
    if (both && same_line(test.output[i].text, found[i], std::max(tolerance, test.output[i].tolerance))) continue;
    return fmt::format("  line {} of the output\n    expected {}\n    found    {}\n", i + 1,
                       i < test.output.size() ? "|" + test.output[i].text + "|" : "no more",
                       i < found.size() ? "|" + found[i] + "|" : "no more");
  }
  return "";
}

std::string compare_errors(const TestCase& test, const RunResult& result) {
  if (test.fails) return result.errors.empty() ? "  expected an error, but it ran to its end\n" : "";
  const size_t n = std::max(test.errors.size(), result.errors.size());
  for (size_t i = 0; i < n; ++i) {
    if (i >= test.errors.size()) return "  failed:\n" + result.rendered;
    const ExpectedError& e = test.errors[i];
    const std::string wanted = fmt::format("{}:{}: {}", e.line, e.column, e.text);
    if (i >= result.errors.size()) return fmt::format("  expected error {}\n    found no more\n", wanted);
    const RunError& f = result.errors[i];
    if (e.line != f.line || e.column != f.column || !matches(e.text, f.message))
      return fmt::format("  expected error {}\n  found error    {}:{}: {}\n", wanted, f.line, f.column, f.message);
  }
  return "";
}

// Decision lines are "rule NAME ...", "fused NAME ...".
bool has_fired(const std::vector<std::string>& plan, const std::string& name) {
  for (const std::string& line : plan)
    for (const std::string_view word : {"rule ", "fused "}) {
      const std::string_view text = trim_left(line);
      if (text.substr(0, word.size()) != word) continue;
      const std::string_view rest = text.substr(word.size());
      if (rest.substr(0, name.size()) == name && (rest.size() == name.size() || rest[name.size()] == ' ')) return true;
    }
  return false;
}

std::string compare_plan(const TestCase& test, const RunResult& result) {
  const std::vector<std::string> plan = split_lines(without_positions(result.plan));
  for (const std::string& name : test.fires)
    if (!has_fired(plan, name)) return fmt::format("  expected to fire: {}\n{}", name, result.plan);
  for (const std::string& name : test.not_fires)
    if (has_fired(plan, name)) return fmt::format("  expected not to fire: {}\n{}", name, result.plan);
  size_t at = 0;
  for (const std::string& pattern : test.plan) {
    while (at < plan.size() && !matches(pattern, trim_left(plan[at]))) ++at;
    if (at++ == plan.size()) return fmt::format("  expected in the plan, in order: {}\n{}", pattern, result.plan);
  }
  for (const std::string& pattern : test.plan_not)
    for (const std::string& line : plan)
      if (matches(pattern, trim_left(line)))
        return fmt::format("  expected not in the plan: {}\n{}", pattern, line + "\n");
  return "";
}

RunResult run_variant(const TestCase& test, const Variant& variant, const Runner& run) {
  const Folder folder;
  return run(make_request(test, variant, folder.path()));
}

// A dry run prints nothing for the script, writes no file, and fails only where a run does.
std::string check_dry_run(const TestCase& test, const RunResult& real, const Runner& run) {
  const Folder folder;
  RunRequest request = make_request(test, variants().front(), folder.path());
  request.dry_run = true;
  const RunResult dry = run(request);
  if (!dry.output.empty()) return "  a dry run printed: " + dry.output;
  if (!std::filesystem::is_empty(folder.path())) return "  a dry run wrote a file\n";
  return !dry.errors.empty() && real.errors.empty() ? "  a dry run failed: " + dry.rendered : "";
}

}  // namespace

std::span<const Variant> variants() {
  static const std::vector<Variant> kVariants = {
      {"default", 0, {}},
      {"plain",
       1e-9,
       {{"hopline.rewrites.off", "all"}, {"hopline.fusion", "none"}, {"hopline.scalar.programs", "false"}}},
      {"sparse", 1e-9, {{"hopline.force.sparse", "true"}}},
      {"thread", 1e-9, {{"hopline.cp.parallel.threads", "1"}}},
      {"single", 1e-4, {{"hopline.floating.point.precision", "single"}}},
  };
  return kVariants;
}

RunRequest make_request(const TestCase& test, const Variant& variant, const std::string& folder) {
  RunRequest request;
  request.path = std::filesystem::path(test.path).filename().string();  // it runs in the folder of its file
  request.text = test.script;
  for (std::string argument : test.arguments) {
    constexpr std::string_view kFolder = "<DIR>";
    for (size_t at = argument.find(kFolder); at != std::string::npos; at = argument.find(kFolder, at + folder.size()))
      argument.replace(at, kFolder.size(), folder);
    request.arguments.push_back(std::move(argument));
  }
  request.config = variant.config;
  for (const std::string& setting : test.config) {
    const size_t equals = std::min(setting.find('='), setting.size());
    request.config.emplace_back(setting.substr(0, equals),
                                equals < setting.size() ? setting.substr(equals + 1) : std::string());
  }
  request.explain = test.needs_plan();
  return request;
}

std::string difference(const TestCase& test, const RunResult& result, double tolerance) {
  std::string wrong = compare_errors(test, result);
  if (wrong.empty() || test.errors.empty()) wrong += compare_output(test, result, tolerance);
  return wrong;
}

std::vector<CaseFailure> check_case(const TestCase& test, const TestCase* before, const std::string& only,
                                    const Runner& run) {
  std::vector<CaseFailure> failures;
  const auto add = [&](std::string_view variant, std::string wrong) {
    if (!wrong.empty()) failures.push_back({std::string(variant), std::move(wrong)});
  };
  const Variant& standard = variants().front();
  const RunResult first = run_variant(test, standard, run);
  if (only.empty() || only == standard.name) {
    add(standard.name, difference(test, first, 0));
    if (failures.empty()) add(standard.name, compare_plan(test, first));
    if (test.same_plan && before != nullptr && failures.empty()) {
      RunRequest request = make_request(*before, standard, "");
      request.explain = true;
      const std::string other = run(request).plan;
      if (without_positions(other) != without_positions(first.plan))
        add(standard.name, "  expected the plan of the case before:\n" + other + "  found:\n" + first.plan);
    }
  }
  if (only.empty() || only == "dry") add("dry", check_dry_run(test, first, run));
  for (const Variant& v : variants().subspan(1)) {
    if (v.name == "single" && !test.single) continue;
    if (!only.empty() && only != v.name) continue;
    const RunResult result = run_variant(test, v, run);
    if (test.exact && v.name != "single" && result.output != first.output) {
      add(v.name, "  printed:\n" + result.output + "  but by default:\n" + first.output);
      continue;
    }
    add(v.name, difference(test, result, v.tolerance));
  }
  return failures;
}

Folder::Folder() {
  static std::atomic<int64_t> count{0};
  path_ = fmt::format("{}/hopline-test-{}-{}", std::filesystem::temp_directory_path().string(), getpid(), ++count);
  std::filesystem::create_directories(path_);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hopline::tests
