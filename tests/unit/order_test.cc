#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/base/error.h"
#include "runtime/ops/sorting.h"
#include "tests/unit/op_testing.h"

namespace hopline {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct OrderTest : ::testing::Test, OpTest {
  Value column(const std::vector<double>& cells) { return block(static_cast<int64_t>(cells.size()), 1, cells); }
  Value block(int64_t rows, int64_t cols, const std::vector<double>& cells) {
    auto m = new_dense<double>(ctx, rows, cols);
    std::copy(cells.begin(), cells.end(), m->dense<double>());
    return MatrixRef(std::move(m));
  }
  Value order(const Value& x, const Value& by, bool decreasing, bool index) {
    return run("order", {x, by, decreasing, index});
  }
  // All kernels that take the call must agree with the last one, cell for cell.
  void expect_all_agree(const Value& x, const Value& by, bool decreasing, bool index) {
    const Op& row = op("order", 4);
    std::vector<double> expected;
    for (size_t k = row.kernels.size(); k-- > 0;) {
      std::vector<Value> in{x, by, decreasing, index}, out(1);
      std::vector<Value*> pointers{&in[0], &in[1], &in[2], &in[3]};
      Call call{ctx, row, pointers, out, 0, {}, {}};
      if (row.kernels[k].accepts != nullptr && !row.kernels[k].accepts(call)) continue;
      row.kernels[k].run(call);
      const std::vector<double> found = cells(out[0]);
      if (expected.empty()) expected = found;
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(std::bit_cast<uint64_t>(found[i]), std::bit_cast<uint64_t>(expected[i]))
            << row.kernels[k].name << " cell " << i << ": " << found[i] << " for " << expected[i];
    }
  }
  void expect_all_agree(const Value& x, const Value& by) {
    for (const bool decreasing : {false, true})
      for (const bool index : {false, true}) expect_all_agree(x, by, decreasing, index);
  }
  std::string error_of(std::vector<Value> in) {
    try {
      run("order", std::move(in));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(OrderTest, IsStableInBothDirections) {
  const Value x = dense(5, 2, {3, 20, 2, 40, 3, 30, 1, 50, 2, 10});
  EXPECT_EQ(cells(order(x, 1.0, false, true)), (std::vector<double>{4, 2, 5, 1, 3}));
  EXPECT_EQ(cells(order(x, 1.0, true, true)), (std::vector<double>{1, 3, 2, 5, 4}));
  EXPECT_EQ(cells(order(order(x, 2.0, false, false), 1.0, false, false)),
            (std::vector<double>{1, 50, 2, 10, 2, 40, 3, 20, 3, 30}));
  EXPECT_EQ(cells(order(x, dense(1, 2, {1, 2}), false, true)), (std::vector<double>{4, 5, 2, 1, 3}));
  EXPECT_EQ(cells(order(x, dense(2, 1, {1, 2}), true, true)), (std::vector<double>{3, 1, 2, 5, 4}));
}

TEST_F(OrderTest, PutsNanLastAndKeepsTheSignsOfZeros) {
  const Value x = dense(7, 1, {0.0, kNan, -kInf, -0.0, kInf, kNan, 0.0});
  EXPECT_EQ(cells(order(x, 1.0, false, true)), (std::vector<double>{3, 1, 4, 7, 5, 2, 6}));
  EXPECT_EQ(cells(order(x, 1.0, true, true)), (std::vector<double>{5, 1, 4, 7, 3, 2, 6}));
  const std::vector<double> sorted = cells(order(x, 1.0, false, false));
  EXPECT_FALSE(std::signbit(sorted[1]));
  EXPECT_TRUE(std::signbit(sorted[2]));
  EXPECT_FALSE(std::signbit(sorted[3]));
  EXPECT_TRUE(std::isnan(sorted[6]));
}

TEST_F(OrderTest, AgreesWithTheReferenceOnManyShapesOfData) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const auto make = [&](size_t n, auto f) {
    std::vector<double> cells(n);
    for (size_t i = 0; i < n; ++i) cells[i] = f(i);
    return column(cells);
  };
  for (const size_t n : {size_t{1}, size_t{2}, size_t{17}, size_t{1000}, size_t{20000}, size_t{40000}}) {
    expect_all_agree(make(n, [&](size_t) { return normal(random); }), 1.0);
    expect_all_agree(make(n, [&](size_t) { return std::exp(30 * normal(random)); }), 1.0);
    expect_all_agree(
        make(n, [&](size_t) { return std::ldexp(normal(random), static_cast<int>(random() % 2000) - 1000); }), 1.0);
    expect_all_agree(make(n, [&](size_t) { return static_cast<double>(random() % 10); }), 1.0);
    expect_all_agree(make(n, [&](size_t) { return static_cast<double>(random() % 3000000); }), 1.0);
    expect_all_agree(make(n,
                          [&](size_t i) {
                            return i == n / 2 ? 1e300
                                              : std::nextafter(1.0, 2.0) + 1e-16 * static_cast<double>(random() % 5);
                          }),
                     1.0);
    expect_all_agree(
        make(n, [&](size_t) { return random() % 3 == 0   ? kNan
                                     : random() % 3 == 0 ? -0.0
                                                         : normal(random); }), 1.0);
    expect_all_agree(make(n, [&](size_t) { return random() % 2 == 0 ? 5.0 : normal(random); }), 1.0);
    expect_all_agree(make(n, [&](size_t i) { return static_cast<double>(n - i); }), 1.0);
    expect_all_agree(make(n, [&](size_t i) { return std::floor(static_cast<double>(i) / 7); }), 1.0);
  }
}

TEST_F(OrderTest, SortsBySeveralColumns) {
  std::mt19937_64 random(3);
  for (const int64_t n : {int64_t{50}, int64_t{5000}, int64_t{270000}}) {
    std::vector<double> cells(static_cast<size_t>(n * 3));
    for (size_t i = 0; i < cells.size(); i += 3) {
      cells[i] = static_cast<double>(random() % 2), cells[i + 1] = static_cast<double>(random() % 100);
      cells[i + 2] = static_cast<double>(random() % 1000) / 7;
    }
    const Value x = block(n, 3, cells);
    expect_all_agree(x, dense(1, 3, {1, 2, 3}), true, true);
    if (n > 10000) continue;
    expect_all_agree(x, dense(1, 3, {1, 2, 3}));
    expect_all_agree(x, dense(2, 1, {3, 1}));
    expect_all_agree(x, dense(1, 2, {2, 2}));
    expect_all_agree(x, 3.0);
  }
}

TEST_F(OrderTest, TakesSparseAndVirtualTargets) {
  const Value x = sparse(4, 3, {0, 0, 5, -1, 0, 0, 0, 7, 0, 2, 0, 1});
  EXPECT_EQ(cells(order(x, 1.0, false, false)), (std::vector<double>{-1, 0, 0, 0, 0, 5, 0, 7, 0, 2, 0, 1}));
  EXPECT_EQ(cells(order(x, 1.0, true, true)), (std::vector<double>{4, 1, 3, 2}));
  EXPECT_TRUE(std::get<MatrixRef>(order(x, 1.0, false, false))->is_sparse());
  for (const Virtual& v : {Virtual{Constant{3}}, Virtual{Sequence{1, 2, false}}, Virtual{Sequence{9, -0.5, false}},
                           Virtual{Sequence{1e17, 1, false}}, Virtual{Sequence{0.1, 0.1, false}}})
    expect_all_agree(new_virtual(ctx, 100, 1, v), 1.0);
  expect_all_agree(new_virtual(ctx, 100, 4, Constant{3}), 2.0);
}

TEST_F(OrderTest, GivesTheSameForAnyNumberOfThreads) {
  std::mt19937_64 random(11);
  std::vector<double> v(200000);
  for (double& c : v) c = static_cast<double>(random() % 100000) / 3;
  const Value x = column(v);
  ctx.threads = 1;
  const auto one = cells(order(x, 1.0, false, true));
  for (const int threads : {2, 3, 8}) {
    ctx.threads = threads;
    EXPECT_EQ(cells(order(x, 1.0, false, true)), one);
  }
}

TEST_F(OrderTest, KeepsEmptyAndSingleRows) {
  EXPECT_EQ(std::get<MatrixRef>(order(dense(0, 3, {}), 1.0, false, false))->cols(), 3);
  EXPECT_EQ(std::get<MatrixRef>(order(dense(0, 3, {}), 1.0, false, true))->cols(), 1);
  EXPECT_EQ(cells(order(dense(1, 2, {4, 5}), 2.0, true, false)), (std::vector<double>{4, 5}));
}

TEST_F(OrderTest, RefusesColumnsThatAreNotThere) {
  const Value x = dense(2, 2, {1, 2, 3, 4});
  EXPECT_EQ(error_of({x, 3.0}), "order: by names no column: expected 1 to 2, found 3");
  EXPECT_EQ(error_of({x, 0.0}), "order: by names no column: expected 1 to 2, found 0");
  EXPECT_EQ(error_of({x, kNan}), "order: by names no column: expected 1 to 2, found nan");
  EXPECT_EQ(error_of({x, dense(1, 2, {1, 5})}), "order: by names no column: expected 1 to 2, found 5");
  EXPECT_EQ(error_of({x, dense(2, 2, {1, 2, 1, 2})}),
            "order: expected by to be a number or a vector of column numbers, found 2x2");
}

TEST_F(OrderTest, RefusesRowNumbersThatSinglePrecisionCannotHold) {
  ctx.precision = Precision::f32;
  const Value x = new_constant(ctx, (1 << 24) + 1, 1, 2);
  EXPECT_NE(error_of({x, 1.0, false, true}).find("do not fit single precision"), std::string::npos);
  EXPECT_EQ(error_of({x, 1.0, false, false}), "");
}

TEST_F(OrderTest, SortsInSinglePrecision) {
  ctx.precision = Precision::f32;
  auto m = new_dense<float>(ctx, 50000, 1);
  std::mt19937_64 random(5);
  for (int64_t i = 0; i < 50000; ++i) m->dense<float>()[i] = static_cast<float>(random() % 77777) / 7;
  std::vector<float> expected(m->dense<float>(), m->dense<float>() + 50000);
  std::sort(expected.begin(), expected.end());
  const Value sorted = order(MatrixRef(std::move(m)), 1.0, false, false);
  const float* found = std::get<MatrixRef>(sorted)->dense<float>();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found));
}

TEST(Keys, SortAsNumbersAndComeBack) {
  const double values[] = {-kInf, -1e300, -1, -5e-324, 0, 5e-324, 1, 1e300, kInf};
  for (size_t i = 0; i + 1 < std::size(values); ++i) {
    EXPECT_LT(ascending_key(values[i]), ascending_key(values[i + 1]));
    EXPECT_GT(descending_key(values[i]), descending_key(values[i + 1]));
  }
  for (const double v : values) {
    EXPECT_EQ(number_of_ascending(ascending_key(v)), v);
    EXPECT_EQ(number_of_descending(descending_key(v)), v);
  }
  EXPECT_EQ(ascending_key(-0.0), ascending_key(0.0));
  EXPECT_TRUE(std::isnan(number_of_ascending(ascending_key(kNan))));
}

}  // namespace
}  // namespace hopline
