#include "runtime/ops/text.h"

#include <gtest/gtest.h>

#include <memory>

#include <cmath>

#include "runtime/exec/session.h"
#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

struct Capture : Session {
  std::string text;
  void print(std::string_view t) override { text += t; }
  uint64_t draw_key(const Span&) override { return 0; }
  uint64_t seed() const override { return 0; }
  std::unique_ptr<Session> task() override { return nullptr; }
};

struct TextTest : testing::Test, OpTest {
  Capture session;
  void SetUp() override { ctx.session = &session; }

  std::string print(std::vector<Value> in) {
    session.text.clear();
    const Op& row = op("print", in.size());
    apply(ctx, row, std::move(in));
    return session.text;
  }
  std::string failure(std::string_view name, std::vector<Value> in) {
    const Op& row = op(name, in.size());
    try {
      apply(ctx, row, std::move(in));
      return "no error";
    } catch (const Error& e) {
      return e.what();
    }
  }
  std::string text(const Value& v, const TextOptions& options = {}) {
    std::string out;
    append_text(out, v, options, {});
    return out;
  }
  Value example() { return dense(2, 3, {1, 2.5, -0.0004, 1234567.891, std::nan(""), 1e10}); }
};

Value list(std::vector<Value> entries) { return std::make_shared<const List>(std::move(entries)); }
Value str(const char* t) { return std::string(t); }
Value num(int64_t v) { return v; }

}  // namespace

TEST_F(TextTest, PrintsScalarsInTheirPrintedForm) {
  EXPECT_EQ(print({num(3)}), "3\n");
  EXPECT_EQ(print({2.5}), "2.5\n");
  EXPECT_EQ(print({true}), "TRUE\n");
  EXPECT_EQ(print({str("100% done")}), "100% done\n");
  EXPECT_EQ(print({num(INT64_MAX)}), "9223372036854775807\n");
}

TEST_F(TextTest, PrintsMatricesWithAnEmptyLineAfter) {
  EXPECT_EQ(print({dense(2, 2, {1, 2, 3, 4})}), "1.000 2.000\n3.000 4.000\n\n");
}

TEST_F(TextTest, PrintsFormats) {
  EXPECT_EQ(print({str("%s is %.2f"), str("pi"), 3.14159}), "pi is 3.14\n");
  EXPECT_EQ(failure("print", {num(1), num(2)}),
            "print: expected a format string as first of several arguments, found int");
  EXPECT_EQ(failure("print", {str("%s"), example()}),
            "print: expected a scalar as argument 2 of a format string, found matrix");
  EXPECT_EQ(failure("print", {str("%d"), 3.0}),
            "wrong argument for format specifier %d: expected an int, found a double 3.0");
}

TEST_F(TextTest, LaysOutMatricesByTheOptions) {
  EXPECT_EQ(text(example()), "1.000 2.500 -0.000\n1234567.891 NaN 10000000000.000\n");
  EXPECT_EQ(text(example(), {.decimals = 0}), "1 2 -0\n1234568 NaN 10000000000\n");
  EXPECT_EQ(text(example(), {.decimals = 1}), "1.0 2.5 -0.0\n1234567.9 NaN 10000000000.0\n");
  EXPECT_EQ(text(example(), {.decimals = -1}), "1 2.5 -0\n1234567.891 NaN 10000000000\n");
  EXPECT_EQ(text(example(), {.separator = ",", .line_separator = ";"}),
            "1.000,2.500,-0.000;1234567.891,NaN,10000000000.000;");
  EXPECT_EQ(text(example(), {.rows = 1, .cols = 2}), "1.000 2.500\n");
  EXPECT_EQ(text(dense(1, 3, {-0.0, HUGE_VAL, -HUGE_VAL})), "0.000 Infinity -Infinity\n");
}

TEST_F(TextTest, PrintsNonZerosAsTriples) {
  for (const bool compressed : {false, true}) {
    const std::initializer_list<double> cells = {1, 0, -0.0004, 1234567.891, std::nan(""), 0};
    const Value m = compressed ? sparse(2, 3, cells) : dense(2, 3, cells);
    EXPECT_EQ(text(m, {.sparse = true}), "1 1 1.000\n1 3 -0.000\n2 1 1234567.891\n2 2 NaN\n");
    EXPECT_EQ(text(m, {.rows = 2, .cols = 1, .decimals = 1, .sparse = true, .separator = "|", .line_separator = "/"}),
              "1|1|1.0/2|1|1234567.9/");
    EXPECT_EQ(text(m), "1.000 0.000 -0.000\n1234567.891 NaN 0.000\n");
  }
  EXPECT_EQ(text(new_zeros(ctx, 1000000, 1000000), {.rows = -1, .cols = -1, .sparse = true}), "");
}

TEST_F(TextTest, ShowsTheFirstHundredRowsAndColumns) {
  const std::string wide = text(new_constant(ctx, 1, 1000, 1));
  EXPECT_EQ(std::count(wide.begin(), wide.end(), ' '), 99);
  const std::string tall = text(new_virtual(ctx, 1000, 1, Sequence{1, 1}));
  EXPECT_EQ(std::count(tall.begin(), tall.end(), '\n'), 100);
  EXPECT_EQ(tall.substr(tall.size() - 8), "100.000\n");
  const std::string all = text(new_virtual(ctx, 1000, 1, Sequence{1, 1}), {.rows = -1, .cols = -1});
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1000);
}

TEST_F(TextTest, PrintsMatricesWithoutCells) {
  EXPECT_EQ(text(dense(0, 2, {})), "");
  EXPECT_EQ(text(dense(2, 0, {})), "\n\n");
  EXPECT_EQ(text(new_zeros(ctx, 2, 0)), "\n\n");
}

TEST_F(TextTest, PrintsSinglePrecision) {
  ctx.precision = Precision::f32;
  auto m = new_dense<float>(ctx, 1, 2);
  m->dense<float>()[0] = 0.1F;
  m->dense<float>()[1] = 3;
  EXPECT_EQ(text(MatrixRef(m)), "0.100 3.000\n");
  EXPECT_EQ(text(to_sparse<float>(ctx, m)), "0.100 3.000\n");
}

TEST_F(TextTest, PrintsLists) {
  EXPECT_EQ(print({list({num(1), 2.5, true, str("abc"), dense(2, 2, {1, 2, 3, 4})})}),
            "List containing:\n[1, 2.5, TRUE, abc, \nMatrix:\n1.000 2.000\n3.000 4.000\n]\n");
  EXPECT_EQ(text(list({num(1), list({num(2), num(3)})})), "List containing:\n[1, List containing:\n[2, 3]]");
  EXPECT_EQ(text(list({})), "List containing:\n[]");
}

TEST_F(TextTest, PrintsListsOfAnyDepth) {
  Value v = num(1);
  for (int i = 0; i < 200000; ++i) v = list({std::move(v)});
  const std::string t = text(v);
  EXPECT_EQ(std::count(t.begin(), t.end(), ']'), 200000);
}

TEST_F(TextTest, ToStringTakesItsOptionsAsArguments) {
  EXPECT_EQ(std::get<std::string>(
                run("toString", {dense(1, 2, {1.5, -2}), num(100), num(100), num(2), false, str(","), str("")})),
            "1.50,-2.00");
  EXPECT_EQ(std::get<std::string>(run("toString", {num(7)})), "7");
  EXPECT_EQ(std::get<std::string>(run("toString", {dense(1, 2, {1.5, -2})})), "1.500 -2.000\n");
}

TEST_F(TextTest, StopsAndAsserts) {
  EXPECT_EQ(failure("stop", {str("bad {} input")}), "bad {} input");
  EXPECT_EQ(failure("stop", {str("")}), "Stop Called");
  EXPECT_EQ(failure("assert", {false}), "assertion failed");
  EXPECT_EQ(failure("assert", {true}), "no error");
}

TEST_F(TextTest, TellsTheTimeInNanoseconds) {
  const int64_t before = std::get<int64_t>(run("time", {}));
  EXPECT_GE(std::get<int64_t>(run("time", {})), before);
  EXPECT_EQ(run("exists", {num(1)}), Value(true));
  EXPECT_EQ(run("exists", {Value()}), Value(false));
}

}  // namespace hopline
