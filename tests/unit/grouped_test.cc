#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "runtime/base/error.h"
#include "tests/unit/op_testing.h"

namespace hopline {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Cells = std::vector<double>;

struct AggregateTest : ::testing::Test, OpTest {
  Value block(int64_t rows, int64_t cols, const Cells& cells) {
    auto m = new_dense<double>(ctx, rows, cols);
    std::copy(cells.begin(), cells.end(), m->dense<double>());
    return MatrixRef(std::move(m));
  }
  Value aggregate(Value x, Value groups, const char* fn, Value weights = {}, Value order = {}, Value ngroups = {}) {
    return run("aggregate", {std::move(x), std::move(groups), std::string(fn), std::move(weights), std::move(order),
                             std::move(ngroups)});
  }
  std::string error_of(Value x, Value groups, const char* fn, Value weights = {}, Value order = {},
                       Value ngroups = {}) {
    try {
      aggregate(std::move(x), std::move(groups), fn, std::move(weights), std::move(order), std::move(ngroups));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  void expect_agree(const std::vector<Value>& in) {
    const Op& row = op("aggregate", 6);
    std::vector<Cells> found;
    for (const Kernel& kernel : row.kernels) {
      std::vector<Value> args = in, out(1);
      std::vector<Value*> pointers;
      for (Value& v : args) pointers.push_back(&v);
      Call call{ctx, row, pointers, out, 0, {}, {}};
      kernel.run(call);
      found.push_back(cells(out[0]));
    }
    ASSERT_EQ(found[0].size(), found[1].size());
    for (size_t i = 0; i < found[0].size(); ++i) {
      if (std::isnan(found[1][i])) {
        ASSERT_TRUE(std::isnan(found[0][i]));
      } else {
        ASSERT_NEAR(found[0][i], found[1][i], 1e-9 * (1 + std::fabs(found[1][i])));
      }
    }
  }
};

TEST_F(AggregateTest, SumsCountsAndAverages) {
  const Value x = dense(5, 1, {10, 5, 20, 10, 15}), g = dense(5, 1, {1, 3, 1, 3, 3});
  EXPECT_EQ(cells(aggregate(x, g, "sum")), (Cells{30, 0, 30}));
  EXPECT_EQ(cells(aggregate(x, g, "sum", {}, {}, int64_t{4})), (Cells{30, 0, 30, 0}));
  EXPECT_EQ(cells(aggregate(x, g, "sum", {}, {}, int64_t{2})), (Cells{30, 0}));
  EXPECT_EQ(cells(aggregate(x, g, "mean")), (Cells{15, 0, 10}));
  EXPECT_EQ(cells(aggregate(x, g, "count")), (Cells{2, 0, 3}));
  EXPECT_EQ(cells(aggregate(x, g, "min")), (Cells{10, 0, 5}));
  EXPECT_EQ(cells(aggregate(x, g, "max")), (Cells{20, 0, 15}));
  EXPECT_EQ(cells(aggregate(x, g, "variance")), (Cells{50, 0, 25}));
  EXPECT_EQ(cells(aggregate(x, g, "sum", dense(5, 1, {1, 2, 2, 4, 2}))), (Cells{50, 0, 80}));
  EXPECT_EQ(cells(aggregate(x, g, "count", dense(5, 1, {1, 2, 2, 4, 2}))), (Cells{3, 0, 8}));
}

TEST_F(AggregateTest, KnowsCentralMomentsAndEmptyGroups) {
  const Value x = dense(4, 1, {1, 2, 6, 9}), g = dense(4, 1, {1, 1, 1, 3});
  const Cells third = cells(aggregate(x, g, "centralmoment", {}, 3.0));
  EXPECT_NEAR(third[0], (-8.0 - 1 + 27) / 3, 1e-12);
  EXPECT_TRUE(std::isnan(third[1]));
  EXPECT_EQ(third[2], 0);
  EXPECT_EQ(cells(aggregate(x, g, "variance"))[2], 0);
}

TEST_F(AggregateTest, TakesSeveralColumnsAndRowVectors) {
  const Value x = dense(3, 2, {1, 10, 2, 20, 3, 30});
  EXPECT_EQ(cells(aggregate(x, dense(3, 1, {2, 1, 2}), "sum", {}, {}, int64_t{2})), (Cells{2, 20, 4, 40}));
  EXPECT_EQ(cells(aggregate(dense(1, 3, {1, 2, 3}), dense(1, 3, {2, 1, 2}), "sum")), (Cells{2, 4}));
}

TEST_F(AggregateTest, AgreesWithTheReferenceInEveryFormat) {
  std::mt19937_64 random(3);
  for (const int64_t m : {int64_t{1}, int64_t{7}})
    for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{30}, int64_t{5000}}) {
      Cells x(static_cast<size_t>(n * m)), g(static_cast<size_t>(n)), w(g.size());
      for (double& v : x) v = random() % 3 == 0 ? static_cast<double>(random() % 1000) / 7 - 50 : 0;
      for (size_t i = 0; i < g.size(); ++i)
        g[i] = static_cast<double>(random() % 25 + 1), w[i] = static_cast<double>(random() % 4 + 1);
      const Value dense = block(n, m, x), groups = block(n, 1, g), weights = block(n, 1, w);
      const Value compressed = to_sparse<double>(ctx, std::get<MatrixRef>(dense));
      const Value drawn = new_virtual(ctx, n, m, Sequence{1, 0.5, false});
      for (const char* fn : {"sum", "count", "mean", "variance", "min", "max", "centralmoment"})
        for (const Value& target : {dense, compressed, drawn})
          for (const Value& weight : {Value{}, weights})
            expect_agree({target, groups, std::string(fn), weight, 4.0, int64_t{24}});
      expect_agree({dense, groups, std::string("sum"), {}, {}, {}});
    }
}

TEST_F(AggregateTest, PropagatesNanInExtremes) {
  const Value x = dense(3, 1, {kNan, 1, 2}), g = dense(3, 1, {1, 1, 2});
  EXPECT_TRUE(std::isnan(cells(aggregate(x, g, "min"))[0]));
  EXPECT_TRUE(std::isnan(cells(aggregate(x, g, "max"))[0]));
}

TEST_F(AggregateTest, GivesTheSameBitsForAnyNumberOfThreads) {
  std::mt19937_64 random(3);
  Cells x(300000), g(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 90)),
    g[i] = static_cast<double>(random() % 90 + 1);
  const Value target = block(300000, 1, x), groups = block(300000, 1, g);
  for (const char* fn : {"sum", "variance"}) {
    ctx.threads = 1;
    const Cells one = cells(aggregate(target, groups, fn));
    ctx.threads = 5;
    EXPECT_EQ(cells(aggregate(target, groups, fn)), one);
  }
}

TEST_F(AggregateTest, IsStableForLargeOffsets) {
  const Value x = dense(4, 1, {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}), g = dense(4, 1, {1, 1, 1, 1});
  EXPECT_EQ(cells(aggregate(x, g, "variance")), (Cells{30}));
}

TEST_F(AggregateTest, SaysWhatIsWrong) {
  const Value x = dense(2, 1, {1, 2}), g = dense(2, 1, {1, 0});
  EXPECT_EQ(error_of(x, g, "sum"), "aggregate: groups must be positive, found 0 in row 2");
  EXPECT_EQ(error_of(x, x, "average"),
            "aggregate: expected fn to be sum, count, mean, variance, min, max or centralmoment, found average");
  EXPECT_EQ(error_of(x, x, "centralmoment"), "aggregate: centralmoment needs order=2, 3 or 4");
  EXPECT_EQ(error_of(x, x, "centralmoment", {}, 5.0), "aggregate: expected order to be 2, 3 or 4, found 5");
  EXPECT_EQ(error_of(x, dense(3, 1, {1, 1, 1}), "sum"),
            "aggregate: expected one group for each row of the target, found target 2x1 and groups 3x1");
  EXPECT_EQ(error_of(x, x, "sum", {}, {}, int64_t{-2}), "aggregate: expected ngroups of at least 0, found -2");
  EXPECT_EQ(error_of(x, dense(2, 1, {1, 1e15}), "sum"), "aggregate: too many groups, found more than 17592186044416");
}

}  // namespace
}  // namespace hopline
