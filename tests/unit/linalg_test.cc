#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

struct Linalg : ::testing::Test, OpTest {
  uint64_t state = 42;
  double draw() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 0x1p53 - 0.5;
  }
  Value random(int64_t rows, int64_t cols) {
    return with_real(ctx, [&](auto zero) -> Value {
      using T = decltype(zero);
      auto m = new_dense<T>(ctx, rows, cols);
      for (int64_t i = 0; i < rows * cols; ++i) m->template dense<T>()[i] = static_cast<T>(draw());
      return MatrixRef(std::move(m));
    });
  }
  Value from(int64_t rows, int64_t cols, const std::vector<double>& cells) {
    return with_real(ctx, [&](auto zero) -> Value {
      using T = decltype(zero);
      auto m = new_dense<T>(ctx, rows, cols);
      std::copy(cells.begin(), cells.end(), m->template dense<T>());
      return MatrixRef(std::move(m));
    });
  }
  std::vector<double> values(const Value& v) {
    return with_real(ctx, [&](auto zero) {
      using T = decltype(zero);
      const MatrixRef m = to_dense<T>(ctx, std::get<MatrixRef>(v));
      return std::vector<double>(m->template dense<T>(), m->template dense<T>() + m->cells());
    });
  }
  Value times(const Value& a, const Value& b) { return run("%*%", {a, b}); }
  Value positive(int64_t n) {
    const std::vector<double> g = values(run("tsmm", {random(n + 5, n)}));
    std::vector<double> shifted = g;
    for (int64_t i = 0; i < n; ++i) shifted[i * n + i] += 0.5;
    return from(n, n, shifted);
  }
  std::vector<Value> all(std::string_view name, std::vector<Value> in) {
    const Op& row = op(name, in.size());
    return apply(ctx, row, std::move(in));
  }
  double gap(const Value& a, const Value& b) {
    const std::vector<double> x = values(a), y = values(b);
    EXPECT_EQ(x.size(), y.size());
    double most = 0;
    for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::fabs(x[i] - y[i]));
    return most;
  }
  Value identity(int64_t n) {
    std::vector<double> cells(static_cast<size_t>(n * n), 0);
    for (int64_t i = 0; i < n; ++i) cells[i * n + i] = 1;
    return from(n, n, cells);
  }
  std::string error_of(std::string_view name, std::vector<Value> in) {
    try {
      all(name, std::move(in));
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  static int64_t rows(const Value& v) { return std::get<MatrixRef>(v)->rows(); }
  static int64_t cols(const Value& v) { return std::get<MatrixRef>(v)->cols(); }
};

}  // namespace

TEST_F(Linalg, SolvesSquareSystemsOfAllSizes) {
  for (int64_t n : {1, 2, 7, 60, 257, 300, 520})
    for (int64_t r : {1, 3, 150}) {
      const Value a = random(n, n), x = random(n, r), b = times(a, x);
      EXPECT_LT(gap(times(a, run("solve", {a, b})), b), 1e-9) << n << " " << r;
      const Value p = positive(n), c = times(p, x);
      EXPECT_LT(gap(run("solve", {p, c}), x), 1e-8) << n << " " << r;
    }
}

TEST_F(Linalg, SolvesASymmetricMatrixThatIsNotPositiveDefinite) {
  const Value a = from(2, 2, {1, 2, 2, 1}), b = from(2, 1, {5, 4});
  EXPECT_LT(gap(run("solve", {a, b}), from(2, 1, {1, 2})), 1e-14);
  const int64_t n = 300;
  std::vector<double> cells = values(positive(n));
  cells[(n - 1) * n + n - 1] = 1e-6;  // the diagonal does not show it
  const Value s = from(n, n, cells), x = random(n, 2);
  EXPECT_LT(gap(times(s, run("solve", {s, times(s, x)})), times(s, x)), 1e-9);
}

TEST_F(Linalg, SolvesLeastSquaresAndLeastNorm) {
  const Value a = random(50, 8), b = random(50, 3);
  const Value x = run("solve", {a, b});
  EXPECT_EQ(rows(x), 8);
  EXPECT_LT(gap(run("tmm", {a, times(a, x)}), run("tmm", {a, b})), 1e-12);  // the residual is orthogonal to A
  const Value wide = random(8, 50), c = random(8, 2), y = run("solve", {wide, c});
  EXPECT_EQ(rows(y), 50);
  EXPECT_LT(gap(times(wide, y), c), 1e-12);
}

TEST_F(Linalg, ReportsSingularAndMisshapenSystems) {
  const Value singular = from(2, 2, {1, 2, 2, 4}), b = from(2, 1, {1, 2});
  EXPECT_EQ(error_of("solve", {singular, b}), "solve: the matrix is singular (pivot 2 is 0)");
  EXPECT_EQ(error_of("inv", {singular}), "inv: the matrix is singular (pivot 2 is 0)");
  EXPECT_EQ(error_of("inv", {from(3, 3, std::vector<double>(9, 0))}), "inv: the matrix is singular (pivot 1 is 0)");
  EXPECT_EQ(error_of("inv", {random(2, 3)}), "inv expects a square matrix, found 2x3");
  EXPECT_EQ(error_of("det", {random(2, 3)}), "det expects a square matrix, found 2x3");
  EXPECT_EQ(error_of("solve", {random(3, 3), random(2, 1)}),
            "solve(A, b) expects as many rows in b as in A, found 3x3 and 2x1");
  EXPECT_EQ(error_of("solve", {from(3, 2, {1, 0, 2, 0, 3, 0}), random(3, 1)}),
            "solve: the matrix does not have full rank");
  const int64_t n = 400;
  std::vector<double> cells = values(random(n, n));
  for (int64_t i = 0; i < n; ++i) cells[i * n + 200] = 0;
  EXPECT_NE(error_of("inv", {from(n, n, cells)}).find("singular"), std::string::npos);
}

TEST_F(Linalg, InvertsAndTakesDeterminants) {
  for (int64_t n : {1, 5, 129, 300}) {
    const Value a = random(n, n);
    EXPECT_LT(gap(times(a, run("inv", {a})), identity(n)), 1e-8) << n;
  }
  EXPECT_DOUBLE_EQ(std::get<double>(run("det", {from(3, 3, {0, 2, 0, 1, 0, 0, 0, 0, 3})})), -6);
  EXPECT_EQ(std::get<double>(run("det", {from(2, 2, {1, 2, 2, 4})})), 0);
  EXPECT_EQ(std::get<double>(run("det", {from(3, 3, {1e200, 0, 0, 0, 1e200, 0, 0, 0, 1e-300})})),
            1e200 * 1e-300 * 1e200);
  EXPECT_EQ(std::get<double>(run("det", {from(0, 0, {})})), 1);
  const Value p = positive(280);
  double log_l = 0;
  const std::vector<double> l = values(run("cholesky", {p}));
  for (int64_t i = 0; i < 280; ++i) log_l += 2 * std::log(l[i * 281]);
  EXPECT_NEAR(std::log(std::get<double>(run("det", {p}))), log_l, 1e-9);
}

TEST_F(Linalg, FactorsByCholesky) {
  for (int64_t n : {1, 2, 60, 129, 300, 700}) {
    const Value a = positive(n), l = run("cholesky", {a});
    EXPECT_LT(gap(run("tsmmr", {l}), a), 1e-10) << n;
    const std::vector<double> cells = values(l);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) ASSERT_EQ(cells[i * n + j], 0);
  }
  EXPECT_EQ(error_of("cholesky", {from(2, 2, {1, 2, 2, 1})}), "cholesky: the matrix is not positive definite");
  EXPECT_EQ(error_of("cholesky", {from(2, 2, {4, 1, 2, 4})}),
            "cholesky: expected a symmetric matrix, found 2 at [2, 1] and 1 at [1, 2]");
  EXPECT_EQ(error_of("cholesky", {random(2, 3)}), "cholesky expects a square matrix, found 2x3");
}

TEST_F(Linalg, FactorsByLu) {
  for (int64_t n : {1, 2, 7, 130, 300}) {
    const Value a = random(n, n);
    const std::vector<Value> plu = all("lu", {a});
    EXPECT_LT(gap(times(plu[0], a), times(plu[1], plu[2])), 1e-11) << n;
    const std::vector<double> l = values(plu[1]), u = values(plu[2]);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        ASSERT_TRUE(j < i ? u[i * n + j] == 0 : true);
        ASSERT_TRUE(j > i ? l[i * n + j] == 0 : j == i ? l[i * n + j] == 1 : std::fabs(l[i * n + j]) <= 1);
      }
  }
  EXPECT_EQ(error_of("lu", {from(2, 2, {1, 2, 2, 4})}), "lu: the matrix is singular (pivot 2 is 0)");
  EXPECT_EQ(error_of("lu", {random(3, 2)}), "lu expects a square matrix, found 3x2");
}

TEST_F(Linalg, FactorsByQr) {
  for (const auto& [m, n] :
       std::initializer_list<std::pair<int64_t, int64_t>>{{1, 1}, {4, 4}, {9, 4}, {4, 9}, {80, 50}}) {
    const Value a = random(m, n);
    const std::vector<Value> hr = all("qr", {a});
    const std::vector<double> h = values(hr[0]), r = values(hr[1]);
    // Q R, applying the reflectors from the last to the first.
    std::vector<double> q = r;
    for (int64_t j = std::min(m, n) - 1; j >= 0; --j) {
      double norm = 0;
      for (int64_t i = j; i < m; ++i) norm += h[i * n + j] * h[i * n + j];
      for (int64_t c = 0; c < n; ++c) {
        double dot = 0;
        for (int64_t i = j; i < m; ++i) dot += h[i * n + j] * q[i * n + c];
        for (int64_t i = j; i < m; ++i) q[i * n + c] -= 2 / norm * dot * h[i * n + j];
      }
    }
    EXPECT_LT(gap(from(m, n, q), a), 1e-12) << m << "x" << n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        if (j < i) {
          ASSERT_EQ(r[i * n + j], 0);
        }
        if (j > i) {
          ASSERT_EQ(h[i * n + j], 0);
        }
      }
  }
  // The scaling of the reference: v = x - a e1, divided by -a.
  const std::vector<Value> hr = all("qr", {from(2, 1, {3, 4})});
  EXPECT_LT(gap(hr[0], from(2, 1, {1.6, 0.8})), 1e-15);
  EXPECT_LT(gap(hr[1], from(2, 1, {-5, 0})), 1e-15);
}

TEST_F(Linalg, FindsEigenvaluesOfSymmetricMatrices) {
  for (int64_t n : {1, 2, 10, 90}) {
    const Value a = positive(n);
    const std::vector<Value> wv = all("eigen", {a});
    EXPECT_EQ(rows(wv[0]), n);
    const std::vector<double> w = values(wv[0]), v = values(wv[1]);
    std::vector<double> scaled = v;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) scaled[i * n + j] *= w[j];
    EXPECT_LT(gap(times(a, wv[1]), from(n, n, scaled)), 1e-11);
    EXPECT_LT(gap(run("tsmm", {wv[1]}), identity(n)), 1e-12);
    for (int64_t i = 1; i < n; ++i) EXPECT_LE(w[i - 1], w[i]);
  }
  const std::vector<Value> wv = all("eigen", {from(2, 2, {2, 1, 1, 2})});
  EXPECT_LT(gap(wv[0], from(2, 1, {1, 3})), 1e-15);
  const double h = std::sqrt(0.5);
  EXPECT_LT(gap(wv[1], from(2, 2, {h, h, -h, h})), 1e-15);
}

TEST_F(Linalg, FindsRealPartsOfGeneralEigenvalues) {
  const Value a = from(3, 3, {2, 1, 0, 0, 1, 1, 0, 0, -3});
  const std::vector<Value> wv = all("eigen", {a});
  EXPECT_LT(gap(wv[0], from(3, 1, {-3, 1, 2})), 1e-14);
  const std::vector<double> w = values(wv[0]), v = values(wv[1]);
  std::vector<double> scaled = v;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) scaled[i * 3 + j] *= w[j];
  EXPECT_LT(gap(times(a, wv[1]), from(3, 3, scaled)), 1e-14);
  EXPECT_LT(gap(all("eigen", {from(2, 2, {0, -1, 1, 0})})[0], from(2, 1, {0, 0})), 1e-15);
  EXPECT_EQ(error_of("eigen", {random(3, 2)}), "eigen expects a square matrix, found 3x2");
  EXPECT_EQ(error_of("eigen", {from(2, 2, {1, std::nan(""), 0, 1})}),
            "eigen: expected finite cells, found nan at [1, 2]");
}

TEST_F(Linalg, FindsSingularValues) {
  for (const auto& [m, n] :
       std::initializer_list<std::pair<int64_t, int64_t>>{{1, 1}, {5, 5}, {40, 7}, {7, 40}, {120, 90}}) {
    const int64_t k = std::min(m, n);
    const Value a = random(m, n);
    const std::vector<Value> usv = all("svd", {a});
    EXPECT_EQ(cols(usv[0]), k);
    EXPECT_EQ(rows(usv[2]), n);
    EXPECT_EQ(cols(usv[2]), k);
    EXPECT_LT(gap(run("mmt", {times(usv[0], usv[1]), usv[2]}), a), 1e-12);
    EXPECT_LT(gap(run("tsmm", {usv[0]}), identity(k)), 1e-12);
    EXPECT_LT(gap(run("tsmm", {usv[2]}), identity(k)), 1e-12);
    const std::vector<double> s = values(usv[1]);
    for (int64_t i = 1; i < k; ++i) EXPECT_GE(s[(i - 1) * (k + 1)], s[i * (k + 1)]);
  }
}

TEST_F(Linalg, TakesEmptyMatrices) {
  EXPECT_EQ(rows(run("solve", {from(0, 0, {}), from(0, 2, {})})), 0);
  EXPECT_EQ(rows(run("inv", {from(0, 0, {})})), 0);
  EXPECT_EQ(rows(run("cholesky", {from(0, 0, {})})), 0);
  EXPECT_EQ(rows(all("eigen", {from(0, 0, {})})[1]), 0);
  EXPECT_EQ(cols(all("svd", {from(3, 0, {})})[0]), 0);
  EXPECT_EQ(rows(all("qr", {from(3, 0, {})})[0]), 3);
  EXPECT_EQ(rows(all("lu", {from(0, 0, {})})[0]), 0);
  EXPECT_EQ(values(run("solve", {from(0, 3, {}), from(0, 1, {})})), std::vector<double>(3, 0));
}

TEST_F(Linalg, TakesSparseAndVirtualInputs) {
  const Value eye = run("solve", {sparse(3, 3, {2, 0, 0, 0, 4, 0, 0, 0, 5}), Value(new_constant(ctx, 3, 1, 20))});
  EXPECT_EQ(values(eye), (std::vector<double>{10, 5, 4}));
  EXPECT_NE(error_of("inv", {Value(new_constant(ctx, 4, 4, 1))}).find("singular"), std::string::npos);
}

TEST_F(Linalg, GivesTheSameBitsForAnyNumberOfThreads) {
  const int64_t n = 600;
  const Value a = random(n, n), p = positive(n), b = random(n, 200);
  const auto results = [&](int threads) {
    ctx.threads = threads;
    std::vector<double> out;
    for (const Value& v : {run("solve", {a, b}), run("solve", {p, b}), run("inv", {a}), run("cholesky", {p}),
                           all("lu", {a})[1], all("eigen", {p})[1], all("svd", {b})[0], all("qr", {b})[0]})
      for (double x : values(v)) out.push_back(x);
    return out;
  };
  const std::vector<double> one = results(1), four = results(4);
  EXPECT_EQ(std::memcmp(one.data(), four.data(), one.size() * sizeof(double)), 0);
}

TEST_F(Linalg, WritesInPlaceOnlyAtTheLastUse) {
  const Value a = from(2, 2, {2, 1, 1, 3}), before = from(2, 2, {2, 1, 1, 3}), b = from(2, 1, {3, 5});
  run("solve", {a, b});
  run("lu", {a});
  run("eigen", {a});
  run("svd", {a});
  EXPECT_EQ(gap(a, before), 0);
  EXPECT_EQ(gap(b, from(2, 1, {3, 5})), 0);
}

TEST_F(Linalg, WorksInSinglePrecision) {
  ctx.precision = Precision::f32;
  for (int64_t n : {3, 300}) {
    const Value a = random(n, n), x = random(n, 2), b = times(a, x), p = positive(n);
    EXPECT_LT(gap(times(a, run("solve", {a, b})), b), 1e-2) << n;
    EXPECT_LT(gap(run("tsmmr", {run("cholesky", {p})}), p), 1e-3);
    const std::vector<Value> plu = all("lu", {a});
    EXPECT_LT(gap(times(plu[0], a), times(plu[1], plu[2])), 1e-3);
    EXPECT_LT(gap(run("tsmm", {all("eigen", {p})[1]}), identity(n)), 1e-3);
    const std::vector<Value> usv = all("svd", {b});
    EXPECT_LT(gap(run("mmt", {times(usv[0], usv[1]), usv[2]}), b), 1e-3);
  }
}

TEST_F(Linalg, TransformsByFourier) {
  const std::vector<Value> f = all("fft", {from(1, 4, {1, 2, 3, 4})});
  EXPECT_LT(gap(f[0], from(1, 4, {10, -2, -2, -2})), 1e-14);
  EXPECT_LT(gap(f[1], from(1, 4, {0, 2, 0, -2})), 1e-14);
  const Value x = random(8, 32);
  const std::vector<Value> y = all("fft", {x}), back = all("ifft", {y[0], y[1]});
  EXPECT_LT(gap(back[0], x), 1e-14);
  EXPECT_LT(gap(back[1], from(8, 32, std::vector<double>(256, 0))), 1e-14);
  // One cell by the definition.
  const std::vector<double> cells = values(x);
  double re = 0, im = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 32; ++j) {
      const double angle = -2 * M_PI * (3.0 * i / 8 + 5.0 * j / 32);
      re += cells[i * 32 + j] * std::cos(angle), im += cells[i * 32 + j] * std::sin(angle);
    }
  EXPECT_NEAR(values(y[0])[3 * 32 + 5], re, 1e-12);
  EXPECT_NEAR(values(y[1])[3 * 32 + 5], im, 1e-12);
  const std::vector<Value> lines = all("fft_linearized", {x}),
                           lines_back = all("ifft_linearized", {lines[0], lines[1]});
  EXPECT_LT(gap(lines_back[0], x), 1e-14);
  EXPECT_EQ(error_of("fft", {random(3, 4)}),
            "fft expects numbers of rows and columns that are a power of two, found 3x4");
  EXPECT_EQ(error_of("ifft", {random(2, 4), random(4, 2)}),
            "ifft expects real and imaginary parts of equal sizes, found 2x4 and 4x2");
  EXPECT_EQ(error_of("fft_linearized", {random(3, 4)}), "no error");
}

TEST_F(Linalg, TransformsFramesOfRows) {
  const Value x = from(1, 6, {1, 2, 3, 4, 5, 6});
  const std::vector<Value> s = all("stft", {x, int64_t{4}, int64_t{2}});
  EXPECT_EQ(cols(s[0]), 8);
  EXPECT_LT(gap(s[0], from(1, 8, {10, -2, -2, -2, 18, -2, -2, -2})), 1e-14);
  const std::vector<Value> padded = all("stft", {from(1, 5, {1, 2, 3, 4, 5}), int64_t{4}, int64_t{0}});
  EXPECT_LT(gap(padded[0], from(1, 8, {10, -2, -2, -2, 5, 5, 5, 5})), 1e-14);
  const std::vector<Value> complex = all("stft", {x, x, int64_t{2}, int64_t{0}});
  EXPECT_LT(gap(complex[1], from(1, 6, {3, -1, 7, -1, 11, -1})), 1e-14);
  EXPECT_EQ(error_of("stft", {x, int64_t{4}, int64_t{4}}), "stft expects an overlap below the window, found 4 and 4");
  EXPECT_EQ(error_of("stft", {x, int64_t{3}, int64_t{1}}), "stft expects a window of a power of two cells, found 3");
}

TEST_F(Linalg, SumsByNamedIndexes) {
  const Value a = random(3, 4), b = random(4, 5), c = random(3, 4), v = random(4, 1), s = random(4, 4);
  const auto e = [&](const char* text, std::vector<Value> in) {
    in.insert(in.begin(), std::string(text));
    return run("einsum", std::move(in));
  };
  const auto sum = [&](const Value& m) {
    double total = 0;
    for (double x : values(m)) total += x;
    return total;
  };
  EXPECT_LT(gap(e("ij,jk->ik", {a, b}), times(a, b)), 1e-14);
  EXPECT_LT(gap(e("ij, jk -> ki", {a, b}), run("t", {times(a, b)})), 1e-14);
  EXPECT_LT(gap(e("ij->ji", {a}), run("t", {a})), 0x1p-60);
  EXPECT_LT(gap(e("ji,jk->ik", {a, c}), run("tmm", {a, c})), 1e-14);
  EXPECT_LT(gap(e("ij,j->i", {a, v}), times(a, v)), 1e-14);
  EXPECT_LT(gap(e("i,j->ij", {v, v}), run("tsmmr", {v})), 1e-14);
  EXPECT_NEAR(std::get<double>(e("ij->", {a})), sum(a), 1e-14);
  EXPECT_NEAR(std::get<double>(e("ij,ij->", {a, c})), std::get<double>(e("ii->", {run("mmt", {a, c})})), 1e-14);
  const Value r = random(5, 3);
  EXPECT_NEAR(std::get<double>(e("ij,jk,ki->", {a, b, r})), std::get<double>(e("ii->", {times(times(a, b), r)})),
              1e-14);
  const std::vector<double> x = values(a), y = values(c), d = values(e("ij,ij->ij", {a, c}));
  for (size_t i = 0; i < 12; ++i) EXPECT_DOUBLE_EQ(d[i], x[i] * y[i]);
  EXPECT_LT(gap(e("ij,jk,k->i", {a, s, v}), times(a, times(s, v))), 1e-14);
  EXPECT_EQ(rows(e("ij->j", {a})), 4);
  EXPECT_EQ(error_of("einsum", {std::string("ij,jk->ik"), a, c}),
            "einsum expects one size per index, found 4 and 3 for 'j'");
  EXPECT_EQ(error_of("einsum", {std::string("ij,jk"), a, b}),
            "einsum expects an equation such as \"ij,jk->ik\", found \"ij,jk\"");
  EXPECT_EQ(error_of("einsum", {std::string("ij->ik"), a}),
            "einsum expects each index of the result in an operand, found 'k' in \"ij->ik\"");
  EXPECT_EQ(error_of("einsum", {std::string("i->i"), a}), "einsum expects a vector for index \"i\", found 3x4");
  EXPECT_EQ(error_of("einsum", {std::string("ij,jk->ik"), a}),
            "einsum expects one matrix per operand of \"ij,jk->ik\", found 1");
}

}  // namespace hopline
