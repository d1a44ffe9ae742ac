#include <cmath>
#include <set>

#include "runtime/exec/session.h"
#include "tests/unit/store_testing.h"

namespace hopline {

namespace {

using Cells = std::vector<double>;

struct OneKey : Session {
  void print(std::string_view) override {}
  uint64_t draw_key(const Span&) override { return 99; }
  uint64_t seed() const override { return 0; }
  std::unique_ptr<Session> task() override { return nullptr; }
};

// rand(...) with what differs from the defaults.
struct Rand {
  int64_t rows = 1, cols = 1;
  double min = 0, max = 1, sparsity = 1;
  int64_t seed = 7;
  std::string pdf = "uniform";
  double lambda = 1;
  std::vector<Value> values() const { return {rows, cols, min, max, sparsity, seed, pdf, lambda}; }
};

}  // namespace

TEST(Rand, SameSeedSameMatrixInAnyForm) {
  StoreTest t;
  const Value x = t.run("rand", Rand{.rows = 30, .cols = 40}.values());
  EXPECT_TRUE(t.block(x).is_virtual());
  EXPECT_EQ(t.shape(x), "30x40");
  const Cells cells = t.cells(x);
  EXPECT_EQ(cells, t.cells(t.run("rand", Rand{.rows = 30, .cols = 40}.values())));
  EXPECT_EQ(cells, t.cells(t.run("rand", Rand{.rows = 40, .cols = 30}.values())));  // cell by cell number
  EXPECT_NE(cells, t.cells(t.run("rand", Rand{.rows = 30, .cols = 40, .seed = 8}.values())));
  for (double v : cells) {
    EXPECT_GE(v, 0);
    EXPECT_LT(v, 1);
  }
  const Cells scaled = t.cells(t.run("rand", Rand{.rows = 30, .cols = 40, .min = -3, .max = -1}.values()));
  for (double v : scaled) {
    EXPECT_GE(v, -3);
    EXPECT_LE(v, -1);
  }
}

TEST(Rand, UnseededDrawsAskTheSession) {
  StoreTest t;
  EXPECT_NE(t.cells(t.run("rand", Rand{.rows = 4, .seed = -1}.values())),
            t.cells(t.run("rand", Rand{.rows = 4, .seed = -1}.values())));
  OneKey session;
  t.ctx.session = &session;
  EXPECT_EQ(t.cells(t.run("rand", Rand{.rows = 4, .seed = -1}.values())),
            t.cells(t.run("rand", Rand{.rows = 4, .seed = 99}.values())));
}

TEST(Rand, ConstantsAndZeros) {
  StoreTest t;
  const auto constant = [&](const Rand& r) {
    return std::get<Constant>(t.block(t.run("rand", r.values())).cells_rule()).value;
  };
  EXPECT_EQ(constant({.rows = 3, .min = 4, .max = 4}), 4);
  EXPECT_EQ(constant({.rows = 3, .sparsity = 0}), 0);
  EXPECT_EQ(constant({.rows = 3, .min = 0, .max = 0, .sparsity = 0.5}), 0);
  EXPECT_EQ(constant({.rows = 3, .sparsity = 0, .pdf = "normal"}), 0);
  EXPECT_EQ(t.shape(t.run("rand", Rand{.rows = 0, .cols = 3}.values())), "0x3");
}

TEST(Rand, ReportsWrongArguments) {
  StoreTest t;
  const auto error = [&](const Rand& r) { return t.error("rand", r.values()); };
  EXPECT_EQ(error({.rows = -3}), "rand: rows must not be negative, found -3");
  EXPECT_EQ(error({.cols = -1}), "rand: cols must not be negative, found -1");
  EXPECT_EQ(error({.rows = int64_t{1} << 40, .cols = int64_t{1} << 40}),
            "rand: too many cells, expected rows * cols below 2^63, found 1099511627776x1099511627776");
  EXPECT_EQ(error({.min = 2, .max = 1}), "rand: expected min not above max, found min=2, max=1");
  EXPECT_EQ(error({.min = NAN}), "rand: expected finite min and max, found min=nan, max=1");
  EXPECT_NE(error({.min = -1e308, .max = 1e308}), "");
  EXPECT_EQ(error({.sparsity = 1.5}), "rand: expected sparsity in [0, 1], found 1.5");
  EXPECT_EQ(error({.pdf = "gamma"}), "rand: expected pdf \"uniform\", \"normal\" or \"poisson\", found \"gamma\"");
  EXPECT_EQ(error({.pdf = "poisson", .lambda = 0}), "rand: expected lambda above 0, found 0");
  EXPECT_EQ(error({.min = 5, .max = 1, .pdf = "normal"}), "");
  StoreTest single(Precision::f32);
  EXPECT_NE(single.error("rand", Rand{.pdf = "poisson", .lambda = 1e9}.values()), "");
}

TEST(Rand, DistributionsAndSparsity) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    const auto mean = [&](const Rand& r) {
      double sum = 0;
      const Cells cells = t.cells(t.run("rand", r.values()));
      for (double v : cells) sum += v / static_cast<double>(cells.size());
      return sum;
    };
    EXPECT_NEAR(mean({.rows = 300, .cols = 300}), 0.5, 0.01);
    EXPECT_NEAR(mean({.rows = 300, .cols = 300, .pdf = "normal"}), 0, 0.02);
    EXPECT_NEAR(mean({.rows = 300, .cols = 300, .pdf = "poisson", .lambda = 3}), 3, 0.04);
    EXPECT_NEAR(mean({.rows = 300, .cols = 300, .min = 1, .max = 1, .sparsity = 0.7}), 0.7, 0.01);
    EXPECT_NEAR(mean({.rows = 300, .cols = 300, .min = 2, .max = 2, .sparsity = 0.1}), 0.2, 0.01);
  }
}

TEST(Seq, LengthsAndValues) {
  StoreTest t;
  const auto rows = [&](double from, double to, double increment) {
    return t.block(t.run("seq", {from, to, increment})).rows();
  };
  EXPECT_EQ(rows(0, 1, 0.1), 11);
  EXPECT_EQ(rows(0, 1, 0.01), 101);
  EXPECT_EQ(rows(0, 1, 0.001), 1001);
  EXPECT_EQ(rows(1, 0.1, -0.1), 10);
  EXPECT_EQ(rows(5, 5, -1), 1);
  EXPECT_EQ(rows(1, 11, 3), 4);
  EXPECT_EQ(rows(0, 900.75, 0.25), 3604);
  EXPECT_EQ(rows(1000000.1, 1000000.5, 0.1), 5);
  EXPECT_EQ(rows(0, 0.95, 0.1), 10);
  EXPECT_EQ(rows(1, 1e9, 1), 1000000000);
  EXPECT_EQ(rows(0, 0.999999, 1), 1);
  EXPECT_EQ(t.cells(t.run("seq", {int64_t{3}, int64_t{1}})), (Cells{3, 2, 1}));
  EXPECT_EQ(t.cells(t.run("seq", {int64_t{3}, int64_t{3}})), (Cells{3}));
  EXPECT_EQ(t.cells(t.run("seq", {1.5, 3.0})), (Cells{1.5, 2.5}));
  EXPECT_EQ(t.infer("seq", {int64_t{3}, int64_t{1}}).rows, 3);
  EXPECT_EQ(t.infer("seq", {int64_t{3}, int64_t{2}}).rows, 2);
  EXPECT_EQ(t.infer("seq", {int64_t{4}, int64_t{9}}).rows, 6);
  EXPECT_EQ(t.block(t.run("seq", {int64_t{1}, int64_t{5}})).nnz_if_known(), 5);
  EXPECT_EQ(t.block(t.run("seq", {int64_t{0}, int64_t{5}})).nnz_if_known(), -1);
}

TEST(Seq, ReportsWrongArguments) {
  StoreTest t;
  EXPECT_EQ(t.error("seq", {1.0, 5.0, -1.0}),
            "seq: the increment does not lead to the end, found from=1, to=5, increment=-1");
  EXPECT_NE(t.error("seq", {5.0, 1.0, 1.0}), "");
  EXPECT_NE(t.error("seq", {5.0, 5.0, 0.0}), "");
  EXPECT_NE(t.error("seq", {1.0, NAN, 1.0}), "");
  EXPECT_NE(t.error("seq", {1.0, INFINITY, 1.0}), "");
  EXPECT_NE(t.error("seq", {0.0, 1e300, 1e-300}), "");
  StoreTest single(Precision::f32);
  EXPECT_NE(single.error("seq", {1.0, 17000000.0, 1.0}), "");
  EXPECT_EQ(single.error("seq", {1.0, 16000000.0, 1.0}), "");
}

TEST(Matrix, Fill) {
  StoreTest t;
  const Value x = t.run("matrix", {3.5, int64_t{2}, int64_t{3}});
  EXPECT_EQ(t.cells(x), Cells(6, 3.5));
  EXPECT_EQ(t.shape(t.run("matrix", {int64_t{0}, 0.0, 4.9})), "0x4");
  EXPECT_TRUE(t.block(t.run("matrix", {0.0, 1e6, 1e6})).is_virtual());
  EXPECT_EQ(t.error("matrix", {0.0, -2.0, 1.0}), "matrix: rows must not be negative, found -2");
  EXPECT_NE(t.error("matrix", {0.0, 1e12, 1e12}), "");
  EXPECT_EQ(t.error("matrix", {true, 2.0, 1.0}),
            "matrix: expected a number, a string of numbers or a matrix, found boolean");
}

TEST(Matrix, FromText) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    const auto make = [&](const std::string& s, int64_t rows, int64_t cols, bool by_row = true) {
      return t.run("matrix", {s, rows, cols, by_row});
    };
    EXPECT_EQ(t.cells(make("1 2.5\t-3\n 4e2  .5 +6", 2, 3)), (Cells{1, 2.5, -3, 400, 0.5, 6}));
    EXPECT_EQ(t.cells(make("1 2 3 4 5 6", 3, 2, false)), (Cells{1, 4, 2, 5, 3, 6}));
    EXPECT_TRUE(std::isnan(t.cells(make("NaN", 1, 1))[0]));
    EXPECT_EQ(t.cells(make("Inf -Infinity 1e999", 1, 3)), (Cells{INFINITY, -INFINITY, INFINITY}));
    EXPECT_EQ(t.shape(make("  ", 0, 3)), "0x3");
    EXPECT_EQ(t.error("matrix", {std::string("1 2 3"), int64_t{2}, int64_t{2}}),
              "matrix: the string must hold one number per cell, expected 4 for 2x2, found 3");
    EXPECT_EQ(t.error("matrix", {std::string("1,2"), int64_t{1}, int64_t{2}}),
              "matrix: expected numbers separated by blanks, found \"1,2\"");
    EXPECT_NE(t.error("matrix", {std::string("+-2"), int64_t{1}, int64_t{1}}), "");
    EXPECT_NE(t.error("matrix", {std::string("+"), int64_t{1}, int64_t{1}}), "");
  }
}

TEST(Matrix, Reshape) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    for (const Value& x : t.stores(2, 3, Cells{1, 0, 3, 0, 5, 6})) {
      const auto make = [&](int64_t rows, int64_t cols, bool by_row) {
        return t.run("matrix", {x, rows, cols, by_row});
      };
      EXPECT_EQ(t.cells(make(3, 2, true)), (Cells{1, 0, 3, 0, 5, 6}));
      EXPECT_EQ(t.cells(make(3, 2, false)), (Cells{1, 5, 0, 3, 0, 6}));
      EXPECT_EQ(t.cells(make(6, 1, false)), (Cells{1, 0, 0, 5, 3, 6}));
      EXPECT_EQ(t.cells(make(1, 6, false)), (Cells{1, 0, 0, 5, 3, 6}));
      EXPECT_EQ(t.cells(make(1, 6, true)), (Cells{1, 0, 3, 0, 5, 6}));
      EXPECT_EQ(std::get<MatrixRef>(make(2, 3, true)), std::get<MatrixRef>(x));
      EXPECT_EQ(std::get<MatrixRef>(make(2, 3, false)), std::get<MatrixRef>(x));
      for (const auto& [r, c] : std::vector<std::pair<int64_t, int64_t>>{{3, 2}, {6, 1}, {1, 6}}) {
        EXPECT_EQ(t.shape(make(r, c, false)), std::to_string(r) + "x" + std::to_string(c));
        if (t.block(make(r, c, true)).is_sparse()) check_csr(t.block(make(r, c, true)));
      }
      EXPECT_EQ(t.error("matrix", {x, int64_t{2}, int64_t{2}}),
                "matrix: the number of cells must stay the same, expected 6 cells, found 4 of 2x2");
    }
    std::vector<Value> in;
    in.push_back(t.dense(2, 3, Cells{1, 2, 3, 4, 5, 6}));
    const MatrixBlock* block = &t.block(in[0]);
    in.insert(in.end(), {int64_t{6}, int64_t{1}, true});
    EXPECT_EQ(&t.block(t.run_last("matrix", std::move(in))), block);
    EXPECT_EQ(t.shape(t.run("matrix", {t.dense(0, 3, Cells{}), int64_t{5}, int64_t{0}})), "5x0");
    const Value s = t.run("matrix", {new_virtual(t.ctx, 6, 1, Sequence{1, 1, false}), int64_t{2}, int64_t{3}});
    EXPECT_EQ(t.cells(s), (Cells{1, 2, 3, 4, 5, 6}));
    const MatrixRef r = new_virtual(t.ctx, 20, 30, Random{Distribution::uniform, 0, 1, 1, 1, 3, 0});
    const Value reshaped = t.run("matrix", {r, int64_t{15}, int64_t{40}});
    EXPECT_TRUE(t.block(reshaped).is_virtual());
    EXPECT_EQ(t.cells(reshaped), t.cells(r));
    const Value by_column =
        t.run("matrix", {new_virtual(t.ctx, 1, 6, Sequence{1, 1, true}), int64_t{2}, int64_t{3}, false});
    EXPECT_EQ(t.cells(by_column), (Cells{1, 3, 5, 2, 4, 6}));
  }
}

TEST(Sample, WithoutReplacementIsAPermutation) {
  StoreTest t;
  const Value x = t.run("sample", {int64_t{50}, int64_t{50}, int64_t{14}});
  const Cells cells = t.cells(x);
  EXPECT_EQ(t.shape(x), "50x1");
  EXPECT_EQ(std::set<double>(cells.begin(), cells.end()).size(), 50u);
  EXPECT_EQ(*std::min_element(cells.begin(), cells.end()), 1);
  EXPECT_EQ(*std::max_element(cells.begin(), cells.end()), 50);
  EXPECT_EQ(cells, t.cells(t.run("sample", {int64_t{50}, int64_t{50}, false, int64_t{14}})));
  EXPECT_NE(cells, t.cells(t.run("sample", {int64_t{50}, int64_t{50}, int64_t{15}})));
  EXPECT_NE(t.cells(t.run("sample", {int64_t{50}, int64_t{50}})), t.cells(t.run("sample", {int64_t{50}, int64_t{50}})));
}

TEST(Sample, BothMethodsDrawTheSameNumbers) {
  StoreTest t;
  // 100,000 and 60,000 of 200,000: the first few numbers agree, however many are drawn
  const Cells few = t.cells(t.run("sample", {int64_t{200000}, int64_t{1000}, int64_t{5}}));
  const Cells many = t.cells(t.run("sample", {int64_t{200000}, int64_t{150000}, int64_t{5}}));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_EQ(std::set<double>(few.begin(), few.end()).size(), 1000u);
}

TEST(Sample, WithReplacementIsUniform) {
  StoreTest t;
  std::vector<double> counts(6);
  for (double v : t.cells(t.run("sample", {int64_t{5}, int64_t{100000}, true, int64_t{3}}))) {
    ASSERT_GE(v, 1);
    ASSERT_LE(v, 5);
    counts[static_cast<size_t>(v)] += 1;
  }
  for (size_t i = 1; i <= 5; ++i) EXPECT_NEAR(counts[i], 20000, 700);
}

TEST(Sample, FirstPlaceIsUniform) {
  StoreTest t;
  std::vector<double> counts(5);
  for (int64_t seed = 0; seed < 4000; ++seed)
    counts[static_cast<size_t>(t.cells(t.run("sample", {int64_t{4}, int64_t{4}, seed}))[0])] += 1;
  for (size_t i = 1; i <= 4; ++i) EXPECT_NEAR(counts[i], 1000, 150);
}

TEST(Sample, ReportsWrongArguments) {
  StoreTest t;
  EXPECT_EQ(t.error("sample", {int64_t{3}, int64_t{4}}),
            "sample: more numbers than the range has, expected replacement or at most 3, found 4");
  EXPECT_EQ(t.error("sample", {int64_t{0}, int64_t{0}}), "sample: expected a range from 1 to 2^53, found 0");
  EXPECT_EQ(t.error("sample", {int64_t{3}, int64_t{-1}}), "sample: size must not be negative, found -1");
  EXPECT_NE(t.error("sample", {int64_t{3}, int64_t{1}, int64_t{1}, int64_t{1}}), "");
  EXPECT_EQ(t.shape(t.run("sample", {int64_t{3}, int64_t{0}})), "0x1");
  StoreTest single(Precision::f32);
  EXPECT_NE(single.error("sample", {int64_t{1} << 25, int64_t{4}}), "");
}

}  // namespace hopline
