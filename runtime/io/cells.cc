#include "runtime/io/cells.h"

#include <algorithm>
#include <atomic>

#include "runtime/base/parallel.h"
#include "runtime/io/sparse_rows.h"
#include "runtime/io/tokens.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"

namespace hopline {

void bad_line(const FileJob& job, std::string_view what, const Lines& lines, const char* at,
              const std::string& message) {
  job.fail("bad {} file: {} ({})", what, message, place(job, *lines.part, lines.offset_of(at)));
}

namespace {

struct Cell {
  int64_t row, col;  // 0-based
  double value;
};

const char* parse_cell_index(const FileJob& job, const CellLines& f, const Lines& lines, const char* p, int64_t& out) {
  const char* stop = parse_index(p, out);
  if (stop == nullptr || !(is_gap(*stop) || *stop == '\n'))
    bad_line(job, f.what, lines, p, "expected an index, found " + quote(token_at(p)));
  return skip_gaps(stop);
}

// Parses the line at p and calls sink(cell) for the cells it stands for; returns the next line. Counts lines with
// cells.
template <class Sink>
const char* parse_line(const FileJob& job, const CellLines& f, const Lines& lines, const char* p, int64_t& count,
                       Sink&& sink) {
  const char* const line = p = skip_gaps(p);
  if (*p == '\n') return p + 1;
  if (*p == '%' && f.comments)
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(lines.end - p))) + 1;
  Cell cell{0, 0, 1};
  p = parse_cell_index(job, f, lines, p, cell.row);
  p = parse_cell_index(job, f, lines, p, cell.col);
  if (!f.pattern) {
    const char* stop = parse_token_number(p, lines.end, cell.value);
    if (stop == nullptr) bad_line(job, f.what, lines, line, "expected a number, found " + quote(token_at(p)));
    p = skip_gaps(stop);
  }
  if (*p != '\n') bad_line(job, f.what, lines, line, "text follows a cell: " + quote(token_at(p)));
  ++count;
  if (cell.row == 1 && cell.col == 1 && cell.value == 0 && !f.comments) return p + 1;  // an empty matrix as written
  if (cell.row < 1 || cell.row > f.rows || cell.col < 1 || cell.col > f.cols)
    bad_line(job, f.what, lines, line,
             fmt::format("expected indexes from 1,1 to {},{}, found {},{}", f.rows, f.cols, cell.row, cell.col));
  --cell.row, --cell.col;
  if (f.symmetry == Symmetry::skew && cell.row == cell.col)
    bad_line(job, f.what, lines, line, "a skew-symmetric matrix has no cells on its diagonal");
  sink(cell);
  if (f.symmetry != Symmetry::general && cell.row != cell.col)
    sink(Cell{cell.col, cell.row, f.symmetry == Symmetry::skew ? -cell.value : cell.value});
  return p + 1;
}

// Calls sink(cell) for all cells, in parallel over chunks; returns the number of lines with cells.
template <class Sink>
int64_t for_each_cell(const FileJob& job, const Text& text, const CellLines& f, const Sink& sink) {
  std::atomic<int64_t> total{0};
  parallel_for(text.chunks(), job.ctx.threads, [&](int64_t chunk) {
    const Lines lines = load_lines(job, text, chunk);
    int64_t count = 0;
    for (const char* p = lines.begin; p < lines.end;) p = parse_line(job, f, lines, p, count, sink);
    total += count;
  });
  return total;
}

[[noreturn]] void twice(const FileJob& job, const Text& text, const CellLines& f, int64_t row, int64_t col) {
  job.fail("bad {} file: cell {},{} stands more than once ({})", f.what, row + 1, col + 1, text.parts.front().path);
}

void check_entries(const FileJob& job, const Text& text, const CellLines& f, int64_t found) {
  if (f.entries >= 0 && found != f.entries)
    job.fail("bad {} file: expected {} cells, found {} ({})", f.what, f.entries, found, text.parts.front().path);
}

template <class T>
MatrixRef read_to_dense(const FileJob& job, const Text& text, const CellLines& f) {
  Context& ctx = job.ctx;
  auto out = new_dense<T>(ctx, f.rows, f.cols);
  const int64_t cells = f.rows * f.cols, words = (cells + 63) / 64;
  T* const values = out->template dense<T>();
  std::fill_n(values, cells, T{0});
  Buffer seen_bits = ctx.memory.allocate(static_cast<size_t>(words) * 8);
  auto* const seen = seen_bits.as<uint64_t>();
  std::fill_n(seen, words, uint64_t{0});
  check_entries(job, text, f, for_each_cell(job, text, f, [&](const Cell& cell) {
                  const int64_t e = cell.row * f.cols + cell.col;
                  const uint64_t bit = uint64_t{1} << (e % 64);
                  if ((std::atomic_ref(seen[e / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) != 0)
                    twice(job, text, f, cell.row, cell.col);
                  values[e] = static_cast<T>(cell.value);
                }));
  return settle<T>(ctx, std::move(out));
}

// Row by row: ascending columns, no cell twice; counts the zeros among the values.
template <class T, class Index>
int64_t sort_rows(const FileJob& job, const Text& text, const CellLines& f, Csr& csr) {
  const auto* offsets = csr.offsets.as<int64_t>();
  auto* columns = csr.columns.as<Index>();
  T* values = csr.values.as<T>();
  std::atomic<int64_t> zeros{0};
  constexpr int64_t kGrain = 4096;
  parallel_chunks(f.rows, kGrain, job.ctx.threads, [&](int64_t begin, int64_t end) {
    struct Entry {
      int64_t column;
      T value;
    };
    Buffer scratch;
    int64_t count = 0;
    for (int64_t r = begin; r < end; ++r) {
      const int64_t from = offsets[r], n = offsets[r + 1] - from;
      if (!std::is_sorted(columns + from, columns + from + n)) {
        if (scratch.bytes() < static_cast<size_t>(n) * sizeof(Entry))
          scratch = job.ctx.memory.allocate(static_cast<size_t>(n) * sizeof(Entry));
        auto* entries = scratch.as<Entry>();
        for (int64_t k = 0; k < n; ++k) entries[k] = {columns[from + k], values[from + k]};
        std::sort(entries, entries + n, [](const Entry& a, const Entry& b) { return a.column < b.column; });
        for (int64_t k = 0; k < n; ++k)
          columns[from + k] = static_cast<Index>(entries[k].column), values[from + k] = entries[k].value;
      }
      for (int64_t k = from; k < from + n; ++k) {
        if (k > from && columns[k] == columns[k - 1]) twice(job, text, f, r, columns[k]);
        count += values[k] == 0;
      }
    }
    zeros += count;
  });
  return zeros;
}

// Two passes: count the cells of each row, then put each at the next free place of its row.
template <class T, class Index>
MatrixRef read_to_sparse(const FileJob& job, const Text& text, const CellLines& f) {
  Context& ctx = job.ctx;
  Buffer counts = ctx.memory.allocate(static_cast<size_t>(f.rows + 1) * sizeof(int64_t));
  auto* const offsets = counts.as<int64_t>();
  std::fill_n(offsets, f.rows + 1, int64_t{0});
  check_entries(job, text, f, for_each_cell(job, text, f, [&](const Cell& cell) {
                  std::atomic_ref(offsets[cell.row + 1]).fetch_add(1, std::memory_order_relaxed);
                }));
  for (int64_t r = 0; r < f.rows; ++r) offsets[r + 1] += offsets[r];
  auto out = new_sparse<T>(ctx, f.rows, f.cols, offsets[f.rows]);
  Csr& csr = out->csr();
  auto* columns = csr.columns.template as<Index>();
  T* values = csr.values.template as<T>();
  Buffer free_places = ctx.memory.allocate(static_cast<size_t>(f.rows) * sizeof(int64_t));
  auto* const next = free_places.as<int64_t>();
  std::copy_n(offsets, f.rows, next);
  const auto changed = [&] { job.fail("cannot read {}: the file changed while it was read", text.parts.front().path); };
  for_each_cell(job, text, f, [&](const Cell& cell) {
    const int64_t k = std::atomic_ref(next[cell.row]).fetch_add(1, std::memory_order_relaxed);
    if (k >= offsets[cell.row + 1]) changed();
    columns[k] = static_cast<Index>(cell.col), values[k] = static_cast<T>(cell.value);
  });
  for (int64_t r = 0; r < f.rows; ++r)
    if (next[r] != offsets[r + 1]) changed();
  csr.offsets = std::move(counts);
  if (sort_rows<T, Index>(job, text, f, csr) != 0) drop_zeros<T>(*out);
  return settle<T>(ctx, std::move(out));
}

}  // namespace

MatrixRef read_cells_text(const FileJob& job, const Text& text, const CellLines& f) {
  const int64_t cells = checked_cells(job, f.rows, f.cols, text.parts.front().path);
  // A line with a cell has at least 3 bytes and its end.
  const int64_t most =
      (text.bytes() / 4 + static_cast<int64_t>(text.parts.size())) * (f.symmetry == Symmetry::general ? 1 : 2);
  std::atomic<int64_t> lines{0};
  const bool maybe_dense = cells > 0 && static_cast<double>(most) >= kSparse * static_cast<double>(cells);
  if (maybe_dense)
    parallel_for(text.chunks(), job.ctx.threads, [&](int64_t chunk) { lines += count_lines(job, text, chunk); });
  const double expected = static_cast<double>(lines.load()) * (f.symmetry == Symmetry::general ? 1 : 2);
  const bool dense = maybe_dense && (f.cols == 1 || expected >= kSparse * static_cast<double>(cells));
  return with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    if (dense) return read_to_dense<T>(job, text, f);
    return f.cols > INT32_MAX ? read_to_sparse<T, int64_t>(job, text, f) : read_to_sparse<T, int32_t>(job, text, f);
  });
}

MatrixRef read_text_cells(const FileJob& job, Text& text, const FileOptions& options) {
  if (options.rows < 0 || options.cols < 0)
    job.fail("a text cell file needs its size: expected rows= and cols=, or an .mtd file beside it ({})",
             text.parts.front().path);
  CellLines lines;
  lines.rows = options.rows, lines.cols = options.cols;
  return read_cells_text(job, text, lines);
}

}  // namespace hopline
