#include <cmath>
#include <limits>

#include "runtime/ops/call.h"
#include "tests/unit/io_testing.h"

namespace hopline {
namespace {

struct RoundTripTest : FileTest, testing::Test {
  static constexpr const char* kFormats[] = {"csv", "text", "mm", "libsvm", "binary", "npy", "idx"};

  bool keeps_minus_zero(std::string_view format) const { return format == "npy" || format == "idx"; }

  void expect_equal(const Value& found, const Value& expected, bool minus_zero) {
    const MatrixRef a = std::get<MatrixRef>(found), b = std::get<MatrixRef>(expected);
    ASSERT_EQ(a->rows(), b->rows());
    ASSERT_EQ(a->cols(), b->cols());
    if (a->cells() > 1000000) return;
    const std::vector<double> x = cells(found), y = cells(expected);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) << i << ": " << x[i] << " " << y[i];
      if (minus_zero && a->is_dense()) {
        EXPECT_EQ(std::signbit(x[i]), std::signbit(y[i])) << i;
      }
    }
    EXPECT_EQ(count_nnz<double>(ctx, *a), count_nnz<double>(ctx, *b));
  }
  void check(const Value& x) {
    const MatrixRef& m = std::get<MatrixRef>(x);
    for (const std::string format : kFormats) {
      SCOPED_TRACE(format);
      if (format == "libsvm" && m->cols() == 0) continue;
      const std::string name = path("x." + format);
      write(x, name, {{"format", format}});
      Arguments arguments;
      if (format == "mm") arguments["format"] = format;
      expect_equal(read(name, arguments), x, keeps_minus_zero(format));
      for (const auto& e : entries()) EXPECT_EQ(e.find(".tmp"), std::string::npos);
    }
  }
};

TEST_F(RoundTripTest, HardNumbers) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  check(dense(4, 3, {1, -2.5, inf, -inf, nan, -0.0, 0, 5e-324, 1e308, -1.7976931348623157e308, 0.1 + 0.2, 1e-300}));
  check(dense(3, 1, {12345678901234567.0, 1.0 / 3, -0.001}));
  check(dense(1, 3, {1e7, 1e-3, 123456.789}));
  check(dense(1, 1, {-0.0}));
  check(dense(1, 1, {7}));
}

TEST_F(RoundTripTest, NoRowsOrColumns) {
  check(dense(0, 4, {}));
  check(dense(3, 0, {}));
  check(dense(0, 0, {}));
  check(new_zeros(ctx, 3, 2));
}

TEST_F(RoundTripTest, SparseAndVirtual) {
  check(sparse(3, 4, {0, 0, 1.5, 0, 0, 0, 0, 0, -2, 0, 0, 1e-5}));
  check(sparse(3, 4, {0, 0, 1.5, 0, 0, 0, 0, 0, -2, 0, 0, 0}));
  check(new_constant(ctx, 100, 7, 2.5));
  check(new_virtual(ctx, 5000, 1, Sequence{1, 0.5, false}));
  check(new_virtual(ctx, 300, 100, Random{Distribution::uniform, -1, 1, 1, 1, 42, 0}));
  check(new_virtual(ctx, 300, 1000, Random{Distribution::uniform, -1, 1, 1, 0.01, 42, 0}));
}

TEST_F(RoundTripTest, ManyChunksForAnyNumberOfThreads) {
  const Value x = new_virtual(ctx, 8000, 17, Random{Distribution::uniform, -1e6, 1e6, 1, 0.7, 7, 0});
  std::map<std::string, std::string> first;
  for (const int threads : {1, 2, 5}) {
    ctx.threads = threads;
    check(x);
    for (const std::string format : kFormats) {
      const std::string now = bytes("x." + format);
      EXPECT_TRUE(first.emplace(format, now).first->second == now) << format;
    }
  }
}

TEST_F(RoundTripTest, SinglePrecision) {
  ctx.precision = Precision::f32;
  auto m = new_dense<float>(ctx, 2, 2);
  const float values[] = {0.1f, 1e-40f, 3.4e38f, 0};
  std::copy(values, values + 4, m->dense<float>());
  const Value x = MatrixRef(m);
  for (const std::string format : kFormats) {
    SCOPED_TRACE(format);
    write(x, path("x"), {{"format", format}});
    const MatrixRef y = read_matrix(path("x"), {{"format", format}});
    for (int i = 0; i < 4; ++i) EXPECT_EQ(to_dense<float>(ctx, y)->dense<float>()[i], values[i]) << i;
  }
  // A file of the other precision.
  write(x, path("x"), {{"format", std::string("binary")}});
  ctx.precision = Precision::f64;
  EXPECT_EQ(cells(read(path("x"))), (std::vector<double>{0.1f, 1e-40f, 3.4e38f, 0}));
  write(dense(2, 2, {0.1, 1e-300, 1, 0}), path("x"), {{"format", std::string("binary")}});
  write(sparse(2, 3, {0.1, 1e-300, 1e-300, 0, 0, 0}), path("y"), {{"format", std::string("binary")}});
  ctx.precision = Precision::f32;
  EXPECT_EQ(to_dense<float>(ctx, read_matrix(path("x")))->dense<float>()[0], 0.1f);
  const MatrixRef y = read_matrix(path("y"));
  EXPECT_EQ(y->nnz_if_known(), 1);
}

TEST_F(RoundTripTest, WhatIsWritten) {
  const Value x = dense(2, 3, {1, 2.5, 0, 1e10, 0, 1e-5});
  write(x, path("a"), {{"format", std::string("csv")}});
  EXPECT_EQ(bytes("a"), "1.0,2.5,0\n1.0E10,0,1.0E-5\n");
  write(x, path("a"), {{"format", std::string("CSV")}, {"header", true}, {"sep", std::string(";")}, {"sparse", true}});
  EXPECT_EQ(bytes("a"), "C1;C2;C3\n1.0;2.5;\n1.0E10;;1.0E-5\n");
  EXPECT_EQ(shown(read(path("a"))), "2x3: 1 2.5 0 10000000000 0 1e-05");
  write(x, path("b"));
  EXPECT_EQ(bytes("b"), "1 1 1.0\n1 2 2.5\n2 1 1.0E10\n2 3 1.0E-5\n");
  write(x, path("c"), {{"format", std::string("mm")}});
  EXPECT_EQ(bytes("c"),
            "%%MatrixMarket matrix coordinate real general\n2 3 4\n1 1 1.0\n1 2 2.5\n2 1 1.0E10\n2 3 1.0E-5\n");
  EXPECT_FALSE(std::filesystem::exists(path("c.mtd")));
  write(x, path("d"), {{"format", std::string("libsvm")}});
  EXPECT_EQ(bytes("d"), "0.0 1:1.0 2:2.5\n1.0E-5 1:1.0E10\n");
  write(new_zeros(ctx, 2, 2), path("e"));
  EXPECT_EQ(bytes("e"), "1 1 0\n");
  const std::string metadata = bytes("a.mtd");
  EXPECT_EQ(metadata.substr(0, metadata.find("    \"created\"")),
            "{\n    \"data_type\": \"matrix\",\n    \"value_type\": \"double\",\n    \"rows\": 2,\n    \"cols\": 3,\n  "
            "  \"nnz\": 4,\n"
            "    \"format\": \"csv\",\n    \"header\": true,\n    \"sep\": \";\",\n    \"author\": \"Hopline\",\n");
}

TEST_F(RoundTripTest, Scalars) {
  const auto trip = [&](const Value& v) {
    write(v, path("s"));
    return read(path("s"));
  };
  EXPECT_EQ(std::get<double>(trip(3.5)), 3.5);
  EXPECT_EQ(bytes("s"), "3.5");
  EXPECT_EQ(std::get<int64_t>(trip(int64_t{-7})), -7);
  EXPECT_EQ(
      std::get<int64_t>(read(path("s"), {{"data_type", std::string("scalar")}, {"value_type", std::string("int")}})),
      -7);
  EXPECT_EQ(std::get<bool>(trip(true)), true);
  EXPECT_EQ(bytes("s"), "true");
  EXPECT_EQ(std::get<std::string>(trip(std::string(" a b\"c"))), " a b\"c");
  EXPECT_EQ(std::get<std::string>(trip(std::string())), "");
  EXPECT_EQ(read_error(file("t", "x"), {{"data_type", std::string("scalar")}, {"value_type", std::string("int")}}),
            "bad scalar file: expected an int, found \"x\" (t:1)");
  EXPECT_EQ(std::get<double>(read(file("u", "1e3\r\nrest"), {{"data_type", std::string("scalar")}})), 1000);
  EXPECT_NE(read_error(file("v", ""), {{"data_type", std::string("scalar")}}), "");
}

TEST_F(RoundTripTest, Lists) {
  auto inner = std::make_shared<List>();
  inner->entries = {int64_t{1}, std::string("two")};
  auto list = std::make_shared<List>();
  list->entries = {dense(1, 2, {1, 2}), 2.5, true, ListRef(inner)};
  list->names = {"w", "rate", "done", "rest"};
  for (const std::string format : {"text", "csv", "binary"}) {
    write(ListRef(list), path("model"), {{"format", format}});
    const ListRef back = std::get<ListRef>(read(path("model")));
    ASSERT_EQ(back->entries.size(), 4u);
    EXPECT_EQ(back->names, list->names);
    EXPECT_EQ(shown(back->entries[0]), "1x2: 1 2");
    EXPECT_EQ(std::get<double>(back->entries[1]), 2.5);
    const ListRef rest = std::get<ListRef>(back->entries[3]);
    EXPECT_TRUE(rest->names.empty());
    EXPECT_EQ(std::get<std::string>(rest->entries[1]), "two");
  }
  EXPECT_EQ(entries(), (std::vector<std::string>{"model", "model.mtd"}));
  for (int i = 0; i < 12; ++i) inner->entries.push_back(int64_t{i});
  write(ListRef(inner), path("model"));
  EXPECT_EQ(std::get<int64_t>(std::get<ListRef>(read(path("model")))->entries[13]), 11);
  std::filesystem::remove(path("model/3_null"));
  EXPECT_EQ(read_error(path("model")), "bad list folder: entry 3 is missing or stands twice (model)");
  write(ListRef(std::make_shared<List>()), path("model"));
  EXPECT_EQ(std::get<ListRef>(read(path("model")))->entries.size(), 0u);
}

}  // namespace
}  // namespace hopline
