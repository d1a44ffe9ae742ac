#include "tests/runner/test_case.h"

#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>

namespace hopline::tests {

namespace {

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

size_t read_size(std::string_view& text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) throw std::runtime_error("expected a number, found: " + std::string(text));
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "L:C: text"
ExpectedError read_error(std::string_view text) {
  ExpectedError error;
  error.line = read_size(text);
  if (!starts_with(text, ":")) throw std::runtime_error("expected: ## error LINE:COLUMN: TEXT");
  text.remove_prefix(1);
  error.column = read_size(text);
  if (!starts_with(text, ":")) throw std::runtime_error("expected: ## error LINE:COLUMN: TEXT");
  error.text = trim(text.substr(1));
  return error;
}

void add_words(std::vector<std::string>& out, std::string_view text) {
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) out.push_back(word);
}

// "## name: value" or "## name"; other comments are left alone.
void read_directive(TestCase& test, std::string_view line) {
  std::string_view text = trim(line.substr(2));
  if (starts_with(text, "error ")) {
    test.errors.push_back(read_error(trim(text.substr(6))));
    return;
  }
  const size_t colon = text.find(':');
  const std::string name(trim(text.substr(0, colon)));
  const std::string value(colon == std::string_view::npos ? std::string_view() : trim(text.substr(colon + 1)));
  const std::map<std::string, bool*> flags = {
      {"same-plan", &test.same_plan}, {"exact", &test.exact}, {"single", &test.single}};
  const std::map<std::string, std::vector<std::string>*> lists = {
      {"plan", &test.plan}, {"plan-not", &test.plan_not}, {"config", &test.config}};
  const std::map<std::string, std::vector<std::string>*> words = {
      {"fires", &test.fires}, {"not-fires", &test.not_fires}, {"args", &test.arguments}};
  if (const auto flag = flags.find(name); flag != flags.end())
    *flag->second = true;
  else if (const auto list = lists.find(name); list != lists.end())
    list->second->push_back(value);
  else if (const auto word = words.find(name); word != words.end())
    add_words(*word->second, value);
  else if (name == "device")
    test.device = value;
  else if (colon != std::string_view::npos && name.find(' ') == std::string::npos)
    throw std::runtime_error("no directive: ## " + std::string(text));
}

void read_line(TestCase& test, std::string_view line) {
  if (starts_with(line, "# args:")) return add_words(test.arguments, line.substr(7));
  if (starts_with(line, "# expect-error:")) {
    test.fails = true;
    return;
  }
  if (starts_with(line, "##")) return read_directive(test, line);
  const FoundExpectation found = find_expectation(line);
  if (found.at != std::string_view::npos) test.output.push_back(found.line);
}

}  // namespace

FoundExpectation find_expectation(std::string_view line) {
  constexpr std::string_view kMark = "# expect";
  for (size_t at = line.find(kMark); at != std::string_view::npos; at = line.find(kMark, at + 1)) {
    if (at > 0 && line[at - 1] == '#') continue;
    std::string_view rest = line.substr(at + kMark.size());
    FoundExpectation found{at, {}};
    if (starts_with(rest, "~")) {
      const size_t colon = rest.find(':');
      if (colon == std::string_view::npos) continue;
      found.line.tolerance = std::stod(std::string(rest.substr(1, colon - 1)));
      rest.remove_prefix(colon);
    }
    if (!starts_with(rest, ":")) continue;
    rest.remove_prefix(1);
    if (starts_with(rest, " ")) rest.remove_prefix(1);
    found.line.text = rest;
    return found;
  }
  return {};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<TestCase> read_cases(const std::string& path, std::string_view text) {
  std::vector<TestCase> cases;
  TestCase test;
  const std::vector<std::string> lines = split_lines(text);
  const auto begin = [&](size_t line) {
    test = TestCase{};
    test.path = path;
    test.first = line;
    test.script.assign(line - 1, '\n');
  };
  begin(1);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (starts_with(lines[i], "## ---")) {
      test.last = i;
      cases.push_back(std::move(test));
      begin(i + 2);
      continue;
    }
    try {
      read_line(test, lines[i]);
    } catch (const std::exception& e) {
      throw std::runtime_error(path + ":" + std::to_string(i + 1) + ": " + e.what());
    }
    test.script += lines[i] + "\n";
  }
  test.last = lines.size();
  cases.push_back(std::move(test));
  return cases;
}

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace hopline::tests
