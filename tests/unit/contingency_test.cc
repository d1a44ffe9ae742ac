#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "runtime/base/error.h"
#include "tests/unit/op_testing.h"

namespace hopline {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
using Cells = std::vector<double>;

struct TableTest : ::testing::Test, OpTest {
  Value column(const Cells& cells) {
    auto m = new_dense<double>(ctx, static_cast<int64_t>(cells.size()), 1);
    std::copy(cells.begin(), cells.end(), m->dense<double>());
    return MatrixRef(std::move(m));
  }
  Value sequence(double from, double increment, int64_t n) {
    return new_virtual(ctx, n, 1, Sequence{from, increment, false});
  }
  std::string error_of(std::vector<Value> in) {
    try {
      run("table", std::move(in));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  // The fast kernel gives what the reference gives.
  void expect_agree(std::vector<Value> in) {
    const Op& row = op("table", in.size());
    while (in.size() < row.params.count) in.emplace_back(true);
    std::vector<MatrixRef> found;
    for (const Kernel& kernel : row.kernels) {
      std::vector<Value> args = in, out(1);
      std::vector<Value*> pointers;
      for (Value& v : args) pointers.push_back(&v);
      Call call{ctx, row, pointers, out, 0, {}, {}};
      kernel.run(call);
      found.push_back(std::get<MatrixRef>(out[0]));
    }
    ASSERT_EQ(found[0]->rows(), found[1]->rows());
    ASSERT_EQ(found[0]->cols(), found[1]->cols());
    ASSERT_EQ(found[0]->is_sparse(), found[1]->is_sparse());
    const auto [a, b] = std::pair(stored(found[0]), stored(found[1]));
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].first, b[i].first);
      ASSERT_NEAR(a[i].second, b[i].second, 1e-12 * std::fabs(b[i].second));
    }
    if (found[0]->is_sparse()) check_csr(*found[0]);
  }
  // Cell number and value of what the block stores.
  std::vector<std::pair<int64_t, double>> stored(const MatrixRef& m) {
    std::vector<std::pair<int64_t, double>> out;
    if (!m->is_sparse()) {
      for (const double v : cells(m)) out.emplace_back(static_cast<int64_t>(out.size()), v);
      return out;
    }
    const auto* offsets = m->csr().offsets.as<int64_t>();
    for (int64_t r = 0; r < m->rows(); ++r)
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k)
        out.emplace_back(r * m->cols() + m->csr().columns.as<int32_t>()[k], m->csr().values.as<double>()[k]);
    return out;
  }
  static void check_csr(const MatrixBlock& m) {
    const auto* offsets = m.csr().offsets.as<int64_t>();
    ASSERT_EQ(offsets[0], 0);
    ASSERT_EQ(offsets[m.rows()], m.nnz_if_known());
    for (int64_t r = 0; r < m.rows(); ++r) {
      ASSERT_LE(offsets[r], offsets[r + 1]);
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
        ASSERT_NE(m.csr().values.as<double>()[k], 0);
        if (k > offsets[r]) {
          ASSERT_LT(m.csr().columns.as<int32_t>()[k - 1], m.csr().columns.as<int32_t>()[k]);
        }
      }
    }
  }
};

TEST_F(TableTest, CountsPairsOfCodes) {
  const Value t = run("table", {dense(4, 1, {1, 2, 2, 3}), dense(4, 1, {1, 2, 2, 1})});
  EXPECT_EQ(cells(t), (Cells{1, 0, 0, 2, 1, 0}));
  EXPECT_EQ(cells(run("table", {dense(4, 1, {1, 2, 2, 3}), 1.0})), (Cells{1, 2, 1}));
  EXPECT_EQ(cells(run("table", {dense(3, 1, {1, 2, 2}), 1.0, dense(3, 1, {5, 0.5, 2})})), (Cells{5, 2.5}));
  EXPECT_EQ(cells(run("table", {dense(3, 1, {1, 2, 2}), dense(3, 1, {1, 1, 1}), 0.25})), (Cells{0.25, 0.5}));
}

TEST_F(TableTest, DropsCodesBeyondTheSizesAndSkipsNan) {
  const Value a = dense(5, 1, {1, 3, kNan, kInf, 2}), b = dense(5, 1, {1, 1, -4, 1, kNan});
  EXPECT_EQ(cells(run("table", {a, b, int64_t{2}, int64_t{2}})), (Cells{1, 0, 0, 0}));
  EXPECT_EQ(cells(run("table", {a, b, 2.0, int64_t{2}, int64_t{2}})), (Cells{2, 0, 0, 0}));
  EXPECT_EQ(cells(run("table", {a, b, 2.0, int64_t{2}, int64_t{2}, false})), (Cells{2, 0, 0, 0}));
}

TEST_F(TableTest, ConvertsCodesAsTheLanguageDoes) {
  const Value t = run("table", {dense(3, 1, {1.9, 2.1, 0.9999999999999999}), 1.0});
  EXPECT_EQ(cells(t), (Cells{2, 1}));
}

TEST_F(TableTest, MakesSelectionMatricesFromSequences) {
  const int64_t n = 70000;
  Cells v(n);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i * 7919 % 50 + 1);
  v[3] = kNan, v[5] = 51;
  const Value codes = column(v);
  const Value t = run("table", {sequence(1, 1, n), codes, n, int64_t{50}});
  const MatrixBlock& m = *std::get<MatrixRef>(t);
  ASSERT_TRUE(m.is_sparse());
  EXPECT_EQ(m.nnz_if_known(), n - 2);
  check_csr(m);
  EXPECT_EQ(m.csr().offsets.as<int64_t>()[6], 4);
  EXPECT_EQ(m.csr().columns.as<int32_t>()[0], 0);
  expect_agree({sequence(1, 1, n), codes, n, int64_t{50}});
  expect_agree({sequence(1, 1, n), codes, int64_t{99}, int64_t{3000}});
  expect_agree({sequence(3, 2, n), codes, int64_t{500000}, int64_t{50}});
  expect_agree({codes, sequence(1, 1, n), int64_t{50}, n});
  expect_agree({sequence(1, 1, n), codes});
  expect_agree({sequence(1, 1, n), codes, codes, n, int64_t{50}});
  Cells ascending(n);
  for (size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<double>(3 * i + 2) + 0.5;
  expect_agree({column(ascending), codes, int64_t{250000}, int64_t{60}});
}

TEST_F(TableTest, AgreesWithTheReferenceOnManySizes) {
  std::mt19937_64 random(5);
  for (const uint64_t keys : {uint64_t{3}, uint64_t{100}, uint64_t{3000}, uint64_t{200000}})
    for (const size_t n : {size_t{0}, size_t{1}, size_t{50}, size_t{30000}}) {
      Cells a(n), b(n), w(n);
      for (size_t i = 0; i < n; ++i) {
        a[i] = static_cast<double>(random() % keys + 1), b[i] = static_cast<double>(random() % 7 + 1);
        w[i] = static_cast<double>(random() % 5) - 2;
      }
      const auto size = static_cast<int64_t>(keys);
      expect_agree({column(a), column(b)});
      expect_agree({column(b), column(a)});
      expect_agree({column(a), column(b), column(w)});
      expect_agree({column(a), column(a), column(w), size, size});
      expect_agree({column(a), 2.0, 0.5, size, int64_t{5}});
      expect_agree({column(a), column(b), size / 2, int64_t{3}});
    }
}

TEST_F(TableTest, GivesTheSameBitsForAnyNumberOfThreads) {
  std::mt19937_64 random(9);
  Cells a(200000), w(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<double>(random() % 40 + 1),
    w[i] = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 60));
  ctx.threads = 1;
  const Cells one = cells(run("table", {column(a), 1.0, column(w)}));
  ctx.threads = 7;
  EXPECT_EQ(cells(run("table", {column(a), 1.0, column(w)})), one);
}

TEST_F(TableTest, TakesSparseVectorsAndManyKeys) {
  EXPECT_EQ(error_of({sparse(3, 1, {1, 0, 2}), 1.0}), "table: codes must be positive, found (0, 1) in row 2");
  EXPECT_EQ(cells(run("table", {dense(3, 1, {1, 1, 2}), 1.0, sparse(3, 1, {0, 4, 0})})), (Cells{4, 0}));
  const Value t = run("table", {dense(2, 1, {1, 1e5}), dense(2, 1, {1e9, 3}), int64_t{100000}, int64_t{1000000000}});
  EXPECT_EQ(std::get<MatrixRef>(t)->nnz_if_known(), 2);
}

TEST_F(TableTest, HasNoRowsWithoutCodes) {
  const Value none = run("table", {dense(0, 1, {}), dense(0, 1, {})});
  EXPECT_EQ(std::get<MatrixRef>(none)->rows(), 0);
  EXPECT_EQ(cells(run("table", {dense(0, 1, {}), dense(0, 1, {}), int64_t{1}, int64_t{2}})), (Cells{0, 0}));
  EXPECT_EQ(std::get<MatrixRef>(run("table", {dense(1, 1, {kNan}), 1.0}))->rows(), 0);
}

TEST_F(TableTest, SaysWhatIsWrong) {
  const Value a = dense(3, 1, {1, 2, 3});
  EXPECT_EQ(error_of({a, dense(3, 1, {1, 0, -1})}), "table: codes must be positive, found (2, 0) in row 2");
  EXPECT_EQ(error_of({a, dense(2, 1, {1, 1})}), "table: expected vectors of one length, found 3x1 and 2x1");
  EXPECT_EQ(error_of({dense(1, 3, {1, 2, 3}), 1.0}), "table: expected column vectors, found A 1x3");
  EXPECT_EQ(error_of({a, 1.0, int64_t{-1}, int64_t{2}}), "table: expected rows of at least 0, found -1");
  EXPECT_EQ(error_of({dense(1, 1, {kInf}), 1.0}),
            "table: the codes are too large for the sizes of a matrix; give rows and cols");
  EXPECT_EQ(error_of({a, 1.0, int64_t{1} << 40, int64_t{1} << 40}),
            "table: the result is too large, found 1099511627776x1099511627776");
  EXPECT_EQ(error_of({dense(1, 1, {1e15}), 1.0}), "table: the result is too large, found 1000000000000000x1");
}

TEST_F(TableTest, RefusesCountsThatSinglePrecisionCannotHold) {
  ctx.precision = Precision::f32;
  const Value ones = new_constant(ctx, (1 << 24) + 1, 1, 1);
  EXPECT_EQ(error_of({ones, 1.0}), "table: a count above 2^24 does not fit single precision, found 16777217");
}

}  // namespace
}  // namespace hopline
