#include <cmath>

#include "runtime/io/checksum.h"
#include "tests/unit/io_testing.h"

namespace hopline {
namespace {

struct FormatsTest : FileTest, testing::Test {
  const Arguments mm{{"format", std::string("mm")}};
  const Arguments size_2x3{{"rows", int64_t{2}}, {"cols", int64_t{3}}};
};

TEST_F(FormatsTest, TextCells) {
  EXPECT_EQ(shown(read(file("a.ijv", "2 3 5\r\n\n1\t1   -1.5e2\n 2 1 0\n"), size_2x3)), "2x3: -150 0 0 0 0 5");
  EXPECT_EQ(shown(read(file("b", "1 1 0\n"), {{"rows", int64_t{0}}, {"cols", int64_t{3}}})), "0x3:");
  EXPECT_EQ(read_error(file("c.ijv", "1 1 1\n")),
            "a text cell file needs its size: expected rows= and cols=, or an .mtd file beside it (c.ijv)");
  EXPECT_EQ(read_error(file("d", "1 1 1\n3 1 1\n"), size_2x3),
            "bad text cell file: expected indexes from 1,1 to 2,3, found 3,1 (d:2)");
  EXPECT_EQ(read_error(file("e", "0 1 1\n"), size_2x3),
            "bad text cell file: expected indexes from 1,1 to 2,3, found 0,1 (e:1)");
  EXPECT_EQ(read_error(file("f", "1 1\n"), size_2x3), "bad text cell file: expected a number, found \"\" (f:1)");
  EXPECT_EQ(read_error(file("g", "1 1 1 1\n"), size_2x3), "bad text cell file: text follows a cell: \"1\" (g:1)");
  EXPECT_EQ(read_error(file("h", "1.5 1 1\n"), size_2x3), "bad text cell file: expected an index, found \"1.5\" (h:1)");
  EXPECT_EQ(read_error(file("i", "1 2 1\n2 2 2\n1 2 1\n"), size_2x3),
            "bad text cell file: cell 1,2 stands more than once (i)");
  const Arguments wide{{"rows", int64_t{100}}, {"cols", int64_t{100}}};
  EXPECT_EQ(read_error(path("i"), wide), "bad text cell file: cell 1,2 stands more than once (i)");
  EXPECT_EQ(read_error(file("j", "1 1 1\n", R"({"format": "text", "rows": 2, "cols": 3, "nnz": 2})")),
            "file does not match its declared number of non-zeros: expected 2, found 1 (j)");
  EXPECT_EQ(read_error(file("k", "99999999999999999999 1 1\n"), size_2x3).find("bad text cell file: expected an index"),
            0u);
}

TEST_F(FormatsTest, WideAndTallTextCells) {
  const int64_t big = 3000000000;
  MatrixRef m = read_matrix(file("a", "1 3000000000 2\n2 1 7\n"), {{"rows", int64_t{2}}, {"cols", big}});
  EXPECT_TRUE(m->csr().wide);
  EXPECT_EQ(m->csr().columns.as<int64_t>()[0], big - 1);
  m = read_matrix(file("b", "1000000 1 2\n"), {{"rows", int64_t{1000000}}, {"cols", int64_t{1000000}}});
  EXPECT_EQ(m->nnz_if_known(), 1);
  EXPECT_NE(read_error(path("a"), {{"rows", int64_t{1} << 62}, {"cols", int64_t{4}}}), "");
  EXPECT_NE(read_error(path("a"), {{"rows", int64_t{1} << 50}, {"cols", int64_t{4}}}),
            "");  // no memory for its row offsets
}

TEST_F(FormatsTest, ManyCellsInAnyOrder) {
  std::string text;
  const int64_t n = 300;
  for (int64_t k = 0; k < n * n; ++k) {
    const int64_t e = k * 7919 % (n * n);
    if (e % 5 < 2) text += fmt::format("{} {} {}\n", e / n + 1, e % n + 1, e + 1);
  }
  const MatrixRef m = read_matrix(file("a", text), {{"rows", n}, {"cols", n}});
  const std::vector<double> found = cells(m);
  for (int64_t e = 0; e < n * n; ++e) ASSERT_EQ(found[static_cast<size_t>(e)], e % 5 < 2 ? e + 1 : 0) << e;
}

TEST_F(FormatsTest, MatrixMarketCoordinate) {
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  EXPECT_EQ(shown(read(file("a", banner + "real general\n% a comment\n\n2 3 2\n1 2 1.5\n2 3 -2\n"))),
            "2x3: 0 1.5 0 0 0 -2");
  EXPECT_EQ(shown(read(file("b.mtx", banner + "integer symmetric\n2 2 2\n1 1 3\n2 1 4\n"))), "2x2: 3 4 4 0");
  EXPECT_EQ(shown(read(file("c.mtx", banner + "REAL Skew-Symmetric\n2 2 1\n2 1 4\n"))), "2x2: 0 -4 4 0");
  EXPECT_EQ(shown(read(file("d.mtx", banner + "pattern general\n2 2 2\n2 1\n1 2\n"))), "2x2: 0 1 1 0");
  EXPECT_EQ(shown(named("readMM", {path("d.mtx")}, {}).front()), "2x2: 0 1 1 0");
  EXPECT_EQ(shown(read(file("e.mtx", banner + "real general\n3 4 0\n"))), "3x4: 0 0 0 0 0 0 0 0 0 0 0 0");
  EXPECT_EQ(read_error(file("f.mtx", banner + "real general\n2 2 3\n1 1 1\n2 2 1\n")),
            "bad Matrix Market file: expected 3 cells, found 2 (f.mtx)");
  EXPECT_EQ(read_error(file("g.mtx", banner + "complex general\n2 2 3\n")),
            "bad Matrix Market file: expected real, integer or pattern, found \"complex\" (g.mtx:1)");
  EXPECT_EQ(read_error(file("h.mtx", banner + "real general\n2 x 3\n")),
            "bad Matrix Market file: expected 3 sizes, found \"2 x 3\" (h.mtx:2)");
  EXPECT_EQ(read_error(file("i.mtx", "1 1 1\n")),
            "bad Matrix Market file: expected %%MatrixMarket, found \"1\" (i.mtx:1)");
  EXPECT_EQ(read_error(file("j.mtx", banner + "real symmetric\n2 3 0\n")),
            "bad Matrix Market file: a symmetric matrix must be square, found 2x3 (j.mtx)");
  EXPECT_EQ(read_error(file("k.mtx", banner + "real general\n")),
            "bad Matrix Market file: it ends before its line of sizes (k.mtx)");
  EXPECT_EQ(read_error(file("l.mtx", banner + "real symmetric\n2 2 2\n2 1 1\n1 2 1\n")),
            "bad Matrix Market file: cell 1,2 stands more than once (l.mtx)");
  EXPECT_EQ(read_error(path("a"), {{"format", std::string("mm")}, {"rows", int64_t{3}}}),
            "file does not match its declared size: expected 3x?, found 2x3 (a)");
}

TEST_F(FormatsTest, MatrixMarketArray) {
  const std::string banner = "%%MatrixMarket matrix array real ";
  EXPECT_EQ(shown(read(file("a.mtx", banner + "general\n2 3\n1\n2\n3\n\n4\n5\n6\n"))), "2x3: 1 3 5 2 4 6");
  EXPECT_EQ(shown(read(file("b.mtx", banner + "symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"))), "3x3: 1 2 3 2 4 5 3 5 6");
  EXPECT_EQ(shown(read(file("c.mtx", banner + "skew-symmetric\n3 3\n1\n2\n3\n"))), "3x3: 0 -1 -2 1 0 -3 2 3 0");
  EXPECT_EQ(read_error(file("d.mtx", banner + "general\n500000000 500000000\n1\n")),
            "bad Matrix Market file: expected 250000000000000000 values for 500000000x500000000, found 1 (d.mtx)");
  EXPECT_EQ(read_error(file("e.mtx", banner + "general\n1 2\n1 2\n3\n")),
            "bad Matrix Market file: expected one number in a line, found \"1\" (e.mtx:3)");
  std::string text = banner + "general\n400 300\n";
  for (int i = 0; i < 120000; ++i) text += std::to_string(i) + "\n";
  const std::vector<double> big = cells(read(file("f.mtx", text)));
  for (int r = 0; r < 400; ++r)
    for (int c = 0; c < 300; ++c) ASSERT_EQ(big[static_cast<size_t>(r * 300 + c)], c * 400 + r);
}

TEST_F(FormatsTest, Libsvm) {
  EXPECT_EQ(shown(read(file("a.libsvm", "1 1:0.5 3:2\n-1 2:1e1 # note\n\n+1\n"))), "3x4: 0.5 0 2 1 0 10 0 -1 0 0 0 1");
  EXPECT_EQ(shown(read(path("a.libsvm"), {{"cols", int64_t{6}}})), "3x6: 0.5 0 2 0 0 1 0 10 0 0 0 -1 0 0 0 0 0 1");
  EXPECT_EQ(shown(read(file("b.svm", "1,2=3,1=4\n"), {{"sep", std::string(",")}, {"indSep", std::string("=")}})),
            "1x3: 4 3 1");
  EXPECT_EQ(read_error(path("a.libsvm"), {{"cols", int64_t{3}}}),
            "bad libsvm file: expected indexes of at most 2, found 3 (a.libsvm:1)");
  EXPECT_EQ(read_error(file("c.svm", "1 1:1\nx 1:1\n")),
            "bad libsvm file: expected a number as label, found \"x\" (c.svm:2)");
  EXPECT_EQ(read_error(file("d.svm", "1 0:1\n")),
            "bad libsvm file: expected an index of at least 1, found \"0:1\" (d.svm:1)");
  EXPECT_EQ(read_error(file("e.svm", "1 2:1 2:2\n")), "bad libsvm file: index 2 stands more than once (e.svm:1)");
  EXPECT_EQ(read_error(file("f.svm", "1 qid:1\n")), "bad libsvm file: expected index:value, found \"qid:1\" (f.svm:1)");
  EXPECT_EQ(read_error(file("g.svm", "1 1:x\n")), "bad libsvm file: expected a number as value, found \"x\" (g.svm:1)");
}

std::string npy(const std::string& dictionary, const std::string& cells, char version = 1) {
  std::string header = dictionary + "\n";
  std::string out("\x93NUMPY", 6);
  out += version;
  out += '\0';
  out += static_cast<char>(header.size());
  out += '\0';
  if (version > 1) out += std::string(2, '\0');
  return out + header + cells;
}

template <class E>
std::string raw(std::initializer_list<E> values) {
  std::string out;
  for (const E v : values) out.append(reinterpret_cast<const char*>(&v), sizeof v);
  return out;
}

TEST_F(FormatsTest, Npy) {
  const std::string row_major = "'fortran_order': False, 'shape': (2, 3), }",
                    column_major = "'fortran_order': True, 'shape': (2, 3)}";
  EXPECT_EQ(shown(read(file("a.npy", npy("{'descr': '<f8', " + row_major, raw<double>({1, 2, 3, 4, 5, 6}))))),
            "2x3: 1 2 3 4 5 6");
  EXPECT_EQ(shown(read(file("b", npy("{'descr': '<f8', " + column_major, raw<double>({1, 2, 3, 4, 5, 6}), 2)))),
            "2x3: 1 3 5 2 4 6");
  EXPECT_EQ(shown(read(file("c.npy", npy("{\"descr\": \"<f4\", " + row_major, raw<float>({1, 2, 3, 4, 5, .5f}), 3)))),
            "2x3: 1 2 3 4 5 0.5");
  EXPECT_EQ(shown(read(file("d.npy", npy("{'descr': '|i1', " + row_major, raw<int8_t>({1, -2, 3, 4, 5, 6}))))),
            "2x3: 1 -2 3 4 5 6");
  EXPECT_EQ(shown(read(file("e.npy", npy("{'descr': '|b1', " + row_major, raw<uint8_t>({1, 0, 1, 1, 0, 7}))))),
            "2x3: 1 0 1 1 0 1");
  EXPECT_EQ(
      shown(read(file("f.npy", npy("{'descr': '>u2', " + row_major, std::string("\0\1\1\0\0\3\0\4\0\5\0\6", 12))))),
      "2x3: 1 256 3 4 5 6");
  EXPECT_EQ(shown(read(file("g.npy",
                            npy("{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}", raw<int64_t>({1, -2, 3}))))),
            "3x1: 1 -2 3");
  EXPECT_EQ(shown(read(file("h.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", raw<double>({4}))))),
            "1x1: 4");
  EXPECT_EQ(shown(read(file("i.npy", npy("{'descr': '<u4', 'fortran_order': False, 'shape': (1, 2, 2)}",
                                         raw<uint32_t>({1, 2, 3, 4}))))),
            "1x4: 1 2 3 4");
  EXPECT_EQ(read_error(file("j.npy", npy("{'descr': '<f8', " + row_major, raw<double>({1, 2, 3})))),
            "bad npy file: expected 48 bytes of cells for 2x3, found 24 (j.npy)");
  EXPECT_NE(read_error(file("k.npy", npy("{'descr': '<c16', " + row_major, ""))), "");
  EXPECT_NE(read_error(file("l.npy", npy("{'descr': [('a', '<f8')], " + row_major, ""))), "");
  EXPECT_NE(read_error(file(
                "m.npy",
                npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999, 99999999999999999)}", ""))),
            "");
  EXPECT_NE(read_error(file("n.npy", "\x93NUMPY\x02")), "");
  EXPECT_EQ(read_error(file("o.npy", "PK\3\4 and the rest of an archive")),
            "cannot read an npz archive: save one array with numpy.save (o.npy)");
}

TEST_F(FormatsTest, NpyColumnMajorTiles) {
  const int64_t rows = 5000, cols = 37;
  std::string data;
  for (int64_t c = 0; c < cols; ++c)
    for (int64_t r = 0; r < rows; ++r) data += raw<double>({static_cast<double>(r * cols + c)});
  const std::vector<double> found =
      cells(read(file("a.npy", npy("{'descr': '<f8', 'fortran_order': True, 'shape': (5000, 37)}", data))));
  for (size_t e = 0; e < found.size(); ++e) ASSERT_EQ(found[e], static_cast<double>(e));
}

TEST_F(FormatsTest, Idx) {
  EXPECT_EQ(shown(read(file("t-images-idx3-ubyte", std::string("\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\2\1\2\3\xff", 20)))),
            "2x2: 1 2 3 255");
  EXPECT_EQ(shown(read(file("a.idx", std::string("\0\0\x0b\1\0\0\0\2\0\1\xff\xff", 12)))), "2x1: 1 -1");
  EXPECT_EQ(read_error(file("b.idx", std::string("\0\0\x08\1\0\0\0\2\0", 9))),
            "bad idx file: expected 2 bytes of cells for 2x1, found 1 (b.idx)");
  EXPECT_EQ(read_error(file("c.idx", std::string("\0\0\x07\1\0\0\0\2\0", 9))),
            "bad idx file: expected type 8, 9, 11, 12, 13 or 14, found 7 (c.idx, byte 2)");
  EXPECT_EQ(read_error(file("d.idx", std::string("\0\0\x08\xff\0\0\0\2\0", 9))),
            "bad idx file: its 255 sizes do not fit (d.idx, byte 3)");
  EXPECT_NE(read_error(file("e.idx", std::string("\0\0\x08\4", 4) + std::string(16, '\xff'))), "");
}

TEST_F(FormatsTest, ChecksumIsXxh64) {
  const auto sum = [](std::string_view text) { return checksum({text.data(), text.size()}); };
  EXPECT_EQ(sum(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(sum("abc"), 0x44BC2CF5AD770999u);
}

TEST_F(FormatsTest, BinaryNoticesEveryChange) {
  ctx.threads = 1;
  for (const Value& x :
       {dense(3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
        sparse(3, 9, {0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 1, 2, 0, 0})}) {
    write(x, path("x.bin"), {{"format", std::string("binary")}});
    const std::string good = bytes("x.bin");
    std::filesystem::remove(path("x.bin.mtd"));
    EXPECT_EQ(shown(read(path("x.bin"))), shown(x));
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x10);
      EXPECT_NE(read_error(file("y.bin", bad)), "") << i;
      EXPECT_NE(read_error(file("y.bin", good.substr(0, i))), "") << i;
    }
    EXPECT_NE(read_error(file("y.bin", good + "x")), "");
  }
}

TEST_F(FormatsTest, BinaryDamageIsSaid) {
  write(new_virtual(ctx, 2000, 200, Random{Distribution::uniform, 1, 2, 1, 1, 3, 0}), path("x"),
        {{"format", std::string("binary")}});
  std::string bad = bytes("x");
  bad[2000000] = static_cast<char>(bad[2000000] ^ 1);
  file("x", bad);
  EXPECT_EQ(read_error(path("x")), "damaged binary file: the checksum of bytes 1048704 to 2097280 differs (x)");
  file("x", bad.substr(0, 3000000));
  EXPECT_EQ(read_error(path("x")), "damaged binary file: expected 3200168 bytes, found 3000000 (x)");
  EXPECT_EQ(read_error(file("y", "SEQ\6\"org.apache.sysds", R"({"format": "binary", "rows": 1, "cols": 1})")),
            "cannot read a Hadoop SequenceFile: write the matrix as csv or text with the engine that made it (y)");
  file("z/0-m-00000", "SEQ\6");
  EXPECT_NE(read_error(path("z"), {{"format", std::string("binary")}}).find("SequenceFile"), std::string::npos);
  EXPECT_EQ(read_error(file("w", "1,2\n", R"({"format": "binary"})")),
            "bad binary file: it does not begin with HOPLINE (w)");
}

}  // namespace
}  // namespace hopline
