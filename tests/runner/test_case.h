// A test: a runnable script with its expectations in comments (design section 11).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hopline::tests {

struct ExpectedLine {  // # expect: TEXT, # expect~1e-12: TEXT
  std::string text;
  double tolerance = 0;  // 0: the text itself
};
struct ExpectedError {  // ## error L:C: TEXT; * in the text stands for anything
  size_t line = 0, column = 0;
  std::string text;
};

struct TestCase {
  std::string path;                  // of its file
  size_t first = 1, last = 1;        // its lines in the file
  std::string script;                // lines before `first` are empty, so positions are those of the file
  std::vector<ExpectedLine> output;  // all that the script prints, line by line
  std::vector<ExpectedError> errors;
  bool fails = false;                         // # expect-error: any error will do
  std::vector<std::string> fires, not_fires;  // names of rules and fused operators
  std::vector<std::string> plan, plan_not;    // patterns of plan lines
  bool same_plan = false;                     // as the case before it
  bool exact = false;                         // equal bits in every variant of double precision
  bool single = false;                        // runs in single precision, too
  std::string device;                         // sim:64MB
  std::vector<std::string> config;            // key=value
  std::vector<std::string> arguments;         // of the command; <DIR> stands for an empty folder

  bool needs_plan() const {
    return same_plan || !fires.empty() || !not_fires.empty() || !plan.empty() || !plan_not.empty();
  }
  std::string name() const { return path + ":" + std::to_string(first); }
};

// The cases of a file, which "## ---" separates. Throws std::runtime_error for a directive that is none.
std::vector<TestCase> read_cases(const std::string& path, std::string_view text);

// The expectation in a line of a script: where its comment begins, and its text. npos when there is none.
struct FoundExpectation {
  size_t at = std::string_view::npos;
  ExpectedLine line;
};
FoundExpectation find_expectation(std::string_view line);

// Does `text` match the pattern, in which * stands for any text?
bool matches(std::string_view pattern, std::string_view text);

std::vector<std::string> split_lines(std::string_view text);  // without ends; a last line end makes no empty line

}  // namespace hopline::tests
