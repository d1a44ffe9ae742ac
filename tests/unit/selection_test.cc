#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "runtime/base/error.h"
#include "tests/unit/op_testing.h"

namespace hopline {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Cells = std::vector<double>;

struct SelectionTest : ::testing::Test, OpTest {
  const MatrixBlock& block(const Value& v) { return *std::get<MatrixRef>(v); }
  Value both(const Value& dense, bool sparse) {
    return sparse ? Value(to_sparse<double>(ctx, std::get<MatrixRef>(dense))) : dense;
  }
  std::string error_of(std::string_view name, std::vector<Value> in) {
    try {
      run(name, std::move(in));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(SelectionTest, RemovesEmptyRowsAndColumns) {
  for (const bool compressed : {false, true}) {
    const Value x = both(dense(3, 4, {0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, kNan}), compressed);
    const Value rows = run("removeEmpty", {x, std::string("rows")}),
                cols = run("removeEmpty", {x, std::string("cols")});
    EXPECT_EQ(block(rows).rows(), 2);
    EXPECT_EQ(cells(rows)[1], 1);
    EXPECT_EQ(cells(rows)[5], 3);
    EXPECT_EQ(block(cols).cols(), 2);
    EXPECT_EQ(cells(cols)[0], 1);
    EXPECT_TRUE(std::isnan(cells(cols)[5]));
    EXPECT_EQ(cells(run("removeEmpty", {x, std::string("rows"), dense(3, 1, {0, 1, 0})})), (Cells{0, 0, 0, 0}));
    EXPECT_EQ(cells(run("removeEmpty", {x, std::string("cols"), sparse(1, 4, {0, 2, 0, 0})})), (Cells{1, 0, 3}));
  }
}

TEST_F(SelectionTest, LeavesOneZeroRowOrNone) {
  const Value x = dense(2, 3, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(cells(run("removeEmpty", {x, std::string("rows")})), (Cells{0, 0, 0}));
  EXPECT_EQ(block(run("removeEmpty", {x, std::string("cols")})).cols(), 1);
  EXPECT_EQ(block(run("removeEmpty", {x, std::string("rows"), Value{}, false})).rows(), 0);
  EXPECT_EQ(block(run("removeEmpty", {x, std::string("cols"), Value{}, false})).rows(), 2);
  EXPECT_EQ(block(run("removeEmpty", {x, std::string("cols"), Value{}, false})).cols(), 0);
  EXPECT_EQ(block(run("removeEmpty", {new_constant(ctx, 4, 2, 0), std::string("rows")})).rows(), 1);
  EXPECT_EQ(block(run("removeEmpty", {dense(0, 3, {}), std::string("rows"), Value{}, false})).rows(), 0);
}

TEST_F(SelectionTest, ReturnsTheTargetWhereNothingGoes) {
  const Value x = dense(2, 1, {1, 2});
  EXPECT_EQ(std::get<MatrixRef>(run("removeEmpty", {x, std::string("rows")})), std::get<MatrixRef>(x));
}

TEST_F(SelectionTest, RemovesFromLargeMatrices) {
  std::mt19937_64 random(4);
  Cells v(300 * 1000), expected;
  for (size_t r = 0; r < 1000; ++r)
    if (random() % 3 == 0)
      for (size_t c = 0; c < 300; ++c) v[r * 300 + c] = static_cast<double>(random() % 2);
  int64_t rows = 0;
  for (size_t r = 0; r < 1000; ++r) {
    double sum = 0;
    for (size_t c = 0; c < 300; ++c) sum += v[r * 300 + c];
    if (sum == 0) continue;
    ++rows;
    expected.insert(expected.end(), v.begin() + static_cast<int64_t>(r) * 300,
                    v.begin() + static_cast<int64_t>(r + 1) * 300);
  }
  auto m = new_dense<double>(ctx, 1000, 300);
  std::copy(v.begin(), v.end(), m->dense<double>());
  const Value x = MatrixRef(std::move(m));
  for (const bool compressed : {false, true}) {
    const Value found = run("removeEmpty", {both(x, compressed), std::string("rows")});
    EXPECT_EQ(block(found).rows(), rows);
    EXPECT_EQ(cells(found), expected);
  }
}

TEST_F(SelectionTest, RefusesWrongMarginsAndSelections) {
  const Value x = dense(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(error_of("removeEmpty", {x, std::string("row")}),
            "removeEmpty: expected margin to be rows or cols, found row");
  EXPECT_EQ(error_of("removeEmpty", {x, std::string("rows"), dense(3, 1, {1, 0, 1})}),
            "removeEmpty: expected select to be a vector of 2 rows, found 3x1");
  EXPECT_EQ(error_of("removeEmpty", {x, std::string("cols"), dense(2, 1, {1, 0})}),
            "removeEmpty: expected select to be a vector of 3 columns, found 2x1");
}

TEST_F(SelectionTest, ReplacesSpecialValues) {
  for (const bool compressed : {false, true}) {
    const Value x = both(dense(2, 3, {kNan, 2, kInf, kNan, -kInf, 3}), compressed);
    Value y = run("replace", {x, kNan, 4.0});
    y = run("replace", {y, kInf, 1.0});
    y = run("replace", {y, -kInf, 1.0});
    EXPECT_EQ(cells(y), (Cells{4, 2, 1, 4, 1, 3}));
    EXPECT_EQ(cells(run("replace", {y, 4.0, 0.0})), (Cells{0, 2, 1, 0, 1, 3}));
    EXPECT_EQ(cells(run("replace", {both(dense(2, 2, {0, 1, 0, 2}), compressed), 0.0, 4.5})), (Cells{4.5, 1, 4.5, 2}));
    EXPECT_EQ(cells(run("replace", {both(dense(2, 2, {0, 1, 0, 2}), compressed), 1.0, 0.0})), (Cells{0, 0, 0, 2}));
  }
  const Value zeros = run("replace", {new_constant(ctx, 2, 3, 0), 0.0, 1.0});
  EXPECT_TRUE(block(zeros).is_virtual());
  EXPECT_EQ(cells(zeros), (Cells{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(cells(run("replace", {new_virtual(ctx, 3, 1, Sequence{1, 1, false}), 2.0, -1.0})), (Cells{1, -1, 3}));
}

TEST_F(SelectionTest, ReplacesInPlaceWhenItMay) {
  Value x = dense(1, 3, {1, 2, 1}), p = 1.0, r = 7.0;
  const void* before = block(x).dense<double>();
  Value* in[] = {&x, &p, &r};
  std::vector<Value> out(1);
  Call call{ctx, op("replace", 3), in, out, 1, {}, {}};
  run_kernel(call);
  EXPECT_EQ(block(out[0]).dense<double>(), before);
  EXPECT_EQ(cells(out[0]), (Cells{7, 2, 7}));
}

TEST_F(SelectionTest, FindsValues) {
  for (const bool compressed : {false, true}) {
    const Value x = both(dense(2, 2, {0, 1, kNan, 2}), compressed);
    EXPECT_TRUE(std::get<bool>(run("contains", {x, 0.0})));
    EXPECT_TRUE(std::get<bool>(run("contains", {x, kNan})));
    EXPECT_TRUE(std::get<bool>(run("contains", {x, int64_t{2}})));
    EXPECT_FALSE(std::get<bool>(run("contains", {x, 3.0})));
  }
  EXPECT_TRUE(std::get<bool>(run("contains", {new_virtual(ctx, 5000, 1, Sequence{1, 1, false}), 4000.0})));
  EXPECT_TRUE(std::get<bool>(run("contains", {new_constant(ctx, 2, 2, 3), 3.0})));
  EXPECT_FALSE(std::get<bool>(run("contains", {dense(0, 2, {}), 0.0})));
  EXPECT_EQ(error_of("contains", {dense(1, 1, {1}), std::string("a")}),
            "contains: expected a number as pattern for a matrix, found a string");
}

TEST_F(SelectionTest, CountsDistinctValues) {
  const Value x = dense(11, 1, {0, 2, 2, 0, 7, 0, 0, 0, 2, -7, 0});
  EXPECT_EQ(std::get<int64_t>(run("countDistinct", {x})), 4);
  EXPECT_EQ(cells(run("unique", {x})), (Cells{-7, 0, 2, 7}));
  const Value s = sparse(2, 3, {0, 3, 0, 5, 3, 5});
  EXPECT_EQ(std::get<int64_t>(run("countDistinct", {s})), 3);
  EXPECT_EQ(cells(run("rowCountDistinct", {s})), (Cells{2, 2}));
  EXPECT_EQ(cells(run("colCountDistinct", {s})), (Cells{2, 1, 2}));
  EXPECT_EQ(block(run("countDistinct", {s, std::string("c")})).cols(), 3);
  EXPECT_EQ(cells(run("countDistinct", {s, std::string("r")})), (Cells{2, 2}));
  EXPECT_EQ(std::get<int64_t>(run("countDistinctApprox", {s, std::string("KMV")})), 3);
  EXPECT_EQ(std::get<int64_t>(run("countDistinct", {dense(2, 2, {kNan, kNan, 0.0, -0.0})})), 2);
  EXPECT_EQ(std::get<int64_t>(run("countDistinct", {new_constant(ctx, 100, 100, 0)})), 1);
  EXPECT_EQ(std::get<int64_t>(run("countDistinct", {dense(0, 3, {})})), 0);
}

TEST_F(SelectionTest, ListsDistinctValuesByRowAndColumn) {
  for (const bool compressed : {false, true}) {
    const Value x = both(dense(3, 3, {5, -1, 0, 2, 2, 2, 0, 0, 1}), compressed);
    EXPECT_EQ(cells(run("unique", {x, std::string("r")})), (Cells{-1, 0, 5, 2, 0, 0, 0, 1, 0}));
    EXPECT_EQ(cells(run("unique", {x, std::string("c")})), (Cells{0, -1, 0, 2, 0, 1, 5, 2, 2}));
    EXPECT_EQ(cells(run("unique", {x})), (Cells{-1, 0, 1, 2, 5}));
  }
  EXPECT_EQ(block(run("unique", {dense(0, 3, {})})).cols(), 1);
  EXPECT_EQ(error_of("unique", {dense(1, 1, {1}), std::string("x")}), "unique: expected dir to be rc, r or c, found x");
}

TEST_F(SelectionTest, CountsInLargeColumns) {
  std::mt19937_64 random(8);
  auto m = new_dense<double>(ctx, 100000, 2);
  for (int64_t i = 0; i < 100000; ++i) {
    m->dense<double>()[2 * i] = static_cast<double>(random() % 1500);
    m->dense<double>()[2 * i + 1] = static_cast<double>(i % 40000);
  }
  const Value x = MatrixRef(std::move(m));
  EXPECT_EQ(cells(run("colCountDistinct", {x})), (Cells{1500, 40000}));
  EXPECT_EQ(std::get<int64_t>(run("countDistinct", {x})), 40000);
}

}  // namespace
}  // namespace hopline
