#include "tests/runner/rebase.h"

#include <fmt/format.h>

#include "tests/runner/check.h"
#include "tests/runner/compare.h"

namespace hopline::tests {

namespace {

// A line of the new file; `error` lines are written last, when it is known where each old line went.
struct NewLine {
  std::string text;
  const RunError* error = nullptr;
  std::string pattern;  // the text of the error when the old one still matches
};

struct Rewriter {
  std::vector<NewLine> lines;
  std::vector<size_t> moved{0};  // new number of each old line

  void keep(std::string text) {
    lines.push_back({std::move(text)});
    moved.push_back(lines.size());
  }
  void drop() { moved.push_back(lines.size() + 1); }
  void add(std::string text) { lines.push_back({std::move(text)}); }
};

std::string without_comment(const std::string& line, size_t at) {
  std::string code = line.substr(0, at);
  code.erase(code.find_last_not_of(' ') + 1);
  return code;
}

std::string mark(const ExpectedLine& line) {
  std::string out = line.tolerance > 0 ? fmt::format("# expect~{}:", line.tolerance) : "# expect:";
  return line.text.empty() ? out : out + " " + line.text;
}

std::string comment_for(const std::string& old, size_t at, ExpectedLine expected, const std::string& found) {
  if (same_line(expected.text, found, expected.tolerance)) return old;
  expected.text = found;
  return old.substr(0, at) + mark(expected);
}

bool is_print(const std::string& line) { return line.rfind("print(", 0) == 0; }
bool is_error(const std::string& line) { return line.rfind("## error ", 0) == 0; }

void write_errors(Rewriter& out, const TestCase& test, const RunResult& result) {
  if (test.fails) return;
  for (size_t i = 0; i < result.errors.size(); ++i) {
    const RunError& e = result.errors[i];
    const bool holds = i < test.errors.size() && matches(test.errors[i].text, e.message);
    out.lines.push_back({"", &e, holds ? test.errors[i].text : e.message});
  }
}

void write_case(Rewriter& out, std::span<const std::string> lines, const TestCase& test, const RunResult& result) {
  std::vector<std::string> found = split_lines(result.output);
  if (test.fails && test.output.empty()) found.clear();
  size_t prints = 0;
  for (const std::string& line : lines) prints += is_print(line) ? 1 : 0;
  const bool in_place = found.size() == test.output.size();
  const bool at_prints = test.output.empty() && found.size() == prints;
  size_t next = 0;
  bool errors_written = test.fails;
  for (const std::string& line : lines) {
    const FoundExpectation old = find_expectation(line);
    if (is_error(line)) {
      out.drop();
      if (!errors_written) write_errors(out, test, result);
      errors_written = true;
    } else if (old.at != std::string_view::npos && in_place) {
      out.keep(comment_for(line, old.at, old.line, found[next]));
      ++next;
    } else if (old.at != std::string_view::npos) {
      const std::string code = without_comment(line, old.at);
      if (code.empty())
        out.drop();
      else
        out.keep(code);
    } else if (at_prints && is_print(line)) {
      out.keep(line + "  " + mark({found[next++], 0}));
    } else {
      out.keep(line);
    }
  }
  if (!in_place && !at_prints)
    for (const std::string& text : found) out.add(mark({text, 0}));
  if (!errors_written) write_errors(out, test, result);
}

}  // namespace

std::string rebase(std::string_view text, std::span<const TestCase> cases, std::span<const RunResult> results) {
  const std::vector<std::string> lines = split_lines(text);
  Rewriter out;
  for (size_t i = 0; i < cases.size(); ++i) {
    const TestCase& test = cases[i];
    if (i > 0) out.keep(lines[test.first - 2]);
    write_case(out, std::span(lines).subspan(test.first - 1, test.last - test.first + 1), test, results[i]);
  }
  std::string whole;
  for (const NewLine& line : out.lines) {
    if (line.error == nullptr) {
      whole += line.text + "\n";
      continue;
    }
    const RunError& e = *line.error;
    const size_t number = e.line < out.moved.size() ? out.moved[e.line] : e.line;
    whole += fmt::format("## error {}:{}: {}\n", number, e.column, line.pattern);
  }
  return whole;
}

}  // namespace hopline::tests
