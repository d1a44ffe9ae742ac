#include "runtime/ops/infer.h"
#include "tests/unit/io_testing.h"

namespace hopline {
namespace {

struct MetadataTest : FileTest, testing::Test {
  std::string metadata_error(const std::string& json) { return read_error(file("x", "1,2\n", json)); }
};

TEST_F(MetadataTest, Keys) {
  EXPECT_EQ(shown(read(file("x", "a;b\n1;\n",
                            R"({"data_type": "matrix", "value_type": "double", "rows": 1, "cols": 2, "nnz": -1,
      "rows_in_block": 1000, "cols_in_block": 1000, "format": "csv", "header": true, "sep": ";", "fill": true, "default": 5,
      "author": "me", "created": "2020-01-01 00:00:00 UTC", "description": "d"})"))),
            "1x2: 1 5");
  EXPECT_EQ(shown(read(file("y", "NA,?\n", R"({"format": "csv", "naStrings": ["NA", "?"]})"))), "1x2: nan nan");
  EXPECT_EQ(shown(read(file("z", "NA,?\n", "{\"format\": \"csv\", \"na.strings\": \"NA\u00b7?\"}"))), "1x2: nan nan");
}

TEST_F(MetadataTest, BadOnes) {
  EXPECT_EQ(metadata_error(R"({"format": "csv", "colour": 1})")
                .find("bad metadata: unknown key \"colour\"; known are data_type, "),
            0u);
  EXPECT_EQ(metadata_error(R"({"format": "csv", "rows": "1"})"),
            "bad metadata: expected a whole number of at least 0 (or -1: unknown) for \"rows\", found \"1\" (x.mtd)");
  EXPECT_EQ(metadata_error(R"({"format": "csv", "rows": 1.5})"),
            "bad metadata: expected a whole number of at least 0 (or -1: unknown) for \"rows\", found 1.5 (x.mtd)");
  EXPECT_NE(metadata_error(R"({"format": "csv", "rows": 99999999999999999999})"), "");
  EXPECT_EQ(metadata_error(R"({"format": "csv", "rows": 1, "rows": 2})"),
            "bad metadata: key \"rows\" stands twice (x.mtd)");
  EXPECT_EQ(metadata_error("[1]"), "bad metadata: expected a JSON object, found array (x.mtd)");
  EXPECT_EQ(metadata_error("{\"format\": ").find("bad metadata: parse error at line 1"), 0u);
  EXPECT_EQ(metadata_error(R"({"format": "csv", "header": "yes"})"),
            "bad metadata: expected true or false for \"header\", found \"yes\" (x.mtd)");
  EXPECT_NE(metadata_error(std::string(100000, '[')), "");
  EXPECT_NE(metadata_error(std::string(2 << 20, ' ') + "{}"), "");
  EXPECT_EQ(metadata_error(R"({"format": "parquet"})"),
            "unknown format: expected one of csv, text, mm, libsvm, binary, npy, idx, found \"parquet\" (x.mtd)");
  EXPECT_EQ(metadata_error(R"({"data_type": "tensor", "format": "csv"})"),
            "unknown data_type: expected matrix, scalar, frame or list, found \"tensor\" (x)");
  EXPECT_EQ(metadata_error(R"({"data_type": "matrix", "value_type": "string", "format": "csv"})"),
            "a matrix holds numbers: expected value_type double, found \"string\" (x)");
  EXPECT_EQ(metadata_error(R"({"data_type": "frame", "format": "csv"})").find("frames are not supported yet"), 0u);
}

TEST_F(MetadataTest, ArgumentsAgainstIt) {
  file("x", "1,2\n", R"({"format": "csv", "rows": 1, "cols": 2, "header": false, "nnz": 2})");
  EXPECT_EQ(
      shown(read(path("x"), {{"rows", int64_t{1}}, {"cols", 2.0}, {"header", false}, {"format", std::string("CSV")}})),
      "1x2: 1 2");
  EXPECT_EQ(read_error(path("x"), {{"rows", int64_t{2}}}),
            "argument rows of read contradicts the metadata: expected 1, found 2 (x.mtd)");
  EXPECT_EQ(read_error(path("x"), {{"header", true}}),
            "argument header of read contradicts the metadata: expected FALSE, found TRUE (x.mtd)");
  EXPECT_EQ(read_error(path("x"), {{"format", std::string("binary")}}),
            "argument format of read contradicts the metadata: expected \"csv\", found \"binary\" (x.mtd)");
  EXPECT_EQ(read_error(path("x"), {{"nnz", int64_t{1}}}),
            "argument nnz of read contradicts the metadata: expected 2, found 1 (x.mtd)");
  EXPECT_EQ(shown(read(file("y", "1,2\n", R"({"format": "binary"})"), {{"format", std::string("csv")}})), "1x2: 1 2");
  EXPECT_EQ(read_error(path("x"), {{"format", std::string("xls")}}),
            "unknown format: expected one of csv, text, mm, libsvm, binary, npy, idx, found \"xls\"");
  EXPECT_EQ(read_error(path("x"), {{"rows", int64_t{-5}}}),
            "argument rows of read: expected a size of at least 0, found -5");
  EXPECT_EQ(read_error(file("z", "1 2\n")),
            "the format of z is not known: expected z.mtd beside it, a name like .csv or .mtx, or format=");
  EXPECT_EQ(read_error("hdfs://host/x"), "cannot read \"hdfs://host/x\": only local files are supported");
  EXPECT_EQ(shown(read("file://" + path("x"))), "1x2: 1 2");
}

TEST_F(MetadataTest, KindAndSizesBeforeReading) {
  const Op& row = *find_op("read");
  const auto infer = [&](const std::string& name, const Arguments& rest) {
    std::vector<Value> in{name};
    for (size_t i = 1; i < row.params.count; ++i) {
      const auto given = rest.find(std::string(row.params.list[i].name));
      in.push_back(given == rest.end() ? Value() : given->second);
    }
    std::vector<const Value*> pointers;
    for (const Value& v : in) pointers.push_back(&v);
    return infer_values(row, pointers, {}, {}).front();
  };
  file("x", "1,2\n", R"({"format": "csv", "rows": 1, "cols": 2})");
  EXPECT_EQ(infer(path("x"), {}).rows, 1);
  EXPECT_EQ(infer(path("none"), {}).kind, Kind::matrix);
  EXPECT_EQ(infer(path("none"), {{"rows", int64_t{7}}, {"cols", int64_t{8}}}).cols, 8);
  EXPECT_EQ(infer(path("none"), {{"data_type", std::string("scalar")}, {"value_type", std::string("int")}}).kind,
            Kind::integer);
  EXPECT_EQ(infer(path("none"), {{"data_type", std::string("list")}}).kind, Kind::list);
  file("s", "1", R"({"data_type": "scalar", "value_type": "boolean"})");
  EXPECT_EQ(infer(path("s"), {}).kind, Kind::boolean);
  EXPECT_THROW(infer(path("none"), {{"data_type", std::string("frame")}}), Error);
  EXPECT_THROW(infer(path("none"), {{"data_type", std::string("scalar")}, {"value_type", std::string("date")}}), Error);
}

}  // namespace
}  // namespace hopline
