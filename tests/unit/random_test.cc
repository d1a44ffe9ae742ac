#include "runtime/ops/random.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <map>

#include "runtime/ops/virtual_cells.h"
#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

Random uniform(uint64_t key, double low = 0, double high = 1, double sparsity = 1) {
  return {Distribution::uniform, low, high, 1, sparsity, key, 0};
}
Random normal(uint64_t key, double sparsity = 1) { return {Distribution::normal, 0, 1, 1, sparsity, key, 0}; }
Random poisson(uint64_t key, double lambda) { return {Distribution::poisson, 0, 1, lambda, 1, key, 0}; }

template <class T = double>
std::vector<T> cells_of(const Random& r, int64_t begin, int64_t end) {
  std::vector<T> out(static_cast<size_t>(end - begin));
  draw_cells(r, begin, end, out.data());
  return out;
}

struct Moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
};
Moments moments(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  Moments m;
  for (double v : x) m.mean += v / n;
  double c2 = 0, c3 = 0, c4 = 0;
  for (double v : x) {
    const double d = v - m.mean;
    c2 += d * d / n, c3 += d * d * d / n, c4 += d * d * d * d / n;
  }
  m.variance = c2, m.skew = c3 / std::pow(c2, 1.5), m.kurtosis = c4 / (c2 * c2);
  return m;
}

}  // namespace

TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~uint64_t{0}, ~uint64_t{0}, ~uint32_t{0}, ~uint32_t{0}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x13198a2e, 0x03707344),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, VectorsGiveTheWordsOfTheScalarGenerator) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{5}, (uint64_t{1} << 32) - 3, (uint64_t{1} << 33) + 11})
    for (int64_t n = 0; n < 41; ++n) {
      std::vector<uint32_t> words(static_cast<size_t>(4 * n) + 1, 7);
      draw::words(0x0123456789abcdef, 3, 1, first, n, words.data());
      for (int64_t b = 0; b < n; ++b) {
        const Words w = philox(0x0123456789abcdef, first + static_cast<uint64_t>(b), 3, 1);
        for (size_t i = 0; i < 4; ++i) ASSERT_EQ(words[static_cast<size_t>(4 * b) + i], w[i]) << first << " " << b;
      }
      ASSERT_EQ(words.back(), 7u);
    }
}

TEST(Random, UniformCellsFollowTheLayout) {
  const auto x = cells_of(uniform(42), 0, 1001);
  const auto f = cells_of<float>(uniform(42), 0, 1001);
  for (int64_t e = 0; e < 1001; ++e) {
    const Words w = philox(42, static_cast<uint64_t>(e) / 2, 0, 0);
    const size_t at = e % 2 != 0 ? 2 : 0;
    ASSERT_EQ(x[static_cast<size_t>(e)], to_unit(w[at], w[at + 1]));
    ASSERT_EQ(x[static_cast<size_t>(e)], uniform_cell(42, 0, e));
    ASSERT_EQ(f[static_cast<size_t>(e)], static_cast<float>(w[at] >> 8) * 0x1p-24F);
  }
  const auto scaled = cells_of(uniform(42, -3, 5), 0, 1001);
  for (size_t e = 0; e < 1001; ++e) ASSERT_EQ(scaled[e], x[e] * 8 + -3);
}

TEST(Random, UniformNeverReachesTheUpperEnd) {
  const Interval<float> in(1, 11);
  EXPECT_EQ(in.at(1 - 0x1p-24F), std::nextafter(11.0F, 0.0F));
  for (float v : cells_of<float>(uniform(6, 1, 1 + 0x1p-22), 0, 4000)) EXPECT_LT(v, 1 + 0x1p-22F);
  for (double v : cells_of(uniform(6, 1, 1 + 0x1p-51), 0, 4000)) EXPECT_LT(v, 1 + 0x1p-51);
}

TEST(Random, AnyRangeOfCellsIsTheSame) {
  for (const Random& r : {uniform(9, -1, 2), normal(9), poisson(9, 4), poisson(9, 200), uniform(9, 1, 1, 0.3),
                          uniform(9, 0, 1, 0.7), normal(9, 0.2)}) {
    const auto whole = cells_of(r, 0, 5000);
    const auto single = cells_of<float>(r, 0, 5000);
    for (int64_t begin : {0, 1, 2, 3, 7, 1023, 1025, 4990})
      for (int64_t n : {0, 1, 2, 3, 4, 5, 63, 64, 65, 1500}) {
        const int64_t end = std::min<int64_t>(5000, begin + n);
        const auto part = cells_of(r, begin, end);
        const auto part_single = cells_of<float>(r, begin, end);
        for (int64_t e = begin; e < end; ++e) {
          ASSERT_EQ(part[static_cast<size_t>(e - begin)], whole[static_cast<size_t>(e)]);
          ASSERT_EQ(part_single[static_cast<size_t>(e - begin)], single[static_cast<size_t>(e)]);
        }
      }
    if (r.sparsity < 1) continue;
    std::vector<int64_t> at;
    for (int64_t e = 4999; e >= 0; e -= 7) at.push_back(e);
    std::vector<double> values(at.size());
    draw_at(r, at.data(), static_cast<int64_t>(at.size()), values.data());
    for (size_t i = 0; i < at.size(); ++i) ASSERT_EQ(values[i], whole[static_cast<size_t>(at[i])]);
  }
}

TEST(Random, EveryVectorWidthGivesTheSameBits) {
  const Random draws[] = {uniform(1, -1, 2), normal(1), uniform(1, 1, 1, 0.3), normal(1, 0.6)};
  std::vector<std::vector<double>> widest;
  std::vector<std::vector<float>> widest_single;
  for (const Random& r : draws)
    widest.push_back(cells_of(r, 3, 3003)), widest_single.push_back(cells_of<float>(r, 3, 3003));
  const int64_t all = hwy::SupportedTargets();
  for (int64_t target = 1; target != 0 && target <= HWY_SCALAR; target <<= 1) {
    if ((all & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (size_t i = 0; i < std::size(draws); ++i) {
      EXPECT_EQ(cells_of(draws[i], 3, 3003), widest[i]) << hwy::TargetName(target);
      EXPECT_EQ(cells_of<float>(draws[i], 3, 3003), widest_single[i]) << hwy::TargetName(target);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Random, SingleUniformCellsByNumber) {
  const Random r = uniform(5, -2, 3);
  const auto whole = cells_of<float>(r, 0, 999);
  std::vector<int64_t> at(999);
  for (int64_t e = 0; e < 999; ++e) at[static_cast<size_t>(e)] = e;
  std::vector<float> values(999);
  draw_at(r, at.data(), 999, values.data());
  EXPECT_EQ(values, whole);
}

TEST(Random, SparsityKeepsByTheWord) {
  EXPECT_EQ(keep_threshold(1), uint64_t{1} << 32);
  EXPECT_EQ(keep_threshold(0), 0u);
  EXPECT_EQ(keep_threshold(0.5), uint64_t{1} << 31);
  EXPECT_EQ(keep_threshold(0x1p-40), 1u);
  for (double p : {0.001, 0.1, 0.39, 0.5, 0.9}) {
    const auto x = cells_of(uniform(77, 1, 1, p), 0, 100000);
    const auto f = cells_of<float>(uniform(77, 1, 1, p), 0, 100000);
    int64_t kept = 0;
    for (int64_t e = 0; e < 100000; ++e) {
      const bool keep = keep_cell(77, 0, e, keep_threshold(p));
      ASSERT_EQ(x[static_cast<size_t>(e)], keep ? 1 : 0);
      ASSERT_EQ(f[static_cast<size_t>(e)], keep ? 1 : 0);
      kept += keep;
    }
    EXPECT_NEAR(static_cast<double>(kept), p * 1e5, 5 * std::sqrt(1e5 * p * (1 - p)));
  }
}

TEST(Random, UniformPassesChiSquareAndHasNoCorrelation) {
  const auto x = cells_of(uniform(2024), 0, 1 << 20);
  std::vector<double> bins(256);
  double lag1 = 0, lag1000 = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_GE(x[i], 0);
    ASSERT_LT(x[i], 1);
    bins[static_cast<size_t>(x[i] * 256)] += 1;
    if (i >= 1) lag1 += (x[i] - 0.5) * (x[i - 1] - 0.5);
    if (i >= 1000) lag1000 += (x[i] - 0.5) * (x[i - 1000] - 0.5);
  }
  double chi = 0;
  for (double b : bins) chi += (b - 4096) * (b - 4096) / 4096;
  EXPECT_NEAR(chi, 255, 5 * std::sqrt(2 * 255.0));
  const double n = 1 << 20;
  EXPECT_LT(std::fabs(lag1 / n * 12), 5 / std::sqrt(n));
  EXPECT_LT(std::fabs(lag1000 / n * 12), 5 / std::sqrt(n));
  const auto y = cells_of(uniform(2025), 0, 1 << 20);
  double cross = 0;
  for (size_t i = 0; i < x.size(); ++i) cross += (x[i] - 0.5) * (y[i] - 0.5);
  EXPECT_LT(std::fabs(cross / n * 12), 5 / std::sqrt(n));
}

TEST(Random, NormalHasItsMomentsAndQuantiles) {
  const auto x = cells_of(normal(11), 0, 1 << 20);
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, 0, 0.005);
  EXPECT_NEAR(m.variance, 1, 0.007);
  EXPECT_NEAR(m.skew, 0, 0.012);
  EXPECT_NEAR(m.kurtosis, 3, 0.025);
  // 64 bins of equal probability, by the normal distribution function
  std::vector<double> bins(64);
  for (double v : x) bins[std::min<size_t>(63, static_cast<size_t>(0.5 * std::erfc(-v / std::sqrt(2.0)) * 64))] += 1;
  double chi = 0;
  for (double b : bins) chi += (b - 16384) * (b - 16384) / 16384;
  EXPECT_NEAR(chi, 63, 5 * std::sqrt(2 * 63.0));
}

TEST(Random, NormalIsBoxMullerWithinFourUlp) {
  const auto x = cells_of(normal(3), 0, 200000);
  for (int64_t p = 0; p < 100000; ++p) {
    const Words w = philox(3, static_cast<uint64_t>(p), 0, 2);
    const long double radius = std::sqrt(-2 * std::log(static_cast<long double>(to_unit(w[0], w[1])) + 0x1p-53L));
    const long double angle = 2 * std::acos(-1.0L) * static_cast<long double>(to_unit(w[2], w[3]));
    const double expected[] = {static_cast<double>(radius * std::cos(angle)),
                               static_cast<double>(radius * std::sin(angle))};
    for (size_t i = 0; i < 2; ++i)
      ASSERT_NEAR(x[static_cast<size_t>(2 * p) + i], expected[i], 4 * 0x1p-52 * std::fabs(expected[i]) + 1e-18);
  }
}

TEST(Random, PoissonHasItsProbabilities) {
  for (double lambda : {0.05, 1.0, 7.5, 29.9, 30.5, 80.0}) {
    constexpr int64_t kCells = 200000;
    const auto x = cells_of(poisson(5, lambda), 0, kCells);
    std::map<double, double> counts;
    for (double v : x) {
      ASSERT_EQ(v, std::floor(v));
      ASSERT_GE(v, 0);
      counts[v] += 1;
    }
    double chi = 0, used = 0;
    for (const auto& [k, n] : counts) {
      const double expected = kCells * std::exp(-lambda + k * std::log(lambda) - std::lgamma(k + 1));
      if (expected < 20) continue;
      chi += (n - expected) * (n - expected) / expected, used += 1;
    }
    EXPECT_LT(chi, used + 5 * std::sqrt(2 * used) + 3) << lambda;
    const Moments m = moments(x);
    EXPECT_NEAR(m.mean, lambda, 5 * std::sqrt(lambda / kCells)) << lambda;
    EXPECT_NEAR(m.variance / lambda, 1, 0.03 + 0.02 / lambda) << lambda;
  }
  const auto huge = cells_of(poisson(6, 1e9), 0, 20000);
  EXPECT_NEAR(moments(huge).mean, 1e9, 5 * std::sqrt(1e9 / 20000));
  EXPECT_NEAR(moments(huge).variance / 1e9, 1, 0.06);
}

TEST(Random, DenseAndSparseHaveTheSameCellsForAnyNumberOfThreads) {
  OpTest t;
  for (const Random& r : {uniform(8, -1, 1, 0.2), normal(8, 0.05), uniform(8, 2, 2, 0.3), poisson(8, 0.1)})
    for (int64_t cols : {1, 7, 300, 5000}) {
      const int64_t rows = 200;
      const MatrixRef m = new_virtual(t.ctx, rows, cols, r);
      t.ctx.threads = 1;
      const auto one = t.cells(to_dense<double>(t.ctx, m));
      t.ctx.threads = 2;
      EXPECT_EQ(t.cells(to_dense<double>(t.ctx, m)), one);
      const MatrixRef s = to_sparse<double>(t.ctx, m);
      ASSERT_TRUE(s->is_sparse());
      EXPECT_EQ(t.cells(s), one);
      EXPECT_EQ(s->nnz_if_known(), static_cast<int64_t>(one.size()) - std::count(one.begin(), one.end(), 0));
      EXPECT_EQ(materialize<double>(t.ctx, m)->is_sparse(), cols > 1);
    }
}

}  // namespace hopline
