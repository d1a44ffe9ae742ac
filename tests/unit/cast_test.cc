#include <gtest/gtest.h>

#include <cmath>

#include "runtime/base/parse_number.h"
#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

Value num(int64_t v) { return v; }
Value str(const char* t) { return std::string(t); }
Value list(std::vector<Value> entries) { return std::make_shared<const List>(std::move(entries)); }

struct CastTest : testing::Test, OpTest {
  std::string failure(std::string_view name, Value v) {
    try {
      run(name, {std::move(v)});
      return "no error";
    } catch (const Error& e) {
      return e.what();
    }
  }
};

}  // namespace

TEST_F(CastTest, TakesTheOnlyCell) {
  EXPECT_EQ(run("as.scalar", {dense(1, 1, {7})}), Value(7.0));
  EXPECT_EQ(run("as.scalar", {sparse(1, 1, {7})}), Value(7.0));
  EXPECT_EQ(run("as.scalar", {sparse(1, 1, {0})}), Value(0.0));
  EXPECT_EQ(run("castAsScalar", {new_constant(ctx, 1, 1, 2)}), Value(2.0));
  EXPECT_EQ(failure("as.scalar", dense(1, 2, {1, 2})), "as.scalar: expected a 1x1 matrix, found 1x2");
  EXPECT_EQ(failure("as.scalar", dense(0, 1, {})), "as.scalar: expected a 1x1 matrix, found 0x1");
}

TEST_F(CastTest, TakesTheFirstEntryOfAList) {
  EXPECT_EQ(run("as.scalar", {list({num(3), str("b")})}), num(3));
  EXPECT_EQ(kind_of(run("as.scalar", {list({dense(2, 1, {1, 2})})})), Kind::matrix);
  EXPECT_EQ(failure("as.scalar", list({})), "as.scalar: expected a list of one entry, found an empty list");
}

TEST_F(CastTest, MakesMatrices) {
  EXPECT_EQ(cells(run("as.matrix", {num(3)})), std::vector<double>{3});
  EXPECT_EQ(cells(run("as.matrix", {true})), std::vector<double>{1});
  EXPECT_EQ(cells(run("as.matrix", {str(" 2.5e1 ")})), std::vector<double>{25});
  EXPECT_EQ(failure("as.matrix", str("abc")), "as.matrix: expected a number, found the string \"abc\"");
  const Value m = dense(2, 1, {1, 2});
  EXPECT_EQ(run("as.matrix", {m}), m);
  EXPECT_EQ(run("as.matrix", {list({m})}), m);
  EXPECT_EQ(cells(run("as.matrix", {list({num(1), 2.5, true, str("4")})})), (std::vector<double>{1, 2.5, 1, 4}));
  EXPECT_EQ(cells(run("as.matrix", {list({num(9)})})), std::vector<double>{9});
  EXPECT_EQ(meta_of(run("as.matrix", {list({})})).rows, 0);
  EXPECT_EQ(failure("as.matrix", list({num(1), m})),
            "as.matrix: expected a list of scalars, found matrix at position 2");
}

TEST_F(CastTest, MakesLists) {
  const Value inner = list({num(1), num(2)});
  EXPECT_EQ(run("as.list", {list({inner})}), inner);
  const Value outer = list({inner, num(3)});
  EXPECT_EQ(run("as.list", {outer}), outer);
}

TEST_F(CastTest, MakesNumbers) {
  EXPECT_EQ(run("as.double", {num(3)}), Value(3.0));
  EXPECT_EQ(run("as.double", {str("1e3")}), Value(1000.0));
  EXPECT_EQ(run("as.double", {true}), Value(1.0));
  EXPECT_EQ(run("as.integer", {3.99}), num(3));
  EXPECT_EQ(run("as.integer", {-3.7}), num(-3));
  EXPECT_EQ(run("as.integer", {str("3.7")}), num(3));
  EXPECT_EQ(run("as.integer", {num(9007199254740993)}), num(9007199254740993));
  EXPECT_EQ(run("as.integer", {1e300}), num(INT64_MAX));
  EXPECT_EQ(failure("as.double", str("")), "as.double: expected a number, found the string \"\"");
}

TEST_F(CastTest, MakesBooleans) {
  EXPECT_EQ(run("as.logical", {num(0)}), Value(false));
  EXPECT_EQ(run("as.boolean", {0.5}), Value(true));
  EXPECT_EQ(run("as.logical", {str("1")}), Value(false));
  EXPECT_EQ(run("as.logical", {str("TRUE")}), Value(true));
  EXPECT_EQ(run("as.logical", {str("true")}), Value(true));
}

TEST(ParseNumber, ReadsWhatJavaAndTheLanguageWrite) {
  EXPECT_EQ(parse_number("  -1.5E3\t"), -1500.0);
  EXPECT_EQ(parse_number("+.5"), 0.5);
  EXPECT_EQ(parse_number("7."), 7.0);
  EXPECT_EQ(parse_number("-Infinity"), -HUGE_VAL);
  EXPECT_EQ(parse_number("Inf"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(*parse_number("NaN")));
  EXPECT_EQ(parse_number("1e999"), HUGE_VAL);
  EXPECT_EQ(parse_number("-1e-999"), 0.0);
  for (const char* wrong : {"", " ", "+", "+-1", "1 2", "1,5", "abc", "1e", "--1", "0x10"})
    EXPECT_FALSE(parse_number(wrong)) << wrong;
}

}  // namespace hopline
