// Readers against hostile bytes. The first byte of an input says which reader; the rest is the file.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "runtime/base/config.h"
#include "runtime/io/checksum.h"
#include "runtime/io/files_of_values.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"
#include "tests/fuzz/driver.h"

namespace hopline {
namespace {

constexpr int64_t kMemory = int64_t{256} << 20;

// A file without a name on any disk.
struct MemoryFile {
  Descriptor fd{memfd_create("input", MFD_CLOEXEC)};
  explicit MemoryFile(std::string_view bytes) {
    HOPLINE_CHECK(fd.open() && ::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd.get()); }
};

void check_matrix(const MatrixBlock& m) {
  HOPLINE_CHECK(m.rows() >= 0 && m.cols() >= 0);
  double sum = 0;
  if (m.is_dense())
    for (int64_t i = 0; i < m.cells(); ++i) sum += m.dense<double>()[i];
  if (m.is_sparse()) {
    const Csr& csr = m.csr();
    const auto* offsets = csr.offsets.as<int64_t>();
    HOPLINE_CHECK(offsets[0] == 0 && offsets[m.rows()] == m.nnz_if_known());
    for (int64_t r = 0; r < m.rows(); ++r)
      for (int64_t k = offsets[r], last = -1; k < offsets[r + 1]; ++k) {
        const int64_t column = csr.wide ? csr.columns.as<int64_t>()[k] : csr.columns.as<int32_t>()[k];
        HOPLINE_CHECK(column > last && column < m.cols() && csr.values.as<double>()[k] != 0);
        last = column;
      }
  }
  if (sum == 0x1.23456789p300) std::puts("");  // so that the cells are really read
}

// A binary file whose checksums are right: six bytes of sizes and widths, the rest fills the sections.
std::string binary_file(std::string_view input) {
  char fields[6] = {};
  std::copy_n(input.begin(), std::min<size_t>(input.size(), 6), fields);
  input.remove_prefix(std::min<size_t>(input.size(), 6));
  const uint32_t store = fields[0] & 1, values = (fields[1] & 1) != 0 ? 8 : 4,
                 columns = store == 0             ? 0
                           : (fields[2] & 1) != 0 ? 8
                                                  : 4;
  const int64_t sizes[4] = {fields[3] & 15, fields[4] & 15, fields[5] & 63,
                            64};  // rows, cols, non-zeros, bytes of a block
  std::string out = "HOPLINE\x1a";
  const auto append = [&](const auto& v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  for (const uint32_t word : {1u, store, values, columns}) append(word);
  for (const int64_t size : sizes) append(size);
  out.resize(120);
  append(checksum(out));
  std::string sums;
  const auto section = [&](int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) {
      std::string block(input.substr(0, static_cast<size_t>(std::min<int64_t>(64, bytes - at))));
      input.remove_prefix(block.size());
      block.resize(static_cast<size_t>(std::min<int64_t>(64, bytes - at)));
      out += block;
      const uint64_t sum = checksum(block);
      sums.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    }
  };
  if (store == 0) section(sizes[0] * sizes[1] * values);
  if (store == 1) section((sizes[0] + 1) * 8), section(sizes[2] * columns), section(sizes[2] * values);
  out += sums;
  append(checksum(sums));
  return out;
}

Metadata arguments_of(char which) {
  Metadata out;
  switch (which) {
    case 'c':
      out.format = "csv";
      break;
    case 'C':
      out.format = "csv", out.header = true, out.na_strings = {"NA", "1"};
      break;
    case 'd':
      out.format = "csv", out.rows = 3, out.cols = 2, out.separator = "; ";
      break;
    case 'D':
      out.format = "csv", out.fill = false, out.cols = 1;
      break;
    case 't':
      out.format = "text", out.rows = 4, out.cols = 3;
      break;
    case 'T':
      out.format = "text", out.rows = 100000, out.cols = 5000000000;
      break;
    case 'm':
      out.format = "mm";
      break;
    case 's':
      out.format = "libsvm";
      break;
    case 'S':
      out.format = "libsvm", out.cols = 5;
      break;
    case 'b':
      out.format = "binary";
      break;
    case 'n':
      out.format = "npy";
      break;
    case 'i':
      out.format = "idx";
      break;
    case 'v':
      out.data_type = "scalar", out.value_type = "int";
      break;
    case 'w':
      out.data_type = "scalar", out.value_type = "boolean";
      break;
    case 'l':
      out.data_type = "list";
      break;
    default:
      break;  // by content
  }
  return out;
}

void run(std::string_view input) {
  if (input.empty()) return;
  static Memory memory(kMemory);
  static const Config config;
  Context ctx{memory, config, Precision::f64, 1, nullptr};
  const FileJob job(ctx, {});
  const char which = input.front();
  input.remove_prefix(1);
  try {
    if (which == 'j') {
      const std::string name = "x.mtd";
      describe_file(job, "x", {}, parse_metadata(job, std::string(input), name));
      return;
    }
    const std::string composed = which == 'B' ? binary_file(input) : "";
    const MemoryFile file(which == 'B' ? composed : input);
    const Value value = read_value(job, file.path(), arguments_of(which));
    if (const auto* m = std::get_if<MatrixRef>(&value)) check_matrix(**m);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io || error.kind() == ErrorKind::resource) return;
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}

}  // namespace
}  // namespace hopline

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hopline::run({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef HOPLINE_LIBFUZZER
int main(int count, char** words) {
  constexpr std::string_view kPieces[] = {"\n",
                                          ",",
                                          "\"",
                                          " ",
                                          "-",
                                          ".",
                                          "e999",
                                          "nan",
                                          "99999999999999999999",
                                          "4294967296",
                                          "9223372036854775807",
                                          "0",
                                          "1 1 1\n",
                                          "%",
                                          "\r\n",
                                          ":",
                                          "#",
                                          std::string_view("\0", 1),
                                          "{",
                                          "["};
  return hopline::tests::fuzz_bytes(count, words, "readers_fuzz", kPieces);
}
#endif
