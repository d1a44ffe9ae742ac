#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/base/error.h"
#include "tests/unit/op_testing.h"

namespace hopline {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Cells = std::vector<double>;

struct QuantileTest : ::testing::Test, OpTest {
  Value column(const Cells& cells) {
    auto m = new_dense<double>(ctx, static_cast<int64_t>(cells.size()), 1);
    std::copy(cells.begin(), cells.end(), m->dense<double>());
    return MatrixRef(std::move(m));
  }
  Value sequence(double from, double increment, int64_t n) {
    return new_virtual(ctx, n, 1, Sequence{from, increment, false});
  }
  double number(std::string_view name, std::vector<Value> in) { return std::get<double>(run(name, std::move(in))); }
  double by_kernel(std::string_view name, size_t kernel, std::vector<Value> in) {
    const Op& row = op(name, in.size());
    in.resize(row.params.count);
    std::vector<Value> out(1);
    std::vector<Value*> pointers;
    for (Value& v : in) pointers.push_back(&v);
    Call call{ctx, row, pointers, out, 0, {}, {}};
    row.kernels[kernel].run(call);
    return std::get<double>(out[0]);
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

TEST_F(QuantileTest, FollowsTheRankRule) {
  const Value even = dense(4, 1, {9, 1, 5, 3}), odd = dense(5, 1, {5, 1, 4, 2, 3});
  EXPECT_EQ(number("median", {even}), 4);
  EXPECT_EQ(number("quantile", {even, 0.5}), 4);
  EXPECT_EQ(number("median", {odd}), 3);
  EXPECT_EQ(number("quantile", {odd, 0.25}), 2);
  EXPECT_EQ(number("quantile", {odd, 0.9}), 5);
  EXPECT_EQ(number("quantile", {odd, 0.01}), 1);
  EXPECT_EQ(number("quantile", {odd, 0.0}), 1);
  EXPECT_EQ(number("quantile", {odd, 1.0}), 5);
  EXPECT_EQ(number("quantile", {even, 1.0}), 9);
  EXPECT_EQ(number("quantile", {even, 0.0}), 1);
  EXPECT_EQ(number("median", {dense(1, 1, {7})}), 7);
  EXPECT_EQ(cells(run("quantile", {odd, dense(2, 1, {0.5, 0.2})})), (Cells{3, 1}));
  EXPECT_EQ(cells(run("quantile", {even, dense(2, 1, {0.5, 0.75})})), (Cells{3, 5}));
}

TEST_F(QuantileTest, CountsWeights) {
  const Value x = dense(3, 1, {3, 1, 2}), w = dense(3, 1, {5, 1, 1});
  EXPECT_EQ(number("median", {x, w}), 3);
  EXPECT_EQ(number("quantile", {x, w, 0.1}), 1);
  EXPECT_EQ(cells(run("quantile", {x, w, dense(3, 1, {0.1, 0.2, 0.3})})), (Cells{1, 2, 3}));
  EXPECT_EQ(number("quantile", {x, dense(3, 1, {0, 2, 2}), 0.5}), 1.5);
}

TEST_F(QuantileTest, AveragesBetweenTheQuartiles) {
  EXPECT_EQ(number("interQuartileMean", {sequence(1, 1, 8)}), 4.5);
  EXPECT_EQ(number("interQuartileMean", {sequence(1, 1, 5)}), 3);
  EXPECT_EQ(number("interQuartileMean", {dense(1, 1, {7})}), 7);
  EXPECT_EQ(number("IQM", {dense(2, 1, {1, 5}), dense(2, 1, {2, 2})}), 3);
  EXPECT_EQ(number("interQuartileMean", {sequence(8, -1, 8)}), 4.5);
}

TEST_F(QuantileTest, GivesTheValuesBetweenTwoQuantiles) {
  EXPECT_EQ(cells(run("interQuantile", {dense(4, 1, {4, 1, 3, 2}), 0.25})), (Cells{2, 3}));
  EXPECT_EQ(cells(run("interQuantile", {dense(3, 1, {3, 1, 2}), dense(3, 1, {1, 2, 1}), 0.25})), (Cells{1, 2}));
  EXPECT_EQ(cells(run("interQuantile", {dense(3, 1, {3, 1, 2}), 0.5})), Cells{});
}

TEST_F(QuantileTest, SelectsWhatSortingFinds) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  for (const size_t n : {size_t{10}, size_t{131}, size_t{140001}})
    for (int kind = 0; kind < 4; ++kind) {
      Cells v(n);
      for (double& c : v)
        c = kind == 0   ? normal(random)
            : kind == 1 ? static_cast<double>(random() % 4)
            : kind == 2 ? (random() % 3 == 0 ? kNan : normal(random))
                        : std::exp(20 * normal(random));
      const Value x = column(v);
      for (const double p : {0.0, 0.3, 0.999, 1.0}) {
        const double a = by_kernel("quantile", 0, {x, p}), b = by_kernel("quantile", 1, {x, p});
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << n << " " << kind << " " << p;
      }
      const double a = by_kernel("interQuartileMean", 0, {x}), b = by_kernel("interQuartileMean", 1, {x});
      EXPECT_TRUE(std::fabs(a - b) <= 1e-12 * std::fabs(b) || (std::isnan(a) && std::isnan(b))) << a << " " << b;
    }
}

TEST_F(QuantileTest, ReadsManyQuantilesFromOneSort) {
  Cells p(101);
  for (size_t i = 0; i < p.size(); ++i) p[i] = static_cast<double>(i) / 100;
  const Cells q = cells(run("quantile", {sequence(200000, -1, 200000), column(p)}));
  EXPECT_EQ(q[0], 1);
  EXPECT_EQ(q[50], 100000);
  EXPECT_EQ(q[100], 200000);
}

TEST_F(QuantileTest, TakesSparseAndEmptyColumns) {
  EXPECT_EQ(number("median", {sparse(5, 1, {0, 3, 0, -1, 0})}), 0);
  EXPECT_TRUE(std::isnan(number("median", {dense(0, 1, {})})));
  EXPECT_TRUE(std::isnan(number("interQuartileMean", {dense(0, 1, {})})));
  EXPECT_TRUE(std::isnan(number("median", {dense(1, 1, {4}), dense(1, 1, {0})})));
  EXPECT_EQ(cells(run("interQuantile", {dense(0, 1, {}), 0.1})), Cells{});
}

TEST_F(QuantileTest, SaysWhatIsWrong) {
  const Value x = dense(2, 1, {1, 2});
  EXPECT_EQ(error_of("quantile", {x, 1.5}), "quantile: expected p between 0 and 1, found 1.5");
  EXPECT_EQ(error_of("quantile", {x, kNan}), "quantile: expected p between 0 and 1, found nan");
  EXPECT_EQ(error_of("quantile", {x, dense(2, 1, {0.5, -1})}), "quantile: expected p between 0 and 1, found -1");
  EXPECT_EQ(error_of("interQuantile", {x, 0.6}), "interQuantile: expected p between 0 and 0.5, found 0.6");
  EXPECT_EQ(error_of("median", {dense(1, 2, {1, 2})}), "median: expected a column vector, found 1x2");
  EXPECT_EQ(error_of("median", {x, dense(3, 1, {1, 2, 3})}),
            "median: expected as many weights as values, found 3x1 and 2x1");
  EXPECT_EQ(error_of("median", {x, dense(2, 1, {1, -2})}), "median: expected weights of at least 0, found -2");
}

TEST_F(QuantileTest, ComputesMoments) {
  const int64_t n = 100000;
  const Value x = sequence(1, 1, n);
  EXPECT_EQ(number("moment", {x, int64_t{2}}), 833333333.25);
  EXPECT_NEAR(number("moment", {x, int64_t{3}}), 0, 1e-3);
  EXPECT_EQ(number("moment", {x, new_constant(ctx, n, 1, 2), int64_t{2}}), 833333333.25);
  EXPECT_EQ(number("moment", {x, int64_t{0}}), 50000.5);
  EXPECT_EQ(number("cov", {x, sequence(2, 2, n)}), 2.0 * n * (n + 1) / 12);
  EXPECT_EQ(number("cov", {dense(1, 1, {3}), dense(1, 1, {4})}), 0);
  EXPECT_EQ(number("cov", {dense(2, 1, {1, 3}), dense(2, 1, {1, 2}), dense(2, 1, {1, 2})}), 2.0 / 3);
  EXPECT_TRUE(std::isnan(number("moment", {dense(0, 1, {}), int64_t{2}})));
  EXPECT_EQ(number("moment", {sparse(4, 1, {0, 4, 0, 0}), int64_t{2}}), 3);
  EXPECT_EQ(error_of("moment", {x, int64_t{1}}), "moment: expected k to be 0 (the mean), 2, 3 or 4, found 1");
  EXPECT_EQ(error_of("cov", {x, dense(1, 1, {1})}), "cov: expected columns of one length, found 100000x1 and 1x1");
}

TEST_F(QuantileTest, GivesTheSameBitsForAnyNumberOfThreads) {
  std::mt19937_64 random(1);
  Cells v(200000);
  for (double& c : v) c = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 80));
  const Value x = column(v);
  for (const auto& [name, args] : {std::pair<const char*, std::vector<Value>>{"interQuartileMean", {x}},
                                   {"moment", {x, int64_t{3}}},
                                   {"cov", {x, x}}}) {
    ctx.threads = 1;
    const double one = number(name, args);
    ctx.threads = 6;
    EXPECT_EQ(number(name, args), one) << name;
  }
}

}  // namespace
}  // namespace hopline
