#include <algorithm>
#include <cmath>

#include "runtime/base/parallel.h"
#include "runtime/io/cells.h"
#include "runtime/io/tokens.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

constexpr std::string_view kWhat = "Matrix Market";

struct Banner {
  bool array = false, pattern = false;
  Symmetry symmetry = Symmetry::general;
};

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line + " ") {
    if (!is_gap(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

Banner parse_banner(const FileJob& job, const TextPart& part, const std::string& line) {
  std::vector<std::string> words = words_of(line);
  for (std::string& word : words)
    for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto bad = [&](std::string_view expected, size_t i) {
    job.fail("bad {} file: expected {}, found {} ({}:1)", kWhat, expected, quote(i < words.size() ? words[i] : ""),
             part.path);
  };
  if (words.empty() || words[0] != "%%matrixmarket") bad("%%MatrixMarket", 0);
  words.resize(5);
  if (words[1] != "matrix") bad("matrix", 1);
  Banner banner;
  banner.array = words[2] == "array";
  if (!banner.array && words[2] != "coordinate") bad("coordinate or array", 2);
  banner.pattern = words[3] == "pattern";
  if (!banner.pattern && words[3] != "real" && words[3] != "integer" && words[3] != "double")
    bad("real, integer or pattern", 3);
  if (banner.pattern && banner.array) bad("real or integer for an array", 3);
  if (words[4] == "symmetric")
    banner.symmetry = Symmetry::symmetric;
  else if (words[4] == "skew-symmetric")
    banner.symmetry = Symmetry::skew;
  else if (words[4] != "general")
    bad("general, symmetric or skew-symmetric", 4);
  return banner;
}

// Sizes of the first line that is no comment; the part's data begins behind it.
std::vector<int64_t> read_sizes(const FileJob& job, TextPart& part, LineReader& reader, size_t count) {
  std::string line;
  for (;;) {
    const int64_t at = reader.offset();
    if (!reader.next(line)) job.fail("bad {} file: it ends before its line of sizes ({})", kWhat, part.path);
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0].front() == '%') continue;
    std::vector<int64_t> sizes;
    for (const std::string& word : words) {
      const std::string padded = word + std::string(16, '\0');
      int64_t size = 0;
      if (parse_index(padded.data(), size) == padded.data() + word.size()) sizes.push_back(size);
    }
    if (words.size() != count || sizes.size() != count)
      job.fail("bad {} file: expected {} sizes, found {} ({})", kWhat, count, quote(line), place(job, part, at));
    part.begin = reader.offset();
    return sizes;
  }
}

bool has_record(const char* p) {
  p = skip_gaps(p);
  return *p != '\n' && *p != '%';
}

const char* next_line(const Lines& lines, const char* p) {
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(lines.end - p))) + 1;
}

struct Array {
  int64_t rows, cols;
  Symmetry symmetry;
  int64_t first_row(int64_t col) const {
    return symmetry == Symmetry::general ? 0 : symmetry == Symmetry::symmetric ? col : col + 1;
  }
};

template <class T>
MatrixRef fill_array(const FileJob& job, const Text& text, const Array& a, const std::vector<int64_t>& before) {
  auto out = new_dense<T>(job.ctx, a.rows, a.cols);
  T* const cells = out->template dense<T>();
  if (a.symmetry == Symmetry::skew)
    for (int64_t i = 0; i < a.rows; ++i) cells[i * a.cols + i] = 0;
  parallel_for(text.chunks(), job.ctx.threads, [&](int64_t chunk) {
    const Lines lines = load_lines(job, text, chunk);
    int64_t k = before[static_cast<size_t>(chunk)];
    const int64_t end = before[static_cast<size_t>(chunk) + 1];
    int64_t col = 0, left = k;  // `left` entries from the first row of the column on
    if (a.symmetry == Symmetry::general)
      col = k / a.rows, left = k % a.rows;
    else
      for (; left >= a.rows - a.first_row(col) && col < a.cols; ++col) left -= a.rows - a.first_row(col);
    int64_t row = a.first_row(col) + left;
    for (const char* p = lines.begin; p < lines.end; p = next_line(lines, p)) {
      if (!has_record(p)) continue;
      if (k++ == end) job.fail("cannot read {}: the file changed while it was read", lines.part->path);
      double value = 0;
      const char* const token = skip_gaps(p);
      const char* stop = parse_token_number(token, lines.end, value);
      if (stop == nullptr || *skip_gaps(stop) != '\n')
        bad_line(job, kWhat, lines, p, "expected one number in a line, found " + quote(token_at(token)));
      while (row >= a.rows) ++col, row = a.first_row(col);
      cells[row * a.cols + col] = static_cast<T>(value);
      if (a.symmetry != Symmetry::general)
        cells[col * a.cols + row] = static_cast<T>(a.symmetry == Symmetry::skew && row != col ? -value : value);
      ++row;
    }
    if (k != end) job.fail("cannot read {}: the file changed while it was read", lines.part->path);
  });
  return settle<T>(job.ctx, std::move(out));
}

MatrixRef read_array(const FileJob& job, const Text& text, const Array& a) {
  const std::string& path = text.parts.front().path;
  const int64_t cells = checked_cells(job, a.rows, a.cols, path);
  const int64_t wanted = a.symmetry == Symmetry::general     ? cells
                         : a.symmetry == Symmetry::symmetric ? (cells + a.rows) / 2
                                                             : (cells - a.rows) / 2;
  std::vector<int64_t> before(static_cast<size_t>(text.chunks()) + 1, 0);
  parallel_for(text.chunks(), job.ctx.threads, [&](int64_t chunk) {
    const Lines lines = load_lines(job, text, chunk);
    int64_t n = 0;
    for (const char* p = lines.begin; p < lines.end; p = next_line(lines, p)) n += has_record(p);
    before[static_cast<size_t>(chunk) + 1] = n;
  });
  for (size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  if (before.back() != wanted)
    job.fail("bad {} file: expected {} values for {}x{}, found {} ({})", kWhat, wanted, a.rows, a.cols, before.back(),
             path);
  if (wanted == 0) return zero_matrix(job.ctx, a.rows, a.cols);
  return with_real(job.ctx, [&](auto zero) { return fill_array<decltype(zero)>(job, text, a, before); });
}

}  // namespace

MatrixRef read_matrix_market(const FileJob& job, Text& text, const FileOptions& options) {
  TextPart& part = text.parts.front();
  LineReader reader(job, part);
  std::string line;
  if (!reader.next(line)) job.fail("bad {} file: it is empty ({})", kWhat, part.path);
  const Banner banner = parse_banner(job, part, line);
  const std::vector<int64_t> sizes = read_sizes(job, part, reader, banner.array ? 2 : 3);
  text.cut();
  const int64_t rows = sizes[0], cols = sizes[1];
  if (banner.symmetry != Symmetry::general && rows != cols)
    job.fail("bad {} file: a symmetric matrix must be square, found {}x{} ({})", kWhat, rows, cols, part.path);
  check_file_sizes(job, options, rows, cols, part.path);
  if (banner.array) return read_array(job, text, {rows, cols, banner.symmetry});
  CellLines lines;
  lines.rows = rows, lines.cols = cols, lines.entries = sizes[2];
  lines.what = kWhat, lines.pattern = banner.pattern, lines.comments = true, lines.symmetry = banner.symmetry;
  return read_cells_text(job, text, lines);
}

}  // namespace hopline
