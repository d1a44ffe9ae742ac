#include <zlib.h>
#include <zstd.h>

#include "tests/unit/io_testing.h"

namespace hopline {
namespace {

struct CsvTest : FileTest, testing::Test {};

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data())), z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data()), z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST_F(CsvTest, SizesComeFromTheFile) {
  EXPECT_EQ(shown(read(file("a.csv", "1,2.5,-3\n4e2,5,6"))), "2x3: 1 2.5 -3 400 5 6");
  EXPECT_EQ(shown(read(file("b.csv", "1\n2\n3\n"))), "3x1: 1 2 3");
  EXPECT_EQ(shown(read(file("c.csv",
                            "\xEF\xBB\xBF"
                            "1,2\r\n3,4\r\n\r\n"))),
            "2x2: 1 2 3 4");
  EXPECT_EQ(shown(read(file("d.tsv", "1\t2\n3\t4\n"))), "2x2: 1 2 3 4");
}

TEST_F(CsvTest, NumbersInEveryForm) {
  EXPECT_EQ(shown(read(file("a.csv", "+1,-.5,5.,1E3,1.5e-3,00012.50\n NaN ,inf,-Infinity,+Inf,nan,1e400\n"))),
            "2x6: 1 -0.5 5 1000 0.0015 12.5 nan inf -inf inf nan inf");
  EXPECT_EQ(shown(read(file("b.csv", "123456789012345678,0.1234567890123456789\n12345678.12345678,123456789.1\n"))),
            "2x2: 1.2345678901234568e+17 0.12345678901234568 12345678.12345678 123456789.1");
  EXPECT_EQ(shown(read(file("c.csv", "2.2250738585072011e-308,4.9e-324\n1.7976931348623157e308,9007199254740993\n"))),
            "2x2: 2.225073858507201e-308 5e-324 1.7976931348623157e+308 9007199254740992");
}

TEST_F(CsvTest, MissingValues) {
  const std::string name = file("a.csv", "a;b;c;d\r\n1;NA;3;4\r\n5;;?;8\r\n9;1;3;12");
  auto list = std::make_shared<List>();
  list->entries = {std::string("NA"), std::string("?")};
  const std::string expected = "3x4: 1 nan 3 4 5 0 nan 8 9 1 3 12";
  EXPECT_EQ(shown(read(name, {{"header", true}, {"sep", std::string(";")}, {"naStrings", ListRef(list)}})), expected);
  EXPECT_EQ(shown(read(name, {{"header", true}, {"sep", std::string(";")}, {"naStrings", std::string("NA\u00b7?")}})),
            expected);
  EXPECT_EQ(shown(read(file("b.csv", "1,,\n,,3\n"), {{"default", -1.0}})), "2x3: 1 -1 -1 -1 -1 3");
  EXPECT_EQ(shown(read(file("c.csv", "1,-999\n-999,2\n"), {{"naStrings", std::string("-999")}})), "2x2: 1 nan nan 2");
  EXPECT_EQ(read_error("", {}), "cannot read: the file name is empty");
  EXPECT_EQ(read_error(path("b.csv"), {{"fill", false}}),
            "bad csv file: expected a number, found an empty cell and fill=FALSE (b.csv:1)");
}

TEST_F(CsvTest, QuotedFieldsAndHeaders) {
  EXPECT_EQ(shown(read(file("a.csv", "\"x, y\",\"b\nc\"\n\"1.5\",2\n \"3\" ,\" 4 \"\n"), {{"header", true}})),
            "2x2: 1.5 2 3 4");
  EXPECT_EQ(shown(read(file("b.csv", "\"a,b\",c\n"), {{"header", true}})), "0x2:");
  EXPECT_EQ(read_error(file("c.csv", "1,2\n\"3,4\n")), "bad csv file: a quote is not closed in its line (c.csv:2)");
  EXPECT_EQ(read_error(file("d.csv", "1,\"2\"x\n")), "bad csv file: text follows a closing quote (d.csv:1)");
  EXPECT_EQ(read_error(file("e.csv", "\"a,b\n1,2\n"), {{"header", true}}),
            "bad csv file: a quote is not closed in the header (e.csv:1)");
}

TEST_F(CsvTest, Separators) {
  EXPECT_EQ(shown(read(file("a.csv", "1 2\n3 4\n"), {{"sep", std::string(" ")}})), "2x2: 1 2 3 4");
  EXPECT_EQ(shown(read(file("b.csv", "1||2||\n3|| 4||5\n"), {{"sep", std::string("||")}})), "2x3: 1 2 0 3 4 5");
  EXPECT_EQ(shown(read(file("c.csv", "1e1;2,5\n"), {{"sep", std::string(";")}, {"naStrings", std::string("2,5")}})),
            "1x2: 10 nan");
  EXPECT_NE(read_error(path("a.csv"), {{"sep", std::string("1")}}), "");
  EXPECT_NE(read_error(path("a.csv"), {{"sep", std::string()}}), "");
}

TEST_F(CsvTest, WhatDoesNotFitIsSaidWithItsLine) {
  EXPECT_EQ(read_error(file("a.csv", "1,2\n3,4,5\n")), "bad csv file: expected 2 columns, found 3 (a.csv:2)");
  EXPECT_EQ(read_error(file("b.csv", "h,h\n1,2\n3\n"), {{"header", true}}),
            "bad csv file: expected 2 columns, found 1 (b.csv:3)");
  EXPECT_EQ(read_error(file("c.csv", "1,2\n3,x y\n")),
            "bad csv file: expected a number, found \"x y\"; texts that mean a missing value are named by naStrings "
            "(c.csv:2)");
  EXPECT_EQ(read_error(file("d.csv", "1,2\n\n3,4\n")), "bad csv file: expected 2 columns, found 1 (d.csv:2)");
  EXPECT_EQ(read_error(file("e.csv", "")), "bad csv file: it is empty and nothing says how many columns it has: e.csv");
  EXPECT_EQ(read_error(path("missing.csv")), "read input file does not exist: missing.csv");
  EXPECT_EQ(read_error(file("f.csv", "1,2,3\n4,5,6\n7,8,9\n",
                            R"({"data_type": "matrix", "format": "csv", "rows": 2, "cols": 2})")),
            "file does not match its declared size: expected 2x2, found 3x3 (f.csv)");
}

TEST_F(CsvTest, DeclaredSizesTakeNoMemory) {
  const std::string name = file("a.csv", "1,2\n3\n", R"({"format": "csv", "rows": 2, "cols": 2000000000})");
  EXPECT_EQ(read_error(name), "file does not match its declared size: expected 2x2000000000, found 2x2 (a.csv)");
  std::string text = std::string(2000000, ',') + "\n";
  for (int i = 0; i < 2000; ++i) text += "1\n";
  EXPECT_EQ(read_error(file("b.csv", text)), "bad csv file: expected 2000001 columns, found 1 (b.csv:2)");
  EXPECT_LT(memory.counters().peak, 64 << 20);
}

TEST_F(CsvTest, SparseAndDenseAgree) {
  std::string text;
  std::vector<double> expected;
  for (int r = 0; r < 3000; ++r)
    for (int c = 0; c < 50; ++c) {
      const bool kept = (r * 7 + c * 3) % 11 == 0;
      if (kept) text += std::to_string(r + c + 1);
      text += c == 49 ? '\n' : ',';
      expected.push_back(kept ? r + c + 1 : 0);
    }
  const MatrixRef m = read_matrix(file("a.csv", text));
  EXPECT_TRUE(m->is_sparse());
  EXPECT_EQ(cells(m), expected);
  // The sample of the first rows says "sparse", the whole is dense, and the other way round.
  std::string zeros = "0,0,0\n", numbers = "1,2,3\n", mostly_dense, mostly_sparse;
  for (int r = 0; r < 20000; ++r)
    mostly_dense += r < 7000 ? zeros : numbers, mostly_sparse += r < 7000 ? numbers : zeros;
  EXPECT_TRUE(read_matrix(file("b.csv", mostly_dense))->is_dense());
  EXPECT_TRUE(read_matrix(file("c.csv", mostly_sparse))->is_sparse());
  EXPECT_EQ(read_matrix(path("b.csv"))->nnz_if_known(), 39000);
}

TEST_F(CsvTest, ChunksMeetAtAnyByte) {
  // Lines of many lengths around the borders of chunks, and one line that spans several.
  std::string text;
  std::vector<double> expected;
  for (int64_t i = 0; text.size() < 900000; ++i) {
    const double v = static_cast<double>(i * i * 7919 % 1000003) + 1;
    text += fmt::format("{}{}\n", std::string(static_cast<size_t>(i % 97), ' '), v);
    expected.push_back(v);
    if (i == 3000) text.insert(text.size() - 1, std::string(600000, ' '));
  }
  for (const bool last : {true, false}) {
    if (!last) text.pop_back();
    const MatrixRef m = read_matrix(file("a.csv", text));
    EXPECT_EQ(m->rows(), static_cast<int64_t>(expected.size()));
    EXPECT_EQ(cells(m), expected);
  }
  text.replace(text.size() - 1, 1, "x");
  const std::string message = read_error(file("b.csv", text));
  EXPECT_NE(message.find(fmt::format("(b.csv:{})", expected.size())), std::string::npos) << message;
}

TEST_F(CsvTest, CompressedByContent) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += fmt::format("{},{}\n", i, i * 2);
  const std::string plain = shown(read(file("a.csv", text)));
  EXPECT_EQ(shown(read(file("a.csv.gz", gzip(text)))), plain);
  EXPECT_EQ(
      shown(read(file("b.csv.gz", gzip(text.substr(0, 1000)) + gzip(text.substr(1000)) + std::string(512, '\0')))),
      plain);
  EXPECT_EQ(shown(read(file("a.csv.zst", zstd(text)))), plain);
  EXPECT_EQ(shown(read(file("b.csv", zstd(text.substr(0, 1000)) + zstd(text.substr(1000))))), plain);
  const std::string packed = gzip(text), packed_z = zstd(text);
  EXPECT_EQ(read_error(file("c.csv.gz", packed.substr(0, packed.size() / 2))),
            "damaged gzip file: it ends early: c.csv.gz");
  EXPECT_EQ(read_error(file("c.csv.zst", packed_z.substr(0, packed_z.size() / 2))),
            "damaged zstd file: it ends early: c.csv.zst");
  std::string damaged = packed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  EXPECT_NE(read_error(file("d.csv.gz", damaged)), "");
  EXPECT_EQ(read_error(file("e.csv.gz", packed + "tail")), "damaged gzip file: bytes follow its end: e.csv.gz");
}

TEST_F(CsvTest, FolderOfParts) {
  file("x/part-2", "5,6\n7,8");
  file("x/part-10", "9,10\n");
  file("x/part-1", "a,b\n1,2\n3,4");
  file("x/_SUCCESS", "");
  file("x/.part-1.crc", "junk");
  file("x/part-3", "");
  EXPECT_EQ(shown(read(path("x"), {{"format", std::string("csv")}, {"header", true}})), "5x2: 1 2 3 4 5 6 7 8 9 10");
  file("x/part-2", "a,b\n5,6\n7,8");  // every part has the header
  EXPECT_EQ(shown(read(path("x/"), {{"format", std::string("csv")}, {"header", true}})), "5x2: 1 2 3 4 5 6 7 8 9 10");
  file("x/part-11", "9;1");
  EXPECT_NE(read_error(path("x"), {{"format", std::string("csv")}, {"header", true}}).find("(x/part-11:1)"),
            std::string::npos);
  std::filesystem::create_directory(path("empty"));
  EXPECT_EQ(read_error(path("empty"), {{"format", std::string("csv")}}),
            "cannot read folder empty: it holds no part files");
  for (int i = 0; i < 300; ++i) file("many/part-" + std::to_string(i), std::to_string(i));
  EXPECT_EQ(cells(read(path("many"), {{"format", std::string("csv")}}))[299], 299);
}

TEST_F(CsvTest, EmptyLinesOfOneColumnAreCells) {
  EXPECT_EQ(shown(read(file("a.csv", "1\n\n3\n\n", R"({"format": "csv", "rows": 4, "cols": 1})"))), "4x1: 1 0 3 0");
  EXPECT_EQ(shown(read(file("b.csv", "1\n2\n\n", R"({"format": "csv", "rows": 2, "cols": 1})"))), "2x1: 1 2");
}

TEST_F(CsvTest, SinglePrecision) {
  ctx.precision = Precision::f32;
  const MatrixRef m = read_matrix(file("a.csv", "0.1,16777217\n"));
  EXPECT_EQ(m->dense<float>()[0], 0.1f);
  EXPECT_EQ(m->dense<float>()[1], 16777216.0f);
}

TEST_F(CsvTest, PipesAndThreads) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += fmt::format("{},{}\n", i, -i);
  file("a.csv", text);
  const std::string plain = shown(read(path("a.csv")));
  ctx.threads = 1;
  EXPECT_EQ(shown(read(path("a.csv"))), plain);
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream(pipe) << text;
    _exit(0);
  }
  EXPECT_EQ(shown(read(pipe, {{"format", std::string("csv")}})), plain);
}

}  // namespace
}  // namespace hopline
