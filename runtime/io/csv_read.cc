#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "runtime/base/parallel.h"
#include "runtime/io/number.h"
#include "runtime/io/readers.h"
#include "runtime/io/sparse_rows.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

// What decides where fields end and what they mean.
struct Dialect {
  const FileJob& job;
  const FileOptions& options;
  std::string_view separator;
  char first;   // of the separator
  bool single;  // the separator is one byte
  bool plain;   // what reads as a number is one: no text for NaN looks like a number
  bool trim_space, trim_tab;
};

struct Field {
  std::string_view text;  // without quotes, blanks and the end of a line
  const char* stop;       // the separator or line end behind it
  bool quoted;
};

bool at_separator(const Dialect& d, const char* p, const char* end) {
  if (*p != d.first) return false;
  return d.single || std::string_view(p, static_cast<size_t>(end - p)).starts_with(d.separator);
}

bool is_blank(const Dialect& d, char c) { return (c == ' ' && d.trim_space) || (c == '\t' && d.trim_tab) || c == '\r'; }

[[noreturn]] void bad(const Dialect& d, const Lines& lines, const char* at, const std::string& what) {
  d.job.fail("bad csv file: {} ({})", what, place(d.job, *lines.part, lines.offset_of(at)));
}

// The closing quote of a field that begins after an opening one; a doubled quote stands for one and does not close.
const char* closing_quote(const char* p, const char* end) {
  for (; p < end && *p != '\n'; ++p) {
    if (*p != '"') continue;
    if (p[1] != '"') return p;
    ++p;
  }
  return nullptr;
}

Field next_field(const Dialect& d, const Lines& lines, const char* p) {
  const char* const end = lines.end;
  const char* from = p;
  while (is_blank(d, *from) && !at_separator(d, from, end)) ++from;
  if (*from == '"') {
    const char* close = closing_quote(from + 1, end);
    if (close == nullptr) bad(d, lines, from, "a quote is not closed in its line");
    const char* stop = close + 1;
    while (is_blank(d, *stop) && !at_separator(d, stop, end)) ++stop;
    if (*stop != '\n' && !at_separator(d, stop, end)) bad(d, lines, from, "text follows a closing quote");
    std::string_view text(from + 1, static_cast<size_t>(close - from - 1));
    while (!text.empty() && is_blank(d, text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(d, text.back())) text.remove_suffix(1);
    return {text, stop, true};
  }
  const char* stop = from;
  while (*stop != '\n' && !at_separator(d, stop, end)) ++stop;
  const char* to = stop;
  while (to > from && is_blank(d, to[-1])) --to;
  return {{from, static_cast<size_t>(to - from)}, stop, false};
}

double field_value(const Dialect& d, const Lines& lines, const Field& field) {
  for (const std::string& na : d.options.na_strings)
    if (field.text == na) return std::numeric_limits<double>::quiet_NaN();
  if (field.text.empty()) {
    if (d.options.fill) return d.options.fill_value;
    bad(d, lines, field.stop, "expected a number, found an empty cell and fill=FALSE");
  }
  double value = 0;
  const char* const end = field.text.data() + field.text.size();
  if (parse_any_number(field.text.data(), end, value) != end)
    bad(d, lines, field.text.data(),
        "expected a number, found " + quote(field.text) + "; texts that mean a missing value are named by naStrings");
  return value;
}

int64_t count_fields(const Dialect& d, const Lines& lines, const char* p) {
  for (int64_t n = 1;; ++n) {
    p = next_field(d, lines, p).stop;
    if (*p == '\n') return n;
    p += d.separator.size();
  }
}

[[noreturn]] void bad_count(const Dialect& d, const Lines& lines, const char* row, int64_t cols) {
  const int64_t found = count_fields(d, lines, row);
  bad(d, lines, row, fmt::format("expected {} columns, found {}", cols, found));
}

// Value and end of the field at p, whatever it is.
const char* parse_field(const Dialect& d, const Lines& lines, const char* p, double& value) {
  if (d.plain) {
    const char* stop = parse_any_number(p, lines.end, value);
    if (stop != nullptr && *stop == '\r' && stop[1] == '\n') ++stop;
    if (stop != nullptr && (*stop == '\n' || at_separator(d, stop, lines.end))) return stop;
  }
  const Field field = next_field(d, lines, p);
  value = field_value(d, lines, field);
  return field.stop;
}

// Calls sink(column, value) for each field of the line at p, of which there must be `cols`; returns the next line.
template <class Sink>
const char* parse_row(const Dialect& d, const Lines& lines, const char* p, int64_t cols, Sink&& sink) {
  const char* const row = p;
  const bool quick = d.plain && d.single;
  for (int64_t c = 0;; ++c) {
    if (c == cols) bad_count(d, lines, row, cols);
    double value = 0;
    const char* stop = quick ? parse_short_field(p, d.first, value) : nullptr;
    if (stop == nullptr) stop = parse_field(d, lines, p, value);
    sink(c, value);
    if (*stop != '\n') {
      p = stop + d.separator.size();
      continue;
    }
    if (c + 1 != cols) bad_count(d, lines, row, cols);
    return stop + 1;
  }
}

// End of the record at `offset`, line ends in quotes included. Reads only what it needs.
std::string read_record(const FileJob& job, const TextPart& part) {
  std::string bytes;
  size_t done = 0;
  bool open = false;
  for (size_t step = 4096;; step *= 2) {
    bytes.resize(bytes.size() + step);
    const size_t n = read_text(job, part, part.begin + static_cast<int64_t>(done), {bytes.data() + done, step});
    bytes.resize(done + n);
    for (; done < bytes.size(); ++done) {
      if (bytes[done] == '"') open = !open;
      if (bytes[done] == '\n' && !open) return bytes.substr(0, done + 1);
    }
    if (n < step && open) job.fail("bad csv file: a quote is not closed in the header ({}:1)", part.path);
    if (n < step) return bytes;
    job.poll();
  }
}

// Skips the header of the first part, and of others that repeat it. Returns the number of its fields, -1 without one.
int64_t skip_header(const Dialect& d, Text& text) {
  std::string header;
  for (TextPart& part : text.parts) {
    if (part.begin >= part.size) continue;
    std::string record = header.empty() ? read_record(d.job, part) : head(d.job, part, header.size());
    if (header.empty()) header = record;
    if (record == header) part.begin += static_cast<int64_t>(header.size());
  }
  text.cut();
  if (header.empty()) return -1;
  int64_t fields = 1;
  bool open = false;
  while (!header.empty() && (header.back() == '\n' || header.back() == '\r')) header.pop_back();
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] == '"') open = !open;
    if (open || !std::string_view(header).substr(i).starts_with(d.separator)) continue;
    ++fields, i += d.separator.size() - 1;
  }
  return fields;
}

Dialect dialect_of(const FileJob& job, const FileOptions& options) {
  const std::string_view sep = options.separator;
  if (sep.empty()) job.fail("bad csv option: sep is empty");
  if (sep.find_first_of("0123456789+-.\n\r\"") != sep.npos)
    job.fail("bad csv option: sep must not hold digits, signs, points, quotes or line ends, found {}", quote(sep));
  bool plain = true;
  for (const std::string& na : options.na_strings) {
    double value = 0;
    const std::string padded = na + std::string(kPadding, '\0');
    plain &= parse_any_number(padded.data(), padded.data() + na.size(), value) == nullptr || std::isnan(value);
  }
  return {job, options, sep, sep.front(), sep.size() == 1, plain, sep.front() != ' ', sep.front() != '\t'};
}

// Rows that begin before each chunk, then the total.
std::vector<int64_t> count_rows(const FileJob& job, const Text& text) {
  const int64_t chunks = text.chunks();
  std::vector<int64_t> before(static_cast<size_t>(chunks) + 1, 0);
  parallel_for(chunks, job.ctx.threads,
               [&](int64_t i) { before[static_cast<size_t>(i) + 1] = count_lines(job, text, i); });
  for (size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  return before;
}

struct Shape {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> before;  // rows before each chunk
};

[[noreturn]] void changed(const Dialect& d, const Lines& lines) {
  d.job.fail("cannot read {}: the file changed while it was read", lines.part->path);
}

template <class T>
MatrixRef read_dense(const Dialect& d, const Text& text, const Shape& shape) {
  Context& ctx = d.job.ctx;
  auto out = new_dense<T>(ctx, shape.rows, shape.cols);
  T* const cells = out->template dense<T>();
  std::atomic<int64_t> nnz{0};
  parallel_for(text.chunks(), ctx.threads, [&](int64_t chunk) {
    const Lines lines = load_lines(d.job, text, chunk);
    T* row = cells + shape.before[static_cast<size_t>(chunk)] * shape.cols;
    T* const end = cells + shape.before[static_cast<size_t>(chunk) + 1] * shape.cols;
    int64_t count = 0;
    for (const char* p = lines.begin; p < lines.end; row += shape.cols) {
      if (row == end) changed(d, lines);
      p = parse_row(d, lines, p, shape.cols, [&](int64_t c, double v) {
        const T value = static_cast<T>(v);
        row[c] = value, count += value != 0;
      });
    }
    if (row != end) changed(d, lines);
    nnz += count;
  });
  out->set_nnz(nnz);
  return settle<T>(ctx, std::move(out));
}

template <class T>
MatrixRef read_sparse(const Dialect& d, const Text& text, const Shape& shape) {
  SparseRows<T> rows(d.job.ctx, shape.before, shape.cols > INT32_MAX);
  parallel_for(text.chunks(), d.job.ctx.threads, [&](int64_t chunk) {
    const Lines lines = load_lines(d.job, text, chunk);
    auto& piece = rows.piece(chunk);
    for (const char* p = lines.begin; p < lines.end;) {
      p = parse_row(d, lines, p, shape.cols, [&](int64_t c, double v) { piece.add(c, static_cast<T>(v)); });
      if (!piece.end_row()) changed(d, lines);
    }
    if (!piece.complete()) changed(d, lines);
  });
  return settle<T>(d.job.ctx, rows.join(shape.cols));
}

// Share of non-zeros among the first rows; parses at most one chunk.
double sample_density(const Dialect& d, const Text& text, int64_t cols) {
  const Lines lines = load_lines(d.job, text, 0);
  int64_t cells = 0, nnz = 0;
  constexpr int64_t kEnough = 20000;
  for (const char* p = lines.begin; p < lines.end && cells < kEnough; cells += cols)
    p = parse_row(d, lines, p, cols, [&](int64_t, double v) { nnz += v != 0; });
  return cells == 0 ? 1 : static_cast<double>(nnz) / static_cast<double>(cells);
}

Shape shape_of(const Dialect& d, Text& text, int64_t header_fields) {
  const FileJob& job = d.job;
  const FileOptions& want = d.options;
  const std::string& path = text.parts.front().path;
  Shape shape;
  if (want.cols == 1 && want.rows >= 0) {  // an empty line is a cell
    shape.before = count_rows(job, text);
    if (shape.before.back() > want.rows) drop_blank_ends(job, text);
  } else {
    drop_blank_ends(job, text);
  }
  shape.before = count_rows(job, text);
  shape.rows = shape.before.back();
  if (shape.rows == 0) {
    shape.cols = want.cols >= 0 ? want.cols : header_fields;
    if (shape.cols < 0) job.fail("bad csv file: it is empty and nothing says how many columns it has: {}", path);
    if (shape.cols == 0 && want.rows > 0) shape.rows = want.rows;  // rows without cells leave nothing in the file
  } else {
    int64_t first = 0;
    while (shape.before[static_cast<size_t>(first) + 1] == 0) ++first;
    const Lines lines = load_lines(job, text, first);
    shape.cols = count_fields(d, lines, lines.begin);
  }
  check_file_sizes(job, want, shape.rows, shape.cols, path);
  return shape;
}

}  // namespace

MatrixRef read_csv(const FileJob& job, Text& text, const FileOptions& options) {
  const Dialect d = dialect_of(job, options);
  const int64_t header_fields = options.header ? skip_header(d, text) : -1;
  const Shape shape = shape_of(d, text, header_fields);
  if (text.chunks() == 0) return zero_matrix(job.ctx, shape.rows, shape.cols);
  const int64_t cells = checked_cells(job, shape.rows, shape.cols, text.parts.front().path);
  // A row of n cells has n - 1 separators: where the bytes cannot hold all cells some row is short, and reading that
  // as sparse rows finds it without room for the cells.
  const bool too_short = cells > text.bytes() + static_cast<int64_t>(text.parts.size());
  const double density = options.nnz >= 0 ? static_cast<double>(options.nnz) / static_cast<double>(cells)
                                          : sample_density(d, text, shape.cols);
  const bool sparse = too_short || (shape.cols > 1 && density < kSparse);
  return with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    return sparse ? read_sparse<T>(d, text, shape) : read_dense<T>(d, text, shape);
  });
}

}  // namespace hopline
