#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/runner/check.h"
#include "tests/runner/compare.h"
#include "tests/runner/rebase.h"

namespace hopline::tests {

namespace {

TestCase one_case(std::string_view text) { return read_cases("a.dml", text).front(); }

// Prints what stands behind "say " in the script and fails at "fail".
RunResult echo(const RunRequest& request) {
  RunResult result;
  size_t number = 0;
  for (const std::string& line : split_lines(request.text)) {
    ++number;
    if (line.rfind("print(", 0) == 0 && !request.dry_run) result.output += line.substr(6, line.find(')') - 6) + "\n";
    if (line.rfind("fail", 0) == 0) {
      result.errors.push_back({"a.dml", number, 1, "it failed with 7"});
      result.rendered = "a.dml: it failed with 7\n";
      break;
    }
  }
  return result;
}

std::vector<CaseFailure> check(std::string_view text) { return check_case(one_case(text), nullptr, "", echo); }

}  // namespace

TEST(Runner, ReadsCasesWithTheirLines) {
  const auto cases =
      read_cases("a.dml", "print(1)  # expect: 1\n## ---\n## exact\n## config: a=b\nx = 2\n# expect~1e-12: 3\n");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].output[0].text, "1");
  EXPECT_EQ(cases[1].first, 3u);
  EXPECT_EQ(cases[1].script, "\n\n## exact\n## config: a=b\nx = 2\n# expect~1e-12: 3\n");
  EXPECT_TRUE(cases[1].exact);
  EXPECT_EQ(cases[1].output[0].tolerance, 1e-12);
  EXPECT_EQ(cases[1].config, std::vector<std::string>{"a=b"});
}

TEST(Runner, ReadsErrorsAndHeaders) {
  const TestCase test =
      one_case("# id: X\n# args: -nvargs f=<DIR>/x\n# expect: a b\n# expect:\n## error 3:12: no * here\n");
  EXPECT_EQ(test.errors[0].line, 3u);
  EXPECT_EQ(test.errors[0].column, 12u);
  EXPECT_EQ(test.errors[0].text, "no * here");
  EXPECT_EQ(test.output[1].text, "");
  EXPECT_EQ(make_request(test, variants().front(), "/d").arguments, (std::vector<std::string>{"-nvargs", "f=/d/x"}));
  EXPECT_TRUE(one_case("# expect-error: any\n").fails);
}

TEST(Runner, RefusesUnknownDirectives) {
  EXPECT_THROW(one_case("## fired: x\n"), std::runtime_error);
  EXPECT_THROW(one_case("## error 3: x\n"), std::runtime_error);
  EXPECT_NO_THROW(one_case("## a heading of two words: fine\n### another\n"));
}

TEST(Runner, ComparesNumbersWithinATolerance) {
  EXPECT_TRUE(same_line("x 1.0 y", "x 1.0000000001 y", 1e-9));
  EXPECT_FALSE(same_line("x 1.0 y", "x 1.0000000001 y", 0));
  EXPECT_FALSE(same_line("x 1.0 y", "x 1.00001 y", 1e-9));
  EXPECT_FALSE(same_line("x1 1", "x2 1", 1));
  EXPECT_TRUE(same_line("-0.0 NaN -Infinity 1.0E-5", "0.0 NaN -Infinity 1.0000000001E-5", 1e-9));
  EXPECT_FALSE(same_line("1 2", "1 2 3", 1e-9));
  EXPECT_FALSE(same_line("NaN", "1.0", 1e-9));
}

TEST(Runner, MatchesWithStars) {
  EXPECT_TRUE(matches("*tsmm*", "%3 = tsmm %1 [2x2]"));
  EXPECT_TRUE(matches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(matches("a*b", "abc"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Runner, FindsDifferences) {
  EXPECT_TRUE(check("print(1)  # expect: 1\n").empty());
  EXPECT_EQ(check("print(1)  # expect: 2\n").front().what,
            "  line 1 of the output\n    expected |2|\n    found    |1|\n");
  EXPECT_EQ(check("print(1)\n").front().what, "  line 1 of the output\n    expected no more\n    found    |1|\n");
  EXPECT_TRUE(check("fail\n## error 1:1: it failed with *\n").empty());
  EXPECT_FALSE(check("fail\n## error 1:2: it failed with *\n").empty());
  EXPECT_FALSE(check("fail\n").empty());
  EXPECT_TRUE(check("fail\n# expect-error: any\n").empty());
  EXPECT_FALSE(check("print(1)  # expect: 1\n# expect-error: any\n").empty());
  EXPECT_FALSE(check("print(NOT REACHED)\nfail\n# expect-error: any\n").empty());
}

TEST(Runner, FindsWhatADryRunMustNotDo) {
  const auto dry = [](std::string_view text, RunResult result) {
    return check_case(one_case(text), nullptr, "dry",
                      [&](const RunRequest& request) { return request.dry_run ? result : echo(request); });
  };
  EXPECT_TRUE(dry("print(1)\n", {}).empty());
  EXPECT_FALSE(dry("print(1)\n", {.output = "1\n"}).empty());
  EXPECT_FALSE(dry("print(1)\n", {.errors = {{"a.dml", 1, 1, "no"}}}).empty());
  EXPECT_TRUE(dry("fail\n", {.errors = {{"a.dml", 1, 1, "no"}}}).empty());
}

TEST(Runner, FindsRulesAndPlanLines) {
  const auto plan = [](std::string_view text) {
    return check_case(one_case(text), nullptr, "default", [](const RunRequest&) {
      return RunResult{.plan = "fused tsmm @1:1\nrule sum_t  # line 2\n  %1 = input X  # line 1\n  %2 = tsmm %1\n"};
    });
  };
  EXPECT_TRUE(plan("## fires: tsmm sum_t\n## not-fires: tsm mmchain\n## plan: %1 = input X\n## plan: *tsmm*\n## "
                   "plan-not: *t(*\n")
                  .empty());
  EXPECT_FALSE(plan("## fires: mmchain\n").empty());
  EXPECT_FALSE(plan("## not-fires: tsmm\n").empty());
  EXPECT_FALSE(plan("## plan: *= tsmm*\n## plan: %1 = input X\n").empty());
  EXPECT_FALSE(plan("## plan-not: *tsmm %1\n").empty());
}

TEST(Runner, RebasesInPlace) {
  const auto rewrite = [](const std::string& text) {
    const auto cases = read_cases("a.dml", text);
    std::vector<RunResult> results;
    for (const TestCase& test : cases) results.push_back(echo(make_request(test, variants().front(), "")));
    return rebase(text, cases, results);
  };
  EXPECT_EQ(rewrite("print(1)  # expect: 2\n"), "print(1)  # expect: 1\n");
  EXPECT_EQ(rewrite("print(1)\nprint(2)\n"), "print(1)  # expect: 1\nprint(2)  # expect: 2\n");
  EXPECT_EQ(rewrite("# expect~1e-3: 1.00001\nprint(1)\n"), "# expect~1e-3: 1.00001\nprint(1)\n");
  EXPECT_EQ(rewrite("# expect: a\nprint(1)\nprint(2)\n## ---\n## error 9:9: old\nfail\n"),
            "print(1)\nprint(2)\n# expect: 1\n# expect: 2\n## ---\n## error 7:1: it failed with 7\nfail\n");
  const std::string good = "print(1)  # expect: 1\nfail\n## error 2:1: it * 7\n";
  EXPECT_EQ(rewrite(good), good);
}

}  // namespace hopline::tests
