// Aggregates against their definitions: dense, sparse, virtual; double and single; any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

using Cells = std::vector<double>;

double sum_of(const Cells& x) {
  long double total = 0;
  for (const double v : x) total += v;
  return static_cast<double>(total);
}
double mean_of(const Cells& x) { return sum_of(x) / static_cast<double>(x.size()); }
double variance_of(const Cells& x) {
  if (x.size() == 1) return 0;
  const double mean = mean_of(x);
  Cells squares;
  for (const double v : x) squares.push_back((v - mean) * (v - mean));
  return sum_of(squares) / static_cast<double>(x.size() - 1);
}
double fold_of(const Cells& x, const std::function<double(double, double)>& f) {
  double out = x[0];
  for (size_t i = 1; i < x.size(); ++i) out = std::isnan(out) ? out : std::isnan(x[i]) ? x[i] : f(out, x[i]);
  return out;
}

struct Definition {
  std::string all, rows, columns;
  std::function<double(const Cells&)> of;
};

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> kAll = {
      {"sum", "rowSums", "colSums", sum_of},
      {"mean", "rowMeans", "colMeans", mean_of},
      {"var", "rowVars", "colVars", variance_of},
      {"sd", "rowSds", "colSds", [](const Cells& x) { return std::sqrt(variance_of(x)); }},
      {"min", "rowMins", "colMins",
       [](const Cells& x) { return fold_of(x, [](double a, double b) { return a < b ? a : b; }); }},
      {"max", "rowMaxs", "colMaxs",
       [](const Cells& x) { return fold_of(x, [](double a, double b) { return a > b ? a : b; }); }},
      {"prod", "rowProds", "colProds",
       [](const Cells& x) { return fold_of(x, [](double a, double b) { return a * b; }); }},
  };
  return kAll;
}

Cells make_cells(int64_t rows, int64_t cols, bool sparse, double special) {
  Cells out(static_cast<size_t>(rows * cols));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = sparse && i % 5 != 0 ? 0 : std::sin(static_cast<double>(i) * 1.7 + 0.3) * 2 + 0.5;
  if (special != 0 && out.size() > 3) out[3] = special;
  return out;
}

void expect_close(double found, double expected, const std::string& what) {
  if (std::isnan(expected) || std::isinf(expected)) {
    EXPECT_EQ(std::isnan(found), std::isnan(expected)) << what;
    EXPECT_TRUE(std::isnan(expected) || found == expected) << what;
    return;
  }
  EXPECT_NEAR(found, expected, 1e-12 * (1 + std::fabs(expected))) << what;
}

void compare(int64_t rows, int64_t cols, bool sparse, double special) {
  OpTest test;
  const Cells cells = make_cells(rows, cols, sparse, special);
  auto block = new_dense<double>(test.ctx, rows, cols);
  std::copy(cells.begin(), cells.end(), block->dense<double>());
  const MatrixRef dense = std::move(block);
  const Value x = sparse ? to_sparse<double>(test.ctx, dense) : dense;
  for (const Definition& d : definitions()) {
    const std::string what =
        d.all + " of " + std::to_string(rows) + "x" + std::to_string(cols) + (sparse ? " sparse" : "");
    expect_close(std::get<double>(test.run(d.all, {x})), d.of(cells), what);
    const Cells by_row = test.cells(test.run(d.rows, {x})), by_column = test.cells(test.run(d.columns, {x}));
    for (int64_t r = 0; r < rows; ++r)
      expect_close(by_row[static_cast<size_t>(r)], d.of({cells.begin() + r * cols, cells.begin() + (r + 1) * cols}),
                   what + " row");
    for (int64_t c = 0; c < cols; ++c) {
      Cells column;
      for (int64_t r = 0; r < rows; ++r) column.push_back(cells[static_cast<size_t>(r * cols + c)]);
      expect_close(by_column[static_cast<size_t>(c)], d.of(column), what + " column");
    }
  }
}

}  // namespace

TEST(Aggregate, AgreesWithTheDefinition) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 9}, {9, 1}, {3, 5}, {40, 33}, {700, 130}})
    for (const bool sparse : {false, true})
      for (const double special :
           {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        compare(rows, cols, sparse, special);
}

TEST(Aggregate, GivesTheSameBitsForAnyNumberOfThreads) {
  OpTest test;
  const Cells cells = make_cells(3000, 70, false, 0);
  auto block = new_dense<double>(test.ctx, 3000, 70);
  std::copy(cells.begin(), cells.end(), block->dense<double>());
  const Value x = MatrixRef(std::move(block));
  for (const char* name : {"sum", "var", "rowSums", "colSums", "colVars"}) {
    test.ctx.threads = 1;
    const Value one = test.run(name, {x});
    test.ctx.threads = 4;
    const Value four = test.run(name, {x});
    if (const auto* d = std::get_if<double>(&one)) {
      EXPECT_EQ(*d, std::get<double>(four)) << name;
    } else {
      EXPECT_EQ(test.cells(one), test.cells(four)) << name;
    }
  }
}

TEST(Aggregate, OfNothing) {
  OpTest test;
  const Value x = test.dense(0, 3, {});
  EXPECT_EQ(std::get<double>(test.run("sum", {x})), 0);
  EXPECT_EQ(std::get<double>(test.run("prod", {x})), 1);
  EXPECT_EQ(std::get<double>(test.run("min", {x})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(std::get<double>(test.run("max", {x})), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(std::get<double>(test.run("mean", {x}))));
  EXPECT_TRUE(std::isnan(std::get<double>(test.run("var", {x}))));
  EXPECT_EQ(test.cells(test.run("colSums", {x})), Cells(3, 0.0));
}

}  // namespace hopline
