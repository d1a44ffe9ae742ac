#include "runtime/io/raw_cells.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/parallel.h"
#include "runtime/io/text_buffer.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

using Element = RawCells::Element;
constexpr int64_t kTileCells = 1 << 15;

template <class F>
void with_element(Element element, const F& f) {
  switch (element) {
    case Element::f64:
      return f(double{});
    case Element::f32:
      return f(float{});
    case Element::i8:
      return f(int8_t{});
    case Element::i16:
      return f(int16_t{});
    case Element::i32:
      return f(int32_t{});
    case Element::i64:
      return f(int64_t{});
    case Element::u8:
      return f(uint8_t{});
    case Element::u16:
      return f(uint16_t{});
    case Element::u32:
      return f(uint32_t{});
    case Element::u64:
      return f(uint64_t{});
    case Element::boolean:
      return f(bool{});
  }
}

template <class E>
E load(const char* p, bool swap) {
  if constexpr (std::is_same_v<E, bool>) return *p != 0;
  char bytes[sizeof(E)];
  std::memcpy(bytes, p, sizeof(E));
  if (swap) std::reverse(bytes, bytes + sizeof(E));
  E value;
  std::memcpy(&value, bytes, sizeof(E));
  return value;
}

// n cells at `bytes` to out[0], out[step], ...
template <class T>
void convert(const RawCells& raw, const char* bytes, int64_t n, T* out, int64_t step) {
  with_element(raw.element, [&](auto zero) {
    using E = decltype(zero);
    if (raw.big_endian)
      for (int64_t i = 0; i < n; ++i)
        out[i * step] = static_cast<T>(load<E>(bytes + i * static_cast<int64_t>(sizeof(E)), true));
    else
      for (int64_t i = 0; i < n; ++i)
        out[i * step] = static_cast<T>(load<E>(bytes + i * static_cast<int64_t>(sizeof(E)), false));
  });
}

void read_exactly(const FileJob& job, const TextPart& part, int64_t offset, std::span<char> out) {
  if (read_text(job, part, offset, out) != out.size()) job.fail("cannot read {}: it ends early", part.path);
}

template <class T>
bool same_element(const RawCells& raw) {
  return !raw.big_endian && raw.element == (sizeof(T) == 8 ? Element::f64 : Element::f32);
}

template <class T>
void read_row_major(const FileJob& job, const TextPart& part, const RawCells& raw, T* out) {
  const int64_t width = element_bytes(raw.element);
  parallel_chunks(raw.rows * raw.cols, kTileCells, job.ctx.threads, [&](int64_t begin, int64_t end) {
    job.poll();
    const auto bytes = static_cast<size_t>((end - begin) * width);
    if (same_element<T>(raw))
      return read_exactly(job, part, raw.offset + begin * width, {reinterpret_cast<char*>(out + begin), bytes});
    Buffer tile = job.ctx.memory.allocate(bytes);
    read_exactly(job, part, raw.offset + begin * width, {tile.as<char>(), bytes});
    convert(raw, tile.as<char>(), end - begin, out + begin, 1);
  });
}

// Tiles of a few columns: each column's piece is contiguous in the file, each row's piece a cache line in memory.
template <class T>
void read_column_major(const FileJob& job, const TextPart& part, const RawCells& raw, T* out) {
  constexpr int64_t kColumns = 16, kRows = 2048;
  const int64_t width = element_bytes(raw.element);
  const int64_t down = (raw.rows + kRows - 1) / kRows, across = (raw.cols + kColumns - 1) / kColumns;
  parallel_for(down * across, job.ctx.threads, [&](int64_t tile) {
    job.poll();
    const int64_t r0 = tile % down * kRows, r1 = std::min(raw.rows, r0 + kRows);
    const int64_t c0 = tile / down * kColumns, c1 = std::min(raw.cols, c0 + kColumns);
    const auto bytes = static_cast<size_t>((r1 - r0) * width);
    Buffer column = job.ctx.memory.allocate(bytes);
    for (int64_t c = c0; c < c1; ++c) {
      read_exactly(job, part, raw.offset + (c * raw.rows + r0) * width, {column.as<char>(), bytes});
      convert(raw, column.as<char>(), r1 - r0, out + r0 * raw.cols + c, raw.cols);
    }
  });
}

}  // namespace

int64_t element_bytes(Element element) {
  int64_t bytes = 0;
  with_element(element, [&](auto zero) { bytes = sizeof zero; });
  return bytes;
}

const TextPart& single_part(const FileJob& job, const Text& text, std::string_view what) {
  if (text.parts.size() != 1)
    job.fail("cannot read a folder of {} parts as {}: expected one file ({})", text.parts.size(), what,
             text.parts.front().path);
  return text.parts.front();
}

MatrixRef read_raw_cells(const FileJob& job, const TextPart& part, const RawCells& raw) {
  const int64_t cells = checked_cells(job, raw.rows, raw.cols, part.path);
  const int64_t wanted = cells * element_bytes(raw.element), found = part.size - raw.offset;
  if (wanted != found)
    job.fail("bad {} file: expected {} bytes of cells for {}x{}, found {} ({})", raw.what, wanted, raw.rows, raw.cols,
             found, part.path);
  if (cells == 0) return zero_matrix(job.ctx, raw.rows, raw.cols);
  return with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    auto out = new_dense<T>(job.ctx, raw.rows, raw.cols);
    if (raw.column_major && raw.rows > 1 && raw.cols > 1)
      read_column_major(job, part, raw, out->template dense<T>());
    else
      read_row_major(job, part, raw, out->template dense<T>());
    return settle<T>(job.ctx, std::move(out));
  });
}

void write_raw_cells(const FileJob& job, const MatrixBlock& m, Temporary& file, bool big_endian) {
  if (m.cells() == 0) return;
  with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    write_pieces(job, file, (m.cells() + kTileCells - 1) / kTileCells, [&](int64_t piece, TextBuffer& out) {
      const int64_t begin = piece * kTileCells, n = std::min(kTileCells, m.cells() - begin);
      const auto bytes = static_cast<size_t>(n) * sizeof(T);
      T* scratch = m.is_dense() && !big_endian ? nullptr : reinterpret_cast<T*>(out.room(bytes));
      const T* cells = cells_of(m, begin, begin + n, scratch);
      if (big_endian)
        for (int64_t i = 0; i < n; ++i) scratch[i] = load<T>(reinterpret_cast<const char*>(cells + i), true);
      return std::span<const char>(reinterpret_cast<const char*>(big_endian ? scratch : cells), bytes);
    });
  });
}

}  // namespace hopline
