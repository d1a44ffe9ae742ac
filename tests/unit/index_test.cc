#include <cmath>

#include "runtime/data/growing_rows.h"
#include "tests/unit/store_testing.h"

namespace hopline {

namespace {

using Cells = std::vector<double>;

double cell(int64_t r, int64_t c) { return (r * 7 + c * 3) % 4 == 0 ? 0 : static_cast<double>(r * 100 + c + 1); }

// X[r1:r2, c1:c2]; 0 leaves a dimension out.
std::vector<Value> bounds(int64_t r1, int64_t r2, int64_t c1, int64_t c2) {
  std::vector<Value> out(4);
  if (r1 != 0) out[0] = r1, out[1] = r2;
  if (c1 != 0) out[2] = c1, out[3] = c2;
  return out;
}

struct Indexing : StoreTest {
  using StoreTest::StoreTest;
  std::vector<Value> with(const Value& x, const std::vector<Value>& at) {
    std::vector<Value> in{x};
    in.insert(in.end(), at.begin(), at.end());
    return in;
  }
  Value right(const Value& x, int64_t r1, int64_t r2, int64_t c1, int64_t c2) {
    return run("[]", with(x, bounds(r1, r2, c1, c2)));
  }
  Value left(const Value& x, const Value& value, int64_t r1, int64_t r2, int64_t c1, int64_t c2) {
    std::vector<Value> in{x, value};
    for (const Value& b : bounds(r1, r2, c1, c2)) in.push_back(b);
    return run("[]=", std::move(in));
  }
  // x[...] = value as an instruction that reads x last.
  void write(Value& x, const Value& value, int64_t r1, int64_t r2, int64_t c1, int64_t c2) {
    std::vector<Value> in;
    in.push_back(std::move(x));
    in.push_back(value);
    for (const Value& b : bounds(r1, r2, c1, c2)) in.push_back(b);
    x = run_last("[]=", std::move(in), 1);
  }
  std::string left_error(const Value& x, const Value& value, int64_t r1, int64_t r2, int64_t c1, int64_t c2) {
    std::vector<Value> in{x, value};
    for (const Value& b : bounds(r1, r2, c1, c2)) in.push_back(b);
    return error("[]=", std::move(in));
  }
  const void* data(const Value& x) {
    return ctx.precision == Precision::f64 ? static_cast<const void*>(block(x).dense<double>())
                                           : static_cast<const void*>(block(x).dense<float>());
  }
};

}  // namespace

TEST(RightIndex, EveryFormOnEveryStore) {
  for (Precision p : precisions()) {
    Indexing t(p);
    const int64_t rows = 6, cols = 9;
    std::vector<Value> stores = t.stores(rows, cols, cell);
    stores.push_back(t.compressed(stores[0]));
    const auto grows = std::const_pointer_cast<MatrixBlock>(std::get<MatrixRef>(stores.back()));
    for (const Value& x : stores)
      for (int64_t r1 = 0; r1 <= rows; ++r1)
        for (int64_t r2 = r1; r2 <= (r1 == 0 ? 0 : rows); ++r2)
          for (int64_t c1 = 0; c1 <= cols; ++c1)
            for (int64_t c2 = c1; c2 <= (c1 == 0 ? 0 : cols); ++c2) {
              grows->grow(t.memory);
              const Value y = t.right(x, r1, r2, c1, c2);
              const int64_t top = r1 == 0 ? 1 : r1, left = c1 == 0 ? 1 : c1;
              const Value expected = t.dense(r1 == 0 ? rows : r2 - r1 + 1, c1 == 0 ? cols : c2 - c1 + 1,
                                             [&](int64_t r, int64_t c) { return cell(top - 1 + r, left - 1 + c); });
              ASSERT_EQ(t.shape(y), t.shape(expected));
              ASSERT_EQ(t.cells(y), t.cells(expected)) << r1 << ":" << r2 << "," << c1 << ":" << c2;
              if (t.block(y).is_sparse()) check_csr(t.block(y));
            }
  }
}

TEST(RightIndex, VirtualBlocks) {
  Indexing t;
  EXPECT_TRUE(t.block(t.right(new_constant(t.ctx, 5, 5, 3), 2, 3, 1, 4)).is_virtual());
  const Value s = t.right(new_virtual(t.ctx, 10, 1, Sequence{5, -2, false}), 3, 6, 0, 0);
  EXPECT_TRUE(t.block(s).is_virtual());
  EXPECT_EQ(t.cells(s), (Cells{1, -1, -3, -5}));
  const MatrixRef tenths = new_virtual(t.ctx, 100, 1, Sequence{0, 0.1, false});
  const Cells all = t.cells(tenths);
  EXPECT_EQ(t.cells(t.right(tenths, 51, 90, 0, 0)), Cells(all.begin() + 50, all.begin() + 90));
  EXPECT_EQ(t.cells(t.right(new_virtual(t.ctx, 1, 10, Sequence{1, 1, true}), 0, 0, 4, 5)), (Cells{4, 5}));
  for (double sparsity : {1.0, 0.1}) {
    const MatrixRef r = new_virtual(t.ctx, 20, 30, Random{Distribution::normal, 0, 1, 1, sparsity, 3, 0});
    const Value d = to_dense<double>(t.ctx, r);
    for (const auto& [r1, r2, c1, c2] :
         std::vector<std::array<int64_t, 4>>{{3, 9, 0, 0}, {0, 0, 4, 7}, {2, 5, 9, 30}, {7, 7, 7, 7}})
      EXPECT_EQ(t.cells(t.right(r, r1, r2, c1, c2)), t.cells(t.right(d, r1, r2, c1, c2)));
    EXPECT_EQ(t.block(t.right(r, 3, 19, 0, 0)).is_sparse(), sparsity < 1);
  }
}

TEST(RightIndex, TheWholeMatrixIsNotCopied) {
  Indexing t;
  const Value x = t.dense(3, 4, cell);
  EXPECT_EQ(std::get<MatrixRef>(t.right(x, 0, 0, 0, 0)), std::get<MatrixRef>(x));
  EXPECT_EQ(std::get<MatrixRef>(t.right(x, 1, 3, 1, 4)), std::get<MatrixRef>(x));
  EXPECT_EQ(t.shape(t.right(t.dense(0, 4, cell), 0, 0, 0, 0)), "0x4");
  EXPECT_EQ(t.shape(t.right(t.dense(0, 4, cell), 0, 0, 2, 3)), "0x2");
  EXPECT_EQ(t.shape(t.right(t.compressed(t.dense(0, 4, cell)), 0, 0, 2, 3)), "0x2");
}

TEST(RightIndex, BoundsAreCastAndChecked) {
  Indexing t;
  const Value x = t.dense(3, 3, cell);
  EXPECT_EQ(t.cells(t.run("[]", {x, 2.9, 2.9, {}, {}})), t.cells(t.right(x, 2, 2, 0, 0)));
  const auto error = [&](std::vector<Value> at) { return t.error("[]", t.with(x, at)); };
  EXPECT_EQ(
      error(bounds(2, 4, 0, 0)),
      "Invalid values for matrix indexing: rows must be within matrix dimensions, expected 1 <= low <= high <= 3, "
      "found 2:4");
  EXPECT_NE(error({0.0, 1.0, {}, {}}), "");
  EXPECT_NE(error({-1.0, 1.0, {}, {}}), "");
  EXPECT_NE(error(bounds(3, 2, 0, 0)), "");
  EXPECT_NE(error(bounds(3, 1, 0, 0)), "");
  EXPECT_NE(error(bounds(1, 1, 4, 4)), "");
  EXPECT_NE(error({NAN, NAN, {}, {}}), "");
  EXPECT_NE(error({1.0, INFINITY, {}, {}}), "");
  EXPECT_EQ(error({std::string("a"), std::string("a"), {}, {}}), "wrong matrix index: expected a number, found string");
}

TEST(LeftIndex, EveryTargetTakesEveryValue) {
  for (Precision p : precisions()) {
    Indexing t(p);
    const int64_t rows = 5, cols = 8;
    const auto old = [](int64_t r, int64_t c) { return cell(r, c); };
    const std::vector<Value> values = [&] {
      std::vector<Value> v = t.stores(2, 3, Cells{0, -1, 0, -2, 0, -3});
      v.push_back(new_constant(t.ctx, 2, 3, 4));
      v.push_back(new_virtual(t.ctx, 2, 3, Random{Distribution::normal, 0, 1, 1, 0.4, 3, 0}));
      return v;
    }();
    std::vector<Value> targets = t.stores(rows, cols, old);
    targets.push_back(new_zeros(t.ctx, rows, cols));
    targets.push_back(new_constant(t.ctx, rows, cols, 2));
    targets.push_back(new_virtual(t.ctx, rows, cols, Random{Distribution::uniform, 0, 1, 1, 0.2, 3, 0}));
    Value growing = t.compressed(targets[0]);
    std::const_pointer_cast<MatrixBlock>(std::get<MatrixRef>(growing))->grow(t.memory);
    targets.push_back(growing);
    for (const Value& x : targets)
      for (const Value& v : values)
        for (int64_t r = 1; r + 1 <= rows; ++r)
          for (int64_t c = 1; c + 2 <= cols; ++c) {
            Cells expected = t.cells(x);
            const Cells written = t.cells(v);
            for (int64_t i = 0; i < 6; ++i)
              expected[static_cast<size_t>((r - 1 + i / 3) * cols + c - 1 + i % 3)] = written[static_cast<size_t>(i)];
            const Cells before = t.cells(x);
            const Value y = t.left(x, v, r, r + 1, c, c + 2);
            ASSERT_EQ(t.cells(y), expected);
            ASSERT_EQ(t.cells(x), before);
          }
  }
}

TEST(LeftIndex, ScalarsIntoOneCell) {
  Indexing t;
  for (const Value& x : t.stores(2, 3, Cells{1, 0, 3, 0, 5, 6})) {
    EXPECT_EQ(t.cells(t.left(x, 9.5, 2, 2, 1, 1)), (Cells{1, 0, 3, 9.5, 5, 6}));
    EXPECT_EQ(t.cells(t.left(x, int64_t{9}, 1, 1, 3, 3)), (Cells{1, 0, 9, 0, 5, 6}));
    EXPECT_EQ(t.cells(t.left(x, true, 1, 1, 2, 2)), (Cells{1, 1, 3, 0, 5, 6}));
    EXPECT_EQ(t.cells(t.left(x, false, 1, 1, 1, 1)), (Cells{0, 0, 3, 0, 5, 6}));
    EXPECT_EQ(t.cells(t.left(x, t.dense(1, 1, Cells{8}), 1, 1, 1, 1)), (Cells{8, 0, 3, 0, 5, 6}));
  }
  EXPECT_EQ(t.cells(t.left(t.dense(1, 1, Cells{4}), 5.0, 0, 0, 0, 0)), (Cells{5}));
}

TEST(LeftIndex, ReportsWrongValuesAndPlaces) {
  Indexing t;
  const Value x = t.dense(4, 4, cell);
  EXPECT_EQ(t.left_error(x, t.dense(2, 2, cell), 1, 2, 1, 3),
            "Invalid sizes for left indexing: expected a matrix of 2x3, found 2x2");
  EXPECT_EQ(t.left_error(x, 5.0, 1, 2, 1, 1),
            "Invalid index range of scalar leftindexing: expected a single cell, found 2x1");
  EXPECT_EQ(t.left_error(x, std::string("a"), 1, 1, 1, 1),
            "Invalid value for left indexing: expected a matrix or a number, found string");
  EXPECT_EQ(t.left_error(x, t.run("list", {1.0}), 1, 1, 1, 1),
            "Invalid value for left indexing: expected a matrix or a number, found list");
  EXPECT_EQ(
      t.left_error(x, 5.0, 5, 5, 1, 1),
      "Invalid values for matrix indexing: rows must be within matrix dimensions, expected 1 <= low <= high <= 4, "
      "found 5:5");
  EXPECT_NE(t.left_error(x, t.dense(1, 4, cell), 4, 3, 0, 0), "");
}

TEST(LeftIndex, OneOwnerIsWrittenInPlace) {
  for (Precision p : precisions()) {
    Indexing t(p);
    Value x = new_zeros(t.ctx, 50, 20);
    t.write(x, 1.0, 1, 1, 1, 1);
    const void* data = t.data(x);
    Cells expected(1000);
    expected[0] = 1;
    for (int64_t r = 1; r <= 50; ++r) {
      t.write(x, t.dense(1, 20, [&](int64_t, int64_t c) { return static_cast<double>(r + c); }), r, r, 0, 0);
      for (int64_t c = 0; c < 20; ++c) expected[static_cast<size_t>((r - 1) * 20 + c)] = static_cast<double>(r + c);
    }
    EXPECT_EQ(t.data(x), data);
    EXPECT_EQ(t.cells(x), expected);
    // A second owner keeps what it has.
    const Value other = x;
    t.write(x, 7.0, 3, 3, 3, 3);
    EXPECT_EQ(t.cells(other), expected);
    expected[2 * 20 + 2] = 7;
    EXPECT_EQ(t.cells(x), expected);
  }
}

TEST(LeftIndex, AllOfTheTargetIsTheValue) {
  Indexing t;
  const Value x = t.dense(2, 2, cell), v = t.dense(2, 2, Cells{1, 2, 3, 4});
  EXPECT_EQ(std::get<MatrixRef>(t.left(x, v, 0, 0, 0, 0)), std::get<MatrixRef>(v));
  // X[1:2, 1:2] = X through one slot
  Value same = t.dense(2, 2, Cells{1, 2, 3, 4});
  const Op& row = op("[]=", 6);
  std::vector<Value> at = bounds(1, 2, 1, 2);
  Value* in[] = {&same, &same, &at[0], &at[1], &at[2], &at[3]};
  Value out;
  Call call{t.ctx, row, in, {&out, 1}, ~uint32_t{0}, {}, {}};
  run_kernel(call);
  EXPECT_EQ(t.cells(out), (Cells{1, 2, 3, 4}));
  EXPECT_EQ(t.shape(t.left(t.dense(0, 3, cell), t.dense(0, 2, cell), 0, 0, 1, 2)), "0x3");
}

TEST(LeftIndex, ASparseMatrixTooLargeForDenseGrowsByRows) {
  for (Precision p : precisions()) {
    Indexing t(p);
    const int64_t rows = 100000, cols = 1000000;
    Value x = new_zeros(t.ctx, rows, cols);
    const Value v = t.compressed(t.dense(1, cols, [](int64_t, int64_t c) { return c % 200000 == 7 ? 3.0 : 0.0; }));
    for (int64_t r = 1; r <= 2000; ++r) t.write(x, v, r * 50, r * 50, 0, 0);
    EXPECT_NE(t.block(x).growing(), nullptr);
    EXPECT_EQ(t.block(x).nnz_if_known(), 10000);
    // Reading rows and cells leaves it as it is.
    EXPECT_EQ(t.block(t.right(x, 100, 100, 0, 0)).nnz_if_known(), 5);
    EXPECT_EQ(t.cells(t.right(x, 100, 100, 8, 8)), (Cells{3}));
    EXPECT_NE(t.block(x).growing(), nullptr);
    t.write(x, 5.0, 77, 77, 9, 9);
    t.write(x, 6.0, 77, 77, 3, 3);
    t.write(x, 0.0, 50, 50, 8, 8);
    t.write(x, 4.0, 100, 100, 8, 8);
    t.write(x, new_zeros(t.ctx, 1, cols), 150, 150, 0, 0);
    EXPECT_EQ(t.block(x).nnz_if_known(), 10000 + 2 - 1 - 5);
    check_csr(t.block(x));
    EXPECT_EQ(t.block(x).growing(), nullptr);
    EXPECT_EQ(t.cells(t.right(x, 77, 77, 3, 9)), (Cells{6, 0, 0, 0, 0, 0, 5}));
    EXPECT_EQ(t.cells(t.right(x, 100, 100, 8, 8)), (Cells{4}));
    // It may grow again.
    t.write(x, 1.0, 1, 1, 1, 1);
    EXPECT_NE(t.block(x).growing(), nullptr);
    check_csr(t.block(x));
  }
}

TEST(LeftIndex, ASparseTargetStaysSparseOrBecomesDense) {
  Indexing t;
  const MatrixRef large = new_virtual(t.ctx, 3000, 3000, Random{Distribution::uniform, 1, 2, 1, 0.01, 3, 0});
  Value x = to_sparse<double>(t.ctx, large);
  Cells expected = t.cells(x);
  t.write(x, 9.0, 5, 5, 5, 5);
  expected[4 * 3000 + 4] = 9;
  EXPECT_TRUE(t.block(x).is_sparse());
  EXPECT_EQ(t.cells(x), expected);
  for (int64_t r = 1; r <= 1300; ++r) t.write(x, new_constant(t.ctx, 1, 3000, 2), r, r, 0, 0);
  EXPECT_TRUE(t.block(x).is_dense());
  std::fill_n(expected.begin(), 1300 * 3000, 2);
  EXPECT_EQ(t.cells(x), expected);
  Value small = t.compressed(t.dense(10, 10, cell));
  t.write(small, 9.0, 5, 5, 5, 5);
  EXPECT_TRUE(t.block(small).is_dense());
}

TEST(LeftIndex, OverwritingWithZerosKeepsTheCount) {
  Indexing t;
  Value a = new_zeros(t.ctx, 200, 200);
  for (int64_t i = 1; i <= 10; ++i) t.write(a, static_cast<double>(i), i, i, 2 * i, 2 * i);
  Value b = new_zeros(t.ctx, 10, 200);
  t.write(b, 8.0, 8, 8, 16, 16);
  t.write(a, b, 1, 10, 0, 0);
  EXPECT_EQ(count_nnz<double>(t.ctx, t.block(a)), 1);
  t.write(a, 0.0, 8, 8, 16, 16);
  EXPECT_EQ(count_nnz<double>(t.ctx, t.block(a)), 0);
}

TEST(Index, Lists) {
  Indexing t;
  const Value l = t.run("list", {1.0, std::string("b"), t.dense(1, 2, Cells{1, 2})});
  const auto at = [&](Value low, Value high) { return t.run("[]", {l, std::move(low), std::move(high), {}, {}}); };
  EXPECT_EQ(std::get<ListRef>(at(int64_t{2}, int64_t{3}))->entries.size(), 2u);
  EXPECT_EQ(t.infer("[]", {l, int64_t{2}, int64_t{3}, {}, {}}).rows, 2);
  EXPECT_EQ(std::get<std::string>(std::get<ListRef>(at(2.0, 2.0))->entries[0]), "b");
  EXPECT_NE(t.error("[]", {l, int64_t{4}, int64_t{4}, {}, {}}), "");
  EXPECT_EQ(t.error("[]", {l, int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}}),
            "wrong list index: expected one position or name, found a row and a column");
  const Value changed = t.run("[]=", {l, 5.0, int64_t{1}, int64_t{1}, {}, {}});
  EXPECT_EQ(std::get<double>(std::get<ListRef>(changed)->entries[0]), 5);
  EXPECT_EQ(std::get<double>(std::get<ListRef>(l)->entries[0]), 1);
  Value same = l;
  const Op& row = op("[]=", 6);
  std::vector<Value> bound(4);
  bound[0] = bound[1] = int64_t{2};
  Value* in[] = {&same, &same, &bound[0], &bound[1], &bound[2], &bound[3]};
  Value out;
  Call call{t.ctx, row, in, {&out, 1}, ~uint32_t{0}, {}, {}};
  run_kernel(call);
  EXPECT_EQ(std::get<ListRef>(std::get<ListRef>(out)->entries[1])->entries.size(), 3u);
}

TEST(Index, LargeSlicesOnSeveralThreads) {
  Indexing t;
  const Value x = t.dense(1000, 700, [](int64_t r, int64_t c) { return static_cast<double>(r * 1000 + c); });
  Value one, two;
  for (int threads : {1, 2}) {
    t.ctx.threads = threads;
    Value part = t.right(x, 101, 900, 3, 650);
    Value whole = t.left(x, part, 1, 800, 53, 700);
    EXPECT_EQ(t.cells(t.right(whole, 1, 800, 53, 700)), t.cells(part));
    (threads == 1 ? one : two) = whole;
  }
  EXPECT_EQ(t.cells(one), t.cells(two));
}

}  // namespace hopline
