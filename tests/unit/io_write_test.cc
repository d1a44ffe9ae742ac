#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/io_testing.h"

namespace hopline {
namespace {

struct WriteTest : FileTest, testing::Test {
  const Arguments csv{{"format", std::string("csv")}};
  using Names = std::vector<std::string>;
  template <class F>
  std::string write_error(const F& f) {
    return error_of(f);
  }
};

TEST_F(WriteTest, ReplacesAFolderOfParts) {
  file("x/part-00000", "1,2\n");
  file("x/_SUCCESS", "");
  write(dense(1, 2, {3, 4}), path("x"), csv);
  EXPECT_EQ(shown(read(path("x"))), "1x2: 3 4");
  EXPECT_EQ(entries(), (Names{"x", "x.mtd"}));
  auto list = std::make_shared<List>();
  list->entries = {1.0, 2.0};
  write(ListRef(list), path("x"));  // a file gives way to a folder, and back
  EXPECT_EQ(std::get<ListRef>(read(path("x")))->entries.size(), 2u);
  write(dense(1, 2, {5, 6}), path("x"), csv);
  EXPECT_EQ(shown(read(path("x"))), "1x2: 5 6");
  EXPECT_EQ(entries(), (Names{"x", "x.mtd"}));
}

TEST_F(WriteTest, LeavesOtherFoldersAlone) {
  file("home/thesis.tex", "text");
  file("home2/part-0", "1");
  file("home2/deeper/part-0", "1");
  std::filesystem::create_directory(path("empty"));
  const Value x = dense(1, 1, {1});
  EXPECT_EQ(write_error([&] { write(x, path("home"), csv); }),
            "cannot write home: a folder that is no earlier output stands there (it holds \"thesis.tex\")");
  EXPECT_NE(write_error([&] { write(x, path("home2"), csv); }), "");
  EXPECT_EQ(write_error([&] { write(x, path("empty"), csv); }),
            "cannot write empty: a folder without part files and without .mtd stands there");
  EXPECT_EQ(entries(), (Names{"empty", "home", "home2"}));
  EXPECT_EQ(bytes("home/thesis.tex"), "text");
}

TEST_F(WriteTest, MakesFoldersAndFollowsLinks) {
  write(dense(1, 1, {1}), path("a/b/c.csv"), csv);
  EXPECT_EQ(bytes("a/b/c.csv"), "1.0\n");
  std::filesystem::create_symlink(path("a/b/c.csv"), path("link"));
  write(dense(1, 1, {2}), path("link"), csv);
  EXPECT_EQ(bytes("a/b/c.csv"), "2.0\n");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(shown(read(path("link"))), "1x1: 2");
}

TEST_F(WriteTest, MetadataOfAnEarlierFormatGoes) {
  write(dense(1, 1, {1}), path("x"), csv);
  write(dense(1, 1, {2}), path("x"), {{"format", std::string("mm")}});
  EXPECT_EQ(entries(), Names{"x"});
  EXPECT_EQ(shown(read(path("x"))), "1x1: 2");
}

TEST_F(WriteTest, WhatCannotBeWrittenLosesNothing) {
  const Value x = dense(1, 1, {1});
  file("plain", "old");
  EXPECT_EQ(write_error([&] { write(x, path("plain/x"), csv); }), "cannot write plain/x: Not a directory");
  EXPECT_NE(write_error([&] { write(x, "/proc/hopline-test/x", csv); }), "");
  EXPECT_EQ(write_error([&] {
              write(x, path("x"), {{"format", std::string("xls")}});
            }),
            "unknown format: expected one of csv, text, mm, libsvm, binary, npy, idx, found \"xls\"");
  EXPECT_EQ(write_error([&] {
              write(dense(2, 0, {}), path("plain"), {{"format", std::string("libsvm")}});
            }),
            "cannot write plain: libsvm needs a column of labels, found 0 columns");
  EXPECT_EQ(bytes("plain"), "old");
  EXPECT_EQ(entries(), Names{"plain"});
}

TEST_F(WriteTest, AFullDiskLosesNothing) {
  write(dense(1, 2, {1, 2}), path("x"), csv);
  for (const std::string format : {"csv", "text", "binary", "npy", "libsvm"}) {
    const pid_t child = fork();
    if (child == 0) {  // a limit on the size of files stands for a disk that is full
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{100000, 100000};
      setrlimit(RLIMIT_FSIZE, &limit);
      ctx.threads = 1;  // after fork there is one
      const std::string message = write_error([&] {
        write(new_virtual(ctx, 1000, 100, Random{Distribution::uniform, 0, 1, 1, 1, 1, 0}), path("x"),
              {{"format", format}});
      });
      _exit(message == "cannot write x: File too large" ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << format;
    EXPECT_EQ(entries(), (Names{"x", "x.mtd"}));
    EXPECT_EQ(shown(read(path("x"))), "1x2: 1 2");
  }
  EXPECT_EQ(write_error([&] { write(dense(1, 1, {1}), "/dev/full", csv); }),
            "cannot write /dev/full: No space left on device");
  write(dense(1, 1, {1}), "/dev/null", csv);
}

TEST_F(WriteTest, TheOutputMayBeTheInput) {
  write(dense(2, 2, {1, 2, 3, 4}), path("x"), {{"format", std::string("binary")}});
  const Value x = read(path("x"));
  write(x, path("x"), csv);
  EXPECT_EQ(shown(read(path("x"))), "2x2: 1 2 3 4");
  EXPECT_EQ(shown(x), "2x2: 1 2 3 4");
}

TEST_F(WriteTest, TwoRunsLeaveOneWholeResult) {
  std::vector<pid_t> children;
  for (int64_t who = 1; who <= 4; ++who) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    ctx.threads = 1;
    int failures = 0;
    for (int round = 0; round < 20; ++round) {
      failures += !write_error([&] {
                     write(new_constant(ctx, who * 10, who, static_cast<double>(who)), path("x"), csv);
                   }).empty();
    }
    _exit(failures);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const MatrixRef m = read_matrix(path("x"));
  EXPECT_EQ(m->rows(), m->cols() * 10);
  for (const double cell : cells(m)) EXPECT_EQ(cell, static_cast<double>(m->cols()));
  EXPECT_EQ(entries(), (Names{"x", "x.mtd"}));
}

TEST_F(WriteTest, CompressesWhereTheNameSaysSo) {
  const Value x = new_virtual(ctx, 3000, 20, Random{Distribution::uniform, 0, 1, 1, 0.5, 1, 0});
  write(x, path("x.csv"), csv);
  for (const std::string name : {"x.csv.gz", "x.csv.zst"}) {
    write(x, path(name), {{"format", std::string("csv")}, {"header", true}});
    EXPECT_LT(std::filesystem::file_size(path(name)), std::filesystem::file_size(path("x.csv")) / 3 * 2);
    EXPECT_EQ(shown(read(path(name))), shown(read(path("x.csv"))));
  }
  write(x, path("x.bin.gz"), {{"format", std::string("binary")}});
  EXPECT_EQ(shown(read(path("x.bin.gz"))), shown(read(path("x.csv"))));
  write(dense(0, 2, {}), path("y.csv.gz"), csv);
  EXPECT_EQ(shown(read(path("y.csv.gz"))), "0x2:");
}

TEST_F(WriteTest, KeepsTheModeOfAFile) {
  file("x", "old");
  chmod(path("x").c_str(), 0640);
  write(dense(1, 1, {1}), path("x"), csv);
  struct stat info;
  ASSERT_EQ(stat(path("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace hopline
