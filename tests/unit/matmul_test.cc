#include <gtest/gtest.h>

#include <memory>

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/exec/session.h"
#include "runtime/ops/blas.h"
#include "runtime/ops/blas_loops.h"
#include "runtime/ops/matmul.h"
#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

// Small whole multiples of 1/8, so that sums in double are exact in any order.
template <class T>
MatrixRef filled(Context& ctx, int64_t rows, int64_t cols, double density, uint64_t salt) {
  auto m = new_dense<T>(ctx, rows, cols);
  T* cells = m->template dense<T>();
  uint64_t state = salt * 0x9E3779B97F4A7C15u + 12345;
  for (int64_t i = 0; i < rows * cols; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const bool keep = static_cast<double>(state >> 40) < density * (1 << 24);
    cells[i] = keep ? static_cast<T>(static_cast<int64_t>(state >> 33 & 31) - 16) / 8 : T{0};
  }
  return m;
}

enum class Format { dense, sparse, constant, sequence, draw, sparse_draw };

template <class T>
MatrixRef make(Context& ctx, Format format, int64_t rows, int64_t cols, uint64_t salt) {
  switch (format) {
    case Format::dense:
      return filled<T>(ctx, rows, cols, 0.9, salt);
    case Format::sparse:
      return to_sparse<T>(ctx, filled<T>(ctx, rows, cols, 0.1, salt));
    case Format::constant:
      return new_constant(ctx, rows, cols, 1.5);
    case Format::sequence:
      return new_virtual(ctx, rows, cols, Sequence{2, 0.5, rows == 1 && cols > 1});
    case Format::draw:
    case Format::sparse_draw: {
      Random r;
      r.low = -1, r.key = salt, r.sparsity = format == Format::draw ? 1 : 0.2;
      return new_virtual(ctx, rows, cols, r);
    }
  }
  return nullptr;
}

template <class T>
std::vector<double> cells_of(Context& ctx, const MatrixRef& m) {
  const MatrixRef d = to_dense<T>(ctx, m);
  return {d->template dense<T>(), d->template dense<T>() + d->cells()};
}

template <class T>
std::vector<double> naive(Context& ctx, const MatrixRef& a, const MatrixRef& b, bool ta, bool tb) {
  const std::vector<double> x = cells_of<T>(ctx, a), y = cells_of<T>(ctx, b);
  const int64_t m = ta ? a->cols() : a->rows(), k = ta ? a->rows() : a->cols(), n = tb ? b->rows() : b->cols();
  std::vector<double> c(static_cast<size_t>(m * n), 0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        c[i * n + j] += x[ta ? p * a->cols() + i : i * a->cols() + p] * y[tb ? j * b->cols() + p : p * b->cols() + j];
  return c;
}

template <class T>
void expect_near(const std::vector<double>& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], (sizeof(T) == 8 ? 1e-11 : 1e-4) * (1 + std::fabs(want[i]))) << what << " cell " << i;
}

MatrixRef product(OpTest& t, const char* name, const MatrixRef& a, const MatrixRef& b) {
  return std::get<MatrixRef>(t.run(name, {a, b}));
}
MatrixRef gram(OpTest& t, const char* name, const MatrixRef& a) { return std::get<MatrixRef>(t.run(name, {a})); }

template <class T>
void check_forms(OpTest& t, Format fa, Format fb, int64_t m, int64_t k, int64_t n) {
  if ((fa == Format::sequence && m != 1 && k != 1) || (fb == Format::sequence && k != 1 && n != 1)) return;
  const auto what = [&](const char* op) {
    return fmt::format("{} {}x{}x{} formats {} {}", op, m, k, n, static_cast<int>(fa), static_cast<int>(fb));
  };
  const MatrixRef a = make<T>(t.ctx, fa, m, k, 1), b = make<T>(t.ctx, fb, k, n, 2);
  expect_near<T>(cells_of<T>(t.ctx, product(t, "%*%", a, b)), naive<T>(t.ctx, a, b, false, false), what("%*%"));
  const MatrixRef at = make<T>(t.ctx, fa, k, m, 3), bt = make<T>(t.ctx, fb, n, k, 4);
  expect_near<T>(cells_of<T>(t.ctx, product(t, "tmm", at, b)), naive<T>(t.ctx, at, b, true, false), what("tmm"));
  expect_near<T>(cells_of<T>(t.ctx, product(t, "mmt", a, bt)), naive<T>(t.ctx, a, bt, false, true), what("mmt"));
  expect_near<T>(cells_of<T>(t.ctx, gram(t, "tsmm", a)), naive<T>(t.ctx, a, a, true, false), what("tsmm"));
  expect_near<T>(cells_of<T>(t.ctx, gram(t, "tsmmr", a)), naive<T>(t.ctx, a, a, false, true), what("tsmmr"));
}

constexpr Format kFormats[] = {Format::dense,    Format::sparse, Format::constant,
                               Format::sequence, Format::draw,   Format::sparse_draw};

template <class T>
void check_small_shapes() {
  OpTest t;
  t.ctx.precision = precision_of<T>;
  for (const auto& [m, k, n] : std::initializer_list<std::array<int64_t, 3>>{{1, 1, 1},
                                                                             {1, 7, 1},
                                                                             {3, 1, 5},
                                                                             {1, 9, 33},
                                                                             {17, 9, 1},
                                                                             {2, 3, 4},
                                                                             {10, 10, 10},
                                                                             {5, 40, 13},
                                                                             {33, 2, 70},
                                                                             {64, 64, 64},
                                                                             {4, 150, 100},
                                                                             {50, 70, 90},
                                                                             {120, 30, 16},
                                                                             {3, 90, 300}})
    for (Format fa : kFormats)
      for (Format fb : kFormats) check_forms<T>(t, fa, fb, m, k, n);
}

// Fixed borders: one and two threads, and twice in a row, must give the same bits.
template <class T>
void check_threads(int64_t m, int64_t k, int64_t n, Format fa, Format fb) {
  OpTest one, two;
  one.ctx.threads = 1, two.ctx.threads = 4;
  one.ctx.precision = two.ctx.precision = precision_of<T>;
  const auto uneven = [&](Context& ctx, Format f, int64_t rows, int64_t cols, uint64_t salt) {
    const MatrixRef whole = filled<T>(ctx, rows, cols, f == Format::dense ? 0.9 : 0.1, salt);
    T* cells = const_cast<MatrixBlock&>(*whole).template dense<T>();
    for (int64_t i = 0; i < whole->cells(); ++i) cells[i] = std::sin(cells[i] * static_cast<T>(1 + i % 97));
    return f == Format::dense ? whole : to_sparse<T>(ctx, whole);
  };
  const auto run = [&](OpTest& t, const std::string& name) {
    const bool at = name == "tmm", bt = name == "mmt";
    const MatrixRef a = at ? uneven(t.ctx, fa, k, m, 7) : uneven(t.ctx, fa, m, k, 7);
    if (name == "tsmm" || name == "tsmmr") return gram(t, name.c_str(), a);
    return product(t, name.c_str(), a, bt ? uneven(t.ctx, fb, n, k, 8) : uneven(t.ctx, fb, k, n, 8));
  };
  for (const std::string name : {"%*%", "tmm", "mmt", "tsmm", "tsmmr"}) {
    if ((name == "tsmm" ? k : name == "tsmmr" ? m : 0) > 1000) continue;  // the result would be large
    const std::vector<double> x = cells_of<T>(one.ctx, run(one, name)), y = cells_of<T>(two.ctx, run(two, name));
    ASSERT_EQ(x.size(), y.size());
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(double)), 0)
        << name << " " << m << "x" << k << "x" << n;
  }
}

}  // namespace

TEST(Matmul, MatchesTheDefinitionInDouble) { check_small_shapes<double>(); }
TEST(Matmul, MatchesTheDefinitionInSingle) { check_small_shapes<float>(); }

TEST(Matmul, CutsLargeProductsRight) {
  OpTest t;
  for (const auto& [m, k, n] : std::initializer_list<std::array<int64_t, 3>>{{300, 200, 170},
                                                                             {1000, 130, 900},
                                                                             {40, 5000, 30},
                                                                             {9000, 20, 3},
                                                                             {2, 9000, 300},
                                                                             {1, 70000, 40},
                                                                             {3, 90000, 1}})
    for (Format f : {Format::dense, Format::sparse}) {
      const MatrixRef a = make<double>(t.ctx, f, m, k, 1), b = make<double>(t.ctx, f, k, n, 2);
      expect_near<double>(cells_of<double>(t.ctx, product(t, "%*%", a, b)), naive<double>(t.ctx, a, b, false, false),
                          fmt::format("%*% {}x{}x{}", m, k, n));
    }
  for (const auto& [rows, cols, n] : std::initializer_list<std::array<int64_t, 3>>{
           {9000, 60, 1}, {9000, 60, 5}, {9000, 40, 24}, {5000, 60, 20}, {100, 300, 20}}) {
    for (Format f : {Format::dense, Format::sparse}) {
      const MatrixRef x = make<double>(t.ctx, f, rows, cols, 1), y = make<double>(t.ctx, Format::dense, rows, n, 2);
      expect_near<double>(cells_of<double>(t.ctx, product(t, "tmm", x, y)), naive<double>(t.ctx, x, y, true, false),
                          fmt::format("tmm {}x{} {}", rows, cols, n));
      expect_near<double>(cells_of<double>(t.ctx, gram(t, "tsmm", x)), naive<double>(t.ctx, x, x, true, false),
                          fmt::format("tsmm {}x{}", rows, cols));
    }
  }
}

TEST(Matmul, GivesTheSameBitsForAnyNumberOfThreads) {
  check_threads<double>(400, 300, 300, Format::dense, Format::dense);
  check_threads<double>(100, 5000, 60, Format::dense, Format::dense);
  check_threads<double>(100, 5000, 5, Format::dense, Format::dense);
  check_threads<double>(100, 9000, 1, Format::dense, Format::dense);
  check_threads<double>(1, 9000, 100, Format::dense, Format::dense);
  check_threads<double>(3, 9000, 100, Format::dense, Format::dense);
  check_threads<double>(100, 9000, 50, Format::sparse, Format::dense);
  check_threads<double>(200, 500, 300, Format::dense, Format::sparse);
  check_threads<double>(300, 600, 300, Format::sparse, Format::sparse);
  check_threads<double>(1, 12000, 300, Format::dense, Format::sparse);
  check_threads<float>(100, 5000, 100, Format::dense, Format::dense);
}

TEST(Matmul, KeepsTheSumTreeWhateverTheGrouping) {
  OpTest t;
  for (int64_t leaves : {1, 2, 3, 5, 8, 13, 100}) {
    std::vector<double> want;
    for (int threads : {1, 2, 3, 8}) {
      std::vector<double> c(12);
      tree_sum<double>(t.ctx, {}, {3, 4, 2, 2, leaves}, c.data(), 4, threads,
                       [](const Tile& tile, int64_t leaf, double* out, int64_t ld) {
                         for (int64_t i = tile.row_begin; i < tile.row_end; ++i)
                           for (int64_t j = tile.col_begin; j < tile.col_end; ++j)
                             out[(i - tile.row_begin) * ld + j - tile.col_begin] =
                                 std::sin(static_cast<double>(leaf * 12 + i * 4 + j));
                       });
      if (want.empty()) want = c;
      EXPECT_EQ(want, c) << leaves << " leaves, " << threads << " threads";
    }
  }
}

TEST(Matmul, GivesZerosWhereTheInnerDimensionIsEmpty) {
  OpTest t;
  const MatrixRef a = new_constant(t.ctx, 2, 0, 0), b = new_constant(t.ctx, 0, 3, 0);
  const MatrixRef c = product(t, "%*%", a, b);
  EXPECT_EQ(c->rows(), 2);
  EXPECT_EQ(c->cols(), 3);
  EXPECT_EQ(t.cells(c), std::vector<double>(6, 0));
  const MatrixRef d = product(t, "%*%", new_dense<double>(t.ctx, 0, 5), filled<double>(t.ctx, 5, 4, 1, 1));
  EXPECT_EQ(d->rows(), 0);
  EXPECT_EQ(d->cols(), 4);
  const MatrixRef z = new_zeros(t.ctx, 3, 2);
  EXPECT_EQ(t.cells(gram(t, "tsmmr", z)), std::vector<double>(9, 0));
}

TEST(Matmul, FollowsIeeeInDenseProducts) {
  OpTest t;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> c = t.cells(t.run("%*%", {t.dense(2, 2, {0, 1, 1, 1}), t.dense(2, 2, {inf, 2, 3, nan})}));
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_TRUE(std::isnan(c[1]));
  EXPECT_EQ(c[2], inf);
  EXPECT_TRUE(std::isnan(c[3]));
  auto big = std::const_pointer_cast<MatrixBlock>(filled<double>(t.ctx, 200, 200, 1, 3));
  big->dense<double>()[200 * 17 + 5] = nan;
  const std::vector<double> g = t.cells(product(t, "%*%", MatrixRef(big), filled<double>(t.ctx, 200, 200, 0.5, 4)));
  for (int j = 0; j < 200; ++j) EXPECT_TRUE(std::isnan(g[200 * 17 + j]));
  EXPECT_FALSE(std::isnan(g[0]));
}

TEST(Matmul, StopsWhenTheRunIsCancelled) {
  struct Stopped : Session {
    void print(std::string_view) override {}
    uint64_t draw_key(const Span&) override { return 0; }
    uint64_t seed() const override { return 0; }
    std::unique_ptr<Session> task() override { return nullptr; }
  };
  OpTest t;
  Stopped session;
  const MatrixRef a = filled<double>(t.ctx, 300, 300, 1, 1),
                  s = to_sparse<double>(t.ctx, filled<double>(t.ctx, 300, 300, 0.1, 1));
  session.cancel();
  t.ctx.session = &session;
  for (const MatrixRef& x : {a, s})
    for (const MatrixRef& y : {a, s}) {
      EXPECT_THROW(product(t, "%*%", x, y), Error);
      EXPECT_THROW(product(t, "mmt", x, y), Error);
    }
  EXPECT_THROW(gram(t, "tsmm", a), Error);
  EXPECT_THROW(gram(t, "tsmm", s), Error);
  EXPECT_THROW(t.run("solve", {a, a}), Error);
}

TEST(Matmul, RefusesUnequalInnerSizes) {
  OpTest t;
  try {
    t.run("%*%", {t.dense(2, 3, {1, 2, 3, 4, 5, 6}), t.dense(2, 3, {1, 2, 3, 4, 5, 6})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "invalid dimensions for matrix multiplication: expected ncol(left) = nrow(right), found "
                 "2x3 %*% 2x3");
  }
  EXPECT_THROW(t.run("tmm", {t.dense(2, 1, {1, 2}), t.dense(1, 2, {1, 2})}), Error);
}

TEST(Matmul, SelectsRowsSparsely) {
  OpTest t;
  // A selection of two of five rows, as table(seq(1,2), v, 2, 5).
  const Value pick = t.sparse(2, 5, {0, 0, 0, 1, 0, 0, 1, 0, 0, 0});
  const Value x = t.dense(5, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(t.cells(t.run("%*%", {pick, x})), (std::vector<double>{7, 8, 3, 4}));
  const Value many = t.sparse(6, 2, {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  const Value spread = t.run("%*%", {many, t.dense(2, 2, {1, 2, 3, 0})});
  EXPECT_EQ(t.cells(spread), (std::vector<double>{0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(std::get<MatrixRef>(spread)->is_sparse());
  EXPECT_EQ(std::get<MatrixRef>(spread)->nnz_if_known(), 1);
}

TEST(Matmul, DropsCellsThatCancel) {
  OpTest t;
  const Value a = t.sparse(3, 3, {1, 1, 0, 0, 0, 0, 0, 0, 0}), b = t.sparse(3, 3, {2, 0, 0, -2, 5, 0, 0, 0, 0});
  const MatrixRef c = std::get<MatrixRef>(t.run("%*%", {a, b}));
  EXPECT_EQ(t.cells(c), (std::vector<double>{0, 5, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(c->nnz_if_known(), 1);
}

TEST(Matmul, MultipliesMatricesWithMoreColumnsThan32Bits) {
  OpTest t;
  const int64_t wide = int64_t{5} << 30;
  auto a = new_sparse<double>(t.ctx, 2, wide, 2);
  Csr& s = a->csr();
  const int64_t offsets[] = {0, 1, 2}, columns[] = {3, wide - 1};
  const double values[] = {2, 4};
  std::copy(offsets, offsets + 3, s.offsets.as<int64_t>());
  std::copy(columns, columns + 2, s.columns.as<int64_t>());
  std::copy(values, values + 2, s.values.as<double>());
  const MatrixRef m = a;
  EXPECT_EQ(t.cells(gram(t, "tsmmr", m)), (std::vector<double>{4, 0, 0, 16}));
  const MatrixRef right = product(t, "%*%", to_sparse<double>(t.ctx, filled<double>(t.ctx, 1, 2, 1, 5)), m);
  EXPECT_EQ(right->cols(), wide);
  EXPECT_EQ(right->nnz_if_known(), 2);
}

TEST(Matmul, MultipliesSparseMatricesOfManyColumns) {
  OpTest t;
  const int64_t n = 10'000'000;
  auto b = new_sparse<double>(t.ctx, 3, n, 4);
  Csr& s = b->csr();
  const int64_t offsets[] = {0, 2, 3, 4};
  const int32_t columns[] = {5, 9'999'999, 5, 7};
  const double values[] = {1, 2, 3, 4};
  std::copy(offsets, offsets + 4, s.offsets.as<int64_t>());
  std::copy(columns, columns + 4, s.columns.as<int32_t>());
  std::copy(values, values + 4, s.values.as<double>());
  const MatrixRef c = std::get<MatrixRef>(t.run("%*%", {t.sparse(2, 3, {1, 1, 0, 0, 1, 1}), MatrixRef(b)}));
  ASSERT_TRUE(c->is_sparse());
  EXPECT_EQ(c->nnz_if_known(), 4);
  EXPECT_EQ(c->csr().values.as<double>()[0], 4);
  EXPECT_EQ(c->csr().values.as<double>()[1], 2);
  EXPECT_EQ(c->csr().values.as<double>()[2], 3);
  EXPECT_EQ(c->csr().values.as<double>()[3], 4);
}

TEST(Blas, BuiltInLoopsAgreeWithTheLibrary) {
  const Blas<double>&library = blas<double>(), &own = loops<double>();
  std::vector<double> a(900), b(900), base(900);
  for (size_t i = 0; i < 900; ++i)
    a[i] = std::sin(i * 1.7), b[i] = std::cos(0.7 * static_cast<double>(i) * static_cast<double>(i)),
    base[i] = std::sin(i * 0.3);
  for (int i = 0; i < 30; ++i) a[i * 31] += 40;
  using enum BlasTranspose;
  for (BlasOrder order : {BlasOrder::row_major, BlasOrder::column_major})
    for (BlasTranspose t : {no, yes})
      for (BlasTriangle triangle : {BlasTriangle::upper, BlasTriangle::lower})
        for (BlasSide side : {BlasSide::left, BlasSide::right})
          for (BlasDiagonal diagonal : {BlasDiagonal::unit, BlasDiagonal::stored}) {
            std::vector<double> x = base, y = base;
            std::vector<double> m = a;
            if (diagonal == BlasDiagonal::unit)
              for (double& v : m) v /= 100;
            library.trsm(order, side, triangle, t, diagonal, 30, 20, 2, m.data(), 30, x.data(), 30);
            own.trsm(order, side, triangle, t, diagonal, 30, 20, 2, m.data(), 30, y.data(), 30);
            for (size_t i = 0; i < 900; ++i) ASSERT_NEAR(x[i], y[i], 1e-9) << i;
            x = base, y = base;
            library.syrk(order, triangle, t, 20, 25, 2, a.data(), 30, 0.5, x.data(), 30);
            own.syrk(order, triangle, t, 20, 25, 2, a.data(), 30, 0.5, y.data(), 30);
            for (size_t i = 0; i < 900; ++i) ASSERT_NEAR(x[i], y[i], 1e-9) << i;
          }
  std::vector<double> x = b, y = b;
  std::vector<int> px(30), py(30);
  int n = 30, info = 0;
  library.getrf(&n, &n, x.data(), &n, px.data(), &info);
  own.getrf(&n, &n, y.data(), &n, py.data(), &info);
  EXPECT_EQ(px, py);
  for (size_t i = 0; i < 900; ++i) ASSERT_NEAR(x[i], y[i], 1e-7) << i;
}

}  // namespace hopline
