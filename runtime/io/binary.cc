// Our binary format, version 1. Little-endian.
//   0  "HOPLINE\x1a"          24  int64 rows         48  int64 bytes of a block
//   8  uint32 version         32  int64 cols         56  zero
//  12  uint32 store: 0 dense, 40  int64 non-zeros   120  uint64 checksum of bytes 0...119
//      1 CSR                                        128  sections
//  16  uint32 bytes of a value: 8, 4
//  20  uint32 bytes of a column index: CSR 4, 8; dense 0
// Sections: dense: the cells, row-major; CSR: rows + 1 offsets of 8 bytes, columns, values. Each section is cut into
// blocks; behind the sections stand the blocks' checksums (8 bytes each) and the checksum of those.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/io/checksum.h"
#include "runtime/io/raw_cells.h"
#include "runtime/io/sparse_rows.h"
#include "runtime/io/text_buffer.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

constexpr std::string_view kMagic = "HOPLINE\x1a";
constexpr uint32_t kVersion = 1;
constexpr int64_t kBlock = 1 << 20;

struct Header {
  char magic[8];
  uint32_t version, store, value_bytes, column_bytes;
  int64_t rows, cols, nnz, block_bytes;
  char zero[64];
  uint64_t sum;
};
static_assert(sizeof(Header) == 128);

uint64_t header_sum(const Header& h) { return checksum({reinterpret_cast<const char*>(&h), offsetof(Header, sum)}); }

struct Section {
  int64_t offset = 0, bytes = 0;  // in the file
  int64_t first_block = 0, blocks = 0;
};

struct Layout {
  std::array<Section, 3> sections;  // dense: only the first has bytes
  int64_t blocks = 0;
  int64_t sums_offset = 0;
  int64_t file_bytes = 0;
};

Layout layout_of(const Header& h) {
  Layout out;
  const int64_t bytes[3] = {h.store == 0 ? h.rows * h.cols * h.value_bytes : (h.rows + 1) * 8,
                            h.store == 0 ? 0 : h.nnz * h.column_bytes, h.store == 0 ? 0 : h.nnz * h.value_bytes};
  int64_t at = sizeof(Header);
  for (size_t i = 0; i < 3; ++i) {
    out.sections[i] = {at, bytes[i], out.blocks, (bytes[i] + h.block_bytes - 1) / h.block_bytes};
    at += bytes[i], out.blocks += out.sections[i].blocks;
  }
  out.sums_offset = at;
  out.file_bytes = at + out.blocks * 8 + 8;
  return out;
}

// Bytes [begin, end) of block number `block`, within its section.
struct BlockRange {
  size_t section;
  int64_t begin, end;
};

BlockRange range_of(const Layout& layout, int64_t block, int64_t block_bytes) {
  size_t s = 0;
  while (block >= layout.sections[s].first_block + layout.sections[s].blocks) ++s;
  const int64_t begin = (block - layout.sections[s].first_block) * block_bytes;
  return {s, begin, std::min(begin + block_bytes, layout.sections[s].bytes)};
}

[[noreturn]] void damaged(const FileJob& job, const TextPart& part, std::string_view what) {
  job.fail("damaged binary file: {} ({})", what, part.path);
}

Header read_header(const FileJob& job, const TextPart& part) {
  const std::string start = head(job, part, sizeof(Header));
  if (start.size() > 3 && start.starts_with("SEQ") && start[3] < ' ')
    job.fail("cannot read a Hadoop SequenceFile: write the matrix as csv or text with the engine that made it ({})",
             part.path);
  if (!start.starts_with(kMagic)) job.fail("bad binary file: it does not begin with HOPLINE ({})", part.path);
  if (start.size() < sizeof(Header)) damaged(job, part, "it ends within its header");
  Header h;
  std::memcpy(&h, start.data(), sizeof h);
  if (h.version != kVersion)
    job.fail("bad binary file: expected version {}, found {} ({})", kVersion, h.version, part.path);
  if (h.sum != header_sum(h)) damaged(job, part, "the checksum of its header differs");
  constexpr int64_t kMost = int64_t{1} << 57;
  const bool widths = h.store == 0
                          ? h.column_bytes == 0
                          : h.store == 1 && (h.column_bytes == 8 || (h.column_bytes == 4 && h.cols <= INT32_MAX));
  if (!widths || (h.value_bytes != 8 && h.value_bytes != 4) || h.rows < 0 || h.cols < 0 || h.rows > kMost ||
      h.nnz < 0 || h.block_bytes < 64 || h.block_bytes % 8 != 0)
    damaged(job, part, "its header contradicts itself");
  const int64_t cells = checked_cells(job, h.rows, h.cols, part.path);
  if (h.nnz > std::min(cells, kMost)) damaged(job, part, "its header contradicts itself");
  return h;
}

// Reads block by block, checks, and calls use(section, begin, bytes): the bytes stand in `place(section)` where that is
// given, else in a scratch buffer.
template <class Use>
void read_blocks(const FileJob& job, const TextPart& part, const Header& h, const std::array<char*, 3>& places,
                 const Use& use) {
  const Layout layout = layout_of(h);
  const auto sum_bytes = static_cast<size_t>(layout.blocks + 1) * 8;
  Buffer sum_buffer = job.ctx.memory.allocate(sum_bytes);
  auto* const sums = sum_buffer.as<uint64_t>();
  if (read_text(job, part, layout.sums_offset, {sum_buffer.as<char>(), sum_bytes}) != sum_bytes)
    damaged(job, part, "it ends early");
  if (checksum({sum_buffer.as<char>(), sum_bytes - 8}) != sums[layout.blocks])
    damaged(job, part, "the checksum of its checksums differs");
  parallel_for(layout.blocks, job.ctx.threads, [&](int64_t block) {
    job.poll();
    const BlockRange range = range_of(layout, block, h.block_bytes);
    const auto bytes = static_cast<size_t>(range.end - range.begin);
    Buffer scratch;
    char* to = places[range.section];
    if (to == nullptr) {
      scratch = job.ctx.memory.allocate(bytes);
      to = scratch.as<char>();
    } else {
      to += range.begin;
    }
    const int64_t at = layout.sections[range.section].offset + range.begin;
    if (read_text(job, part, at, {to, bytes}) != bytes) damaged(job, part, "it ends early");
    if (checksum({to, bytes}) != sums[block])
      damaged(job, part, fmt::format("the checksum of bytes {} to {} differs", at, at + static_cast<int64_t>(bytes)));
    use(range, to);
  });
}

// Values of the file's width to those of the run.
template <class T>
void convert_values(uint32_t width, const char* from, int64_t begin, int64_t end, T* out) {
  if (width == 8)
    std::copy(reinterpret_cast<const double*>(from), reinterpret_cast<const double*>(from) + (end - begin) / 8,
              out + begin / 8);
  else
    std::copy(reinterpret_cast<const float*>(from), reinterpret_cast<const float*>(from) + (end - begin) / 4,
              out + begin / 4);
}

template <class T>
MatrixRef read_dense(const FileJob& job, const TextPart& part, const Header& h) {
  auto out = new_dense<T>(job.ctx, h.rows, h.cols);
  T* const cells = out->template dense<T>();
  const bool same = h.value_bytes == sizeof(T);
  read_blocks(job, part, h, {same ? reinterpret_cast<char*>(cells) : nullptr, nullptr, nullptr},
              [&](const BlockRange& range, const char* bytes) {
                if (!same) convert_values(h.value_bytes, bytes, range.begin, range.end, cells);
              });
  // The header's count is trusted only as far as it can be checked: it decides the store of the result.
  const int64_t nnz = count_nnz<T>(job.ctx, *out);
  if (same && nnz != h.nnz) damaged(job, part, fmt::format("expected {} non-zeros, found {}", h.nnz, nnz));
  return settle<T>(job.ctx, std::move(out));
}

template <class T, class Index>
bool valid_rows(const FileJob& job, const MatrixBlock& m, bool narrowed) {
  const Csr& csr = m.csr();
  const auto* offsets = csr.offsets.as<int64_t>();
  const auto* columns = csr.columns.as<Index>();
  const T* values = csr.values.as<T>();
  if (offsets[0] != 0 || offsets[m.rows()] != m.nnz_if_known()) return false;
  for (int64_t r = 0; r < m.rows(); ++r)
    if (offsets[r + 1] < offsets[r]) return false;
  std::atomic<bool> valid{true};
  constexpr int64_t kGrain = 4096;
  parallel_chunks(m.rows(), kGrain, job.ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t k = offsets[r], last = -1; k < offsets[r + 1]; last = columns[k++])
        if (columns[k] <= last || columns[k] >= m.cols() || (values[k] == 0 && !narrowed)) valid = false;
  });
  return valid;
}

template <class T>
MatrixRef read_sparse(const FileJob& job, const TextPart& part, const Header& h) {
  auto out = new_sparse<T>(job.ctx, h.rows, h.cols, h.nnz);
  Csr& csr = out->csr();
  T* const values = csr.values.template as<T>();
  const bool same = h.value_bytes == sizeof(T), same_columns = (h.column_bytes == 8) == csr.wide;
  read_blocks(job, part, h,
              {csr.offsets.as<char>(), same_columns ? csr.columns.as<char>() : nullptr,
               same ? reinterpret_cast<char*>(values) : nullptr},
              [&](const BlockRange& range, const char* bytes) {
                if (range.section == 2 && !same) convert_values(h.value_bytes, bytes, range.begin, range.end, values);
                if (range.section != 1 || same_columns) return;
                const auto* from = reinterpret_cast<const int64_t*>(bytes);
                for (int64_t k = range.begin / 8; k < range.end / 8; ++k, ++from)
                  csr.columns.as<int32_t>()[k] =
                      *from < 0 || *from > INT32_MAX ? INT32_MAX : static_cast<int32_t>(*from);
              });
  const bool valid = csr.wide ? valid_rows<T, int64_t>(job, *out, !same) : valid_rows<T, int32_t>(job, *out, !same);
  if (!valid) damaged(job, part, "its rows contradict themselves");
  if (!same) drop_zeros<T>(*out);  // a value may have become 0
  return settle<T>(job.ctx, std::move(out));
}

// A block's bytes: in the matrix, or in `out` where its cells have to be computed.
template <class T>
std::span<const char> block_bytes(const MatrixBlock& m, const BlockRange& range, TextBuffer& out) {
  const auto bytes = static_cast<size_t>(range.end - range.begin);
  if (m.is_sparse()) {
    const Csr& csr = m.csr();
    const Buffer* sections[] = {&csr.offsets, &csr.columns, &csr.values};
    return {sections[range.section]->as<char>() + range.begin, bytes};
  }
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  T* scratch = m.is_dense() ? nullptr : reinterpret_cast<T*>(out.room(bytes));
  return {reinterpret_cast<const char*>(cells_of(m, range.begin / kWidth, range.end / kWidth, scratch)), bytes};
}

template <class T>
void write_blocks(const FileJob& job, const MatrixBlock& m, Temporary& file) {
  Header h{};
  std::memcpy(h.magic, kMagic.data(), sizeof h.magic);
  h.version = kVersion, h.store = m.is_sparse() ? 1 : 0, h.value_bytes = sizeof(T);
  h.column_bytes = m.is_sparse() ? (m.csr().wide ? 8 : 4) : 0;
  h.rows = m.rows(), h.cols = m.cols(), h.nnz = count_nnz<T>(job.ctx, m), h.block_bytes = kBlock;
  h.sum = header_sum(h);
  file.write({reinterpret_cast<const char*>(&h), sizeof h});
  const Layout layout = layout_of(h);
  Buffer sum_buffer = job.ctx.memory.allocate(static_cast<size_t>(layout.blocks + 1) * 8);
  auto* const sums = sum_buffer.as<uint64_t>();
  write_pieces(job, file, layout.blocks, [&](int64_t block, TextBuffer& out) {
    const std::span<const char> bytes = block_bytes<T>(m, range_of(layout, block, kBlock), out);
    sums[block] = checksum(bytes);
    return bytes;
  });
  sums[layout.blocks] = checksum({sum_buffer.as<char>(), static_cast<size_t>(layout.blocks) * 8});
  file.write({sum_buffer.as<char>(), static_cast<size_t>(layout.blocks + 1) * 8});
}

}  // namespace

MatrixRef read_binary(const FileJob& job, Text& text, const FileOptions& options) {
  const TextPart& part = single_part(job, text, "binary");
  const Header h = read_header(job, part);
  check_file_sizes(job, options, h.rows, h.cols, part.path);
  const Layout layout = layout_of(h);
  if (part.size != layout.file_bytes)
    damaged(job, part, fmt::format("expected {} bytes, found {}", layout.file_bytes, part.size));
  return with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    return h.store == 0 ? read_dense<T>(job, part, h) : read_sparse<T>(job, part, h);
  });
}

void write_binary(const FileJob& job, const MatrixBlock& m, Temporary& file) {
  with_real(job.ctx, [&](auto zero) { write_blocks<decltype(zero)>(job, m, file); });
}

}  // namespace hopline
