#include <cmath>

#include "runtime/ops/infer.h"
#include "tests/unit/store_testing.h"

namespace hopline {

namespace {

using Cells = std::vector<double>;

// Some zeros, all cells different otherwise.
double cell(int64_t r, int64_t c) { return (r * 31 + c * 17) % 5 < 3 ? 0 : static_cast<double>(r * 1000 + c + 1); }

}  // namespace

TEST(Transpose, AnyShapeStoreAndPrecision) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{{0, 0},
                                                                             {0, 3},
                                                                             {3, 0},
                                                                             {1, 1},
                                                                             {1, 7},
                                                                             {7, 1},
                                                                             {2, 3},
                                                                             {8, 8},
                                                                             {9, 11},
                                                                             {64, 64},
                                                                             {65, 130},
                                                                             {300, 70},
                                                                             {3, 1500}}) {
      const Value expected = t.dense(cols, rows, [](int64_t r, int64_t c) { return cell(c, r); });
      for (const Value& x : t.stores(rows, cols, cell)) {
        const Value y = t.run("t", {x});
        EXPECT_EQ(t.shape(y), t.shape(expected));
        EXPECT_EQ(t.cells(y), t.cells(expected)) << rows << "x" << cols;
        if (t.block(y).is_sparse()) check_csr(t.block(y));
      }
    }
  }
}

TEST(Transpose, LargeMatricesPastTheCaches) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{{1500, 1601}, {40001, 67}, {66, 40003}}) {
      const Value x =
          t.dense(rows, cols, [](int64_t r, int64_t c) { return static_cast<double>((r * 31 + c * 17) % 9973); });
      t.ctx.threads = 1;
      const Value one = t.run("t", {x});
      t.ctx.threads = 2;
      const Value two = t.run("t", {x});
      const auto cells = t.cells(x), turned = t.cells(one);
      EXPECT_EQ(turned, t.cells(two));
      for (int64_t k = 0; k < rows * cols; ++k)
        ASSERT_EQ(turned[static_cast<size_t>(k % cols * rows + k / cols)], cells[static_cast<size_t>(k)]);
    }
  }
}

TEST(Transpose, SparseOnSeveralThreads) {
  StoreTest t;
  const MatrixRef x = new_virtual(t.ctx, 3000, 500, Random{Distribution::uniform, 1, 2, 1, 0.3, 4, 0});
  const Value s = to_sparse<double>(t.ctx, x), d = to_dense<double>(t.ctx, x);
  const Value a = t.run("t", {s});
  check_csr(t.block(a));
  EXPECT_EQ(t.cells(a), t.cells(t.run("t", {d})));
}

TEST(Transpose, VectorsAreNotCopiedAndVirtualBlocksStayVirtual) {
  StoreTest t;
  Value v = t.dense(1, 500, cell);
  const double* data = t.block(v).dense<double>();
  std::vector<Value> in;
  in.push_back(std::move(v));
  const Value y = t.run_last("t", std::move(in));
  EXPECT_EQ(t.shape(y), "500x1");
  EXPECT_EQ(t.block(y).dense<double>(), data);
  EXPECT_TRUE(t.block(t.run("t", {new_constant(t.ctx, 5, 9, 2)})).is_virtual());
  const Value s = t.run("t", {new_virtual(t.ctx, 4, 1, Sequence{1, 2, false})});
  EXPECT_TRUE(t.block(s).is_virtual());
  EXPECT_EQ(t.shape(s), "1x4");
  EXPECT_EQ(t.cells(s), (Cells{1, 3, 5, 7}));
  const MatrixRef r = new_virtual(t.ctx, 20, 30, Random{Distribution::normal, 0, 1, 1, 1, 3, 0});
  EXPECT_EQ(t.cells(t.run("t", {t.run("t", {r})})), t.cells(r));
}

TEST(Reverse, RowsOfAnyStore) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    for (const auto& [rows, cols] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {1, 4}, {5, 1}, {6, 3}, {501, 200}}) {
      const Value expected = t.dense(rows, cols, [&, n = rows](int64_t r, int64_t c) { return cell(n - 1 - r, c); });
      for (const Value& x : t.stores(rows, cols, cell)) {
        EXPECT_EQ(t.cells(t.run("rev", {x})), t.cells(expected));
        EXPECT_EQ(t.shape(t.run("rev", {x})), t.shape(expected));
      }
      std::vector<Value> in;
      in.push_back(t.dense(rows, cols, cell));
      const double* data = p == Precision::f64 ? t.block(in[0]).dense<double>() : nullptr;
      const Value y = t.run_last("rev", std::move(in));
      EXPECT_EQ(t.cells(y), t.cells(expected));
      if (data != nullptr) {
        EXPECT_EQ(t.block(y).dense<double>(), data);
      }
    }
    const Value s = t.run("rev", {new_virtual(t.ctx, 5, 1, Sequence{2, 3, false})});
    EXPECT_TRUE(t.block(s).is_virtual());
    EXPECT_EQ(t.cells(s), (Cells{14, 11, 8, 5, 2}));
    const MatrixRef tenths = new_virtual(t.ctx, 11, 1, Sequence{0, 0.1, false});
    Cells back = t.cells(tenths);
    std::reverse(back.begin(), back.end());
    EXPECT_EQ(t.cells(t.run("rev", {tenths})), back);
  }
}

TEST(Roll, BothWaysAndPastTheEnd) {
  StoreTest t;
  for (const Value& x : t.stores(3, 2, Cells{1, 0, 3, 4, 0, 6})) {
    EXPECT_EQ(t.cells(t.run("roll", {x, int64_t{1}})), (Cells{0, 6, 1, 0, 3, 4}));
    EXPECT_EQ(t.cells(t.run("roll", {x, int64_t{-1}})), (Cells{3, 4, 0, 6, 1, 0}));
    EXPECT_EQ(t.cells(t.run("roll", {x, int64_t{7}})), (Cells{0, 6, 1, 0, 3, 4}));
    EXPECT_EQ(t.cells(t.run("roll", {x, int64_t{-3}})), (Cells{1, 0, 3, 4, 0, 6}));
    EXPECT_EQ(t.cells(t.run("roll", {x, std::numeric_limits<int64_t>::min()})), (Cells{0, 6, 1, 0, 3, 4}));
  }
  EXPECT_EQ(t.shape(t.run("roll", {t.dense(0, 2, Cells{}), int64_t{5}})), "0x2");
}

TEST(Diag, EveryForm) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    for (const Value& v : t.stores(3, 1, Cells{1, 0, 3})) {
      const Value d = t.run("diag", {v});
      EXPECT_EQ(t.cells(d), (Cells{1, 0, 0, 0, 0, 0, 0, 0, 3}));
      check_csr(t.block(d));
      EXPECT_EQ(t.cells(t.run("diag", {d})), (Cells{1, 0, 3}));
      EXPECT_EQ(t.infer("diag", {v}).cols, 3);
    }
    for (const Value& m : t.stores(2, 2, Cells{5, 6, 7, 0})) {
      EXPECT_EQ(t.cells(t.run("diag", {m})), (Cells{5, 0}));
      EXPECT_EQ(t.shape(t.run("diag", {m})), "2x1");
    }
    EXPECT_EQ(t.shape(t.run("diag", {new_zeros(t.ctx, 4, 1)})), "4x4");
    EXPECT_EQ(t.shape(t.run("diag", {new_zeros(t.ctx, 4, 4)})), "4x1");
    EXPECT_EQ(t.cells(t.run("diag", {new_constant(t.ctx, 1, 1, 5)})), (Cells{5}));
    EXPECT_EQ(t.cells(t.run("diag", {new_constant(t.ctx, 3, 3, 5)})), (Cells{5, 5, 5}));
    EXPECT_EQ(t.cells(t.run("diag", {new_virtual(t.ctx, 2, 1, Sequence{1, 1, false})})), (Cells{1, 0, 0, 2}));
    EXPECT_EQ(t.shape(t.run("diag", {t.dense(0, 1, Cells{})})), "0x0");
    EXPECT_EQ(t.shape(t.run("diag", {t.dense(0, 0, Cells{})})), "0x1");
    EXPECT_EQ(t.error("diag", {t.dense(1, 2, Cells{1, 2})}),
              "diag: expected a column vector or a square matrix, found 1x2");
    EXPECT_NE(t.error("diag", {t.dense(3, 0, Cells{})}), "");
  }
}

TEST(Triangle, MaskAndValues) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    const Cells full{1, 2, 0, 4, 5, 6, 7, 8, 9};
    for (const Value& x : t.stores(3, 3, full)) {
      EXPECT_EQ(t.cells(t.run("lower.tri", {x})), (Cells{0, 0, 0, 1, 0, 0, 1, 1, 0}));
      EXPECT_EQ(t.cells(t.run("lower.tri", {x, true})), (Cells{1, 0, 0, 1, 1, 0, 1, 1, 1}));
      EXPECT_EQ(t.cells(t.run("lower.tri", {x, false, true})), (Cells{0, 0, 0, 4, 0, 0, 7, 8, 0}));
      EXPECT_EQ(t.cells(t.run("lower.tri", {x, true, true})), (Cells{1, 0, 0, 4, 5, 0, 7, 8, 9}));
      EXPECT_EQ(t.cells(t.run("upper.tri", {x})), (Cells{0, 1, 1, 0, 0, 1, 0, 0, 0}));
      EXPECT_EQ(t.cells(t.run("upper.tri", {x, true, true})), (Cells{1, 2, 0, 0, 5, 6, 0, 0, 9}));
      EXPECT_EQ(t.cells(t.run_last("upper.tri", {t.dense(3, 3, full), false, true})),
                (Cells{0, 2, 0, 0, 0, 6, 0, 0, 0}));
    }
    const Value tall = t.dense(4, 2, [](int64_t, int64_t) { return 3.0; });
    EXPECT_EQ(t.cells(t.run("lower.tri", {tall, false, true})), (Cells{0, 0, 3, 0, 3, 3, 3, 3}));
    EXPECT_EQ(t.cells(t.run("upper.tri", {tall, true, true})), (Cells{3, 3, 0, 3, 0, 0, 0, 0}));
    const Value wide = t.run("lower.tri", {t.dense(2, 40, cell), true});
    check_csr(t.block(wide));
    EXPECT_EQ(t.block(wide).nnz_if_known(), 3);
    EXPECT_EQ(t.cells(t.run("upper.tri", {new_constant(t.ctx, 2, 2, 7), true, true})), (Cells{7, 7, 0, 7}));
  }
}

TEST(Bind, MatricesOfAnyStore) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    for (const Value& a : t.stores(2, 3, Cells{1, 0, 3, 0, 5, 6}))
      for (const Value& b : t.stores(1, 3, Cells{7, 0, 0}))
        for (const Value& c : t.stores(2, 1, Cells{0, 9})) {
          const Value down = t.run("rbind", {a, b, a});
          EXPECT_EQ(t.shape(down), "5x3");
          EXPECT_EQ(t.cells(down), (Cells{1, 0, 3, 0, 5, 6, 7, 0, 0, 1, 0, 3, 0, 5, 6}));
          const Value across = t.run("cbind", {a, c, c, a});
          EXPECT_EQ(t.shape(across), "2x8");
          EXPECT_EQ(t.cells(across), (Cells{1, 0, 3, 0, 0, 1, 0, 3, 0, 5, 6, 9, 9, 0, 5, 6}));
          EXPECT_EQ(t.cells(t.run("append", {b, b})), (Cells{7, 0, 0, 7, 0, 0}));
        }
    const Value s = new_virtual(t.ctx, 2, 1, Sequence{1, 1, false});
    EXPECT_EQ(t.cells(t.run("cbind", {s, new_constant(t.ctx, 2, 2, 4)})), (Cells{1, 4, 4, 2, 4, 4}));
    EXPECT_EQ(t.cells(t.run("rbind", {s, s})), (Cells{1, 2, 1, 2}));
    const Value constant = t.run("rbind", {new_constant(t.ctx, 2, 2, 4), new_constant(t.ctx, 1, 2, 4)});
    EXPECT_TRUE(t.block(constant).is_virtual());
    EXPECT_EQ(t.shape(constant), "3x2");
  }
}

TEST(Bind, SparseResultsWhereTheyPay) {
  StoreTest t;
  const MatrixRef a =
      to_sparse<double>(t.ctx, new_virtual(t.ctx, 100, 50, Random{Distribution::uniform, 1, 2, 1, 0.1, 1, 0}));
  const MatrixRef b = new_virtual(t.ctx, 100, 50, Random{Distribution::uniform, 1, 2, 1, 0.2, 2, 0});
  for (const char* name : {"rbind", "cbind"}) {
    const Value s = t.run(name, {a, b, new_zeros(t.ctx, 100, 50)});
    check_csr(t.block(s));
    const Value d = t.run(name, {to_dense<double>(t.ctx, a), to_dense<double>(t.ctx, b),
                                 to_dense<double>(t.ctx, new_zeros(t.ctx, 100, 50))});
    EXPECT_EQ(t.cells(s), t.cells(d));
    EXPECT_EQ(t.infer(name, {a, a}).nnz, 2 * a->nnz_if_known());
  }
}

TEST(Bind, EmptyMatricesAreNeutral) {
  StoreTest t;
  const Value x = t.dense(2, 3, Cells{1, 2, 3, 4, 5, 6});
  const Value r = t.run("rbind", {new_zeros(t.ctx, 0, 3), x, new_zeros(t.ctx, 1, 3)});
  EXPECT_EQ(t.shape(r), "3x3");
  EXPECT_EQ(t.cells(r), (Cells{1, 2, 3, 4, 5, 6, 0, 0, 0}));
  EXPECT_EQ(std::get<MatrixRef>(t.run("rbind", {new_zeros(t.ctx, 0, 3), x})), std::get<MatrixRef>(x));
  EXPECT_EQ(std::get<MatrixRef>(t.run("cbind", {x, t.dense(2, 0, Cells{})})), std::get<MatrixRef>(x));
  EXPECT_EQ(t.cells(t.run("rbind", {t.dense(0, 0, Cells{}), x})), t.cells(x));
  EXPECT_EQ(t.cells(t.run("cbind", {x, t.dense(0, 0, Cells{})})), t.cells(x));
  EXPECT_EQ(t.shape(t.run("rbind", {t.dense(0, 5, Cells{}), t.dense(0, 5, Cells{})})), "0x5");
  EXPECT_EQ(t.shape(t.run("rbind", {t.dense(2, 0, Cells{}), t.dense(3, 0, Cells{})})), "5x0");
  EXPECT_EQ(t.shape(t.run("rbind", {t.dense(0, 0, Cells{}), t.dense(0, 0, Cells{})})), "0x0");
  EXPECT_EQ(t.error("rbind", {x, t.dense(1, 2, Cells{1, 2})}),
            "rbind: the numbers of columns must agree, expected 3, found 2 in argument 2");
  EXPECT_EQ(t.error("cbind", {x, t.dense(0, 3, Cells{})}),
            "cbind: the numbers of rows must agree, expected 2, found 0 in argument 2");
  EXPECT_EQ(t.error("cbind", {x, 5.0}),
            "cbind: expected matrices (as.matrix makes one of a scalar), found double as argument 2");
  EXPECT_EQ(t.error("rbind", {true, x}),
            "rbind: expected matrices (as.matrix makes one of a scalar), found boolean as argument 1");
}

TEST(Bind, AMatrixThatGrowsIsNotCopiedEachTime) {
  for (Precision p : precisions()) {
    StoreTest t(p);
    for (const bool sparse : {false, true})
      for (const char* name : {"rbind", "cbind"}) {
        if (sparse && std::string_view(name) == "cbind") continue;
        Value x = sparse ? t.compressed(t.dense(1, 9, Cells{1, 0, 0, 0, 0, 0, 0, 0, 0})) : t.dense(1, 1, Cells{1});
        Cells expected = t.cells(x);
        int64_t moves = 0;
        const void* data = nullptr;
        for (int64_t i = 2; i <= 3000; ++i) {
          std::vector<Value> in;
          in.push_back(std::move(x));
          const Value row = sparse ? t.dense(1, 9, Cells{0, 0, 0, 0, 0, 0, 0, static_cast<double>(i), 0})
                                   : t.dense(1, 1, Cells{static_cast<double>(i)});
          in.push_back(row);
          x = t.run_last(name, std::move(in), 1);
          for (double v : t.cells(row)) expected.push_back(v);
          const void* now = sparse                ? static_cast<const void*>(t.block(x).csr().values.as<char>())
                            : p == Precision::f64 ? static_cast<const void*>(t.block(x).dense<double>())
                                                  : static_cast<const void*>(t.block(x).dense<float>());
          moves += now != data, data = now;
        }
        EXPECT_EQ(t.cells(x), expected);
        EXPECT_LT(moves, 60) << name << sparse;
        if (sparse) check_csr(t.block(x));
      }
  }
}

TEST(Bind, TheSameInputTwice) {
  StoreTest t;
  Value x = t.dense(1, 2, Cells{1, 2});
  const Op& row = op("rbind", 2);
  Value* in[] = {&x, &x};
  Value out;
  Call call{t.ctx, row, in, {&out, 1}, 3, {}, {}};
  run_kernel(call);
  EXPECT_EQ(t.cells(out), (Cells{1, 2, 1, 2}));
}

TEST(Bind, StringsAndLists) {
  StoreTest t;
  EXPECT_EQ(std::get<std::string>(t.run("append", {std::string("a"), std::string("b")})), "a\nb");
  EXPECT_EQ(std::get<std::string>(t.run("rbind", {std::string("a"), std::string("b"), std::string("c")})), "a\nb\nc");
  EXPECT_EQ(t.error("cbind", {std::string("a"), 3.0}),
            "cbind: expected strings after a string, found double as argument 2");
  const Value x = t.dense(1, 2, Cells{1, 2});
  const Value l = t.run("list", {x, t.dense(2, 2, Cells{3, 4, 5, 6})});
  const Value longer = t.run("append", {l, std::string("s")});
  EXPECT_EQ(std::get<ListRef>(longer)->entries.size(), 3u);
  EXPECT_EQ(std::get<ListRef>(l)->entries.size(), 2u);
  EXPECT_EQ(t.infer("append", {l, x, x}).rows, 4);
  EXPECT_EQ(t.shape(t.run("rbind", {l})), "3x2");
  EXPECT_EQ(t.cells(t.run("rbind", {l})), (Cells{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(t.shape(t.run("rbind", {std::make_shared<const List>()})), "0x0");
  EXPECT_EQ(t.error("cbind", {l}), "cbind: the numbers of rows must agree, expected 1, found 2 in matrix 2");
  EXPECT_EQ(t.error("rbind", {longer}), "rbind: expected a list of matrices, found string as entry 3");
  EXPECT_EQ(std::get<MatrixRef>(t.run("cbind", {x})), std::get<MatrixRef>(x));
}

TEST(Bind, InfersWithUnknownSizes) {
  const Op& row = op("rbind", 2);
  const auto infer = [&](Meta a, Meta b) {
    struct Unknown : InferCall {
      Unknown(const Op& o, std::span<const Meta> i, std::span<Meta> u) : InferCall(o, i, u, {}, {}) {}
    };
    const Meta in[] = {a, b};
    Meta out;
    Unknown call(row, in, {&out, 1});
    row.infer(call);
    return out;
  };
  EXPECT_EQ(infer(matrix_meta(-1, 3), matrix_meta(2, -1)).cols, 3);
  EXPECT_EQ(infer(matrix_meta(-1, 3), matrix_meta(2, -1)).rows, -1);
  EXPECT_EQ(infer(matrix_meta(1, -1), matrix_meta(2, -1)).rows, 3);
  EXPECT_THROW(infer(matrix_meta(-1, 3), matrix_meta(-1, 2)), Error);
  EXPECT_EQ(infer(matrix_meta(-1, 0), matrix_meta(2, 3)).cols, 3);
}

}  // namespace hopline
