#include <algorithm>
#include <atomic>

#include "runtime/base/parallel.h"
#include "runtime/io/cells.h"
#include "runtime/io/sparse_rows.h"
#include "runtime/io/tokens.h"

namespace hopline {

namespace {

constexpr std::string_view kWhat = "libsvm";

struct Dialect {
  const FileJob& job;
  char separator;  // a gap stands for any run of blanks
  char index_separator;
};

struct Feature {
  int64_t index;
  double value;
};

const char* skip_separators(const Dialect& d, const char* p) {
  while (is_gap(*p) || (*p == d.separator && *p != '\n')) ++p;
  return p;
}

bool line_ends(const char* p) { return *p == '\n' || *p == '#'; }

const char* next_line(const Lines& lines, const char* p) {
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(lines.end - p))) + 1;
}

// Parses the line at p: the label and its features, in ascending order of their indexes.
void parse_line(const Dialect& d, const Lines& lines, const char* p, double& label, std::vector<Feature>& features) {
  const char* const line = p;
  const auto bad = [&](std::string_view expected, const char* at) {
    bad_line(d.job, kWhat, lines, line, fmt::format("expected {}, found {}", expected, quote(token_at(at))));
  };
  features.clear();
  const char* stop = parse_token_number(p, lines.end, label, d.separator);
  if (stop == nullptr) bad("a number as label", p);
  for (p = skip_separators(d, stop); !line_ends(p); p = skip_separators(d, stop)) {
    Feature f{0, 0};
    stop = parse_index(p, f.index);
    if (stop == nullptr || *stop != d.index_separator) bad(fmt::format("index{}value", d.index_separator), p);
    if (f.index < 1) bad("an index of at least 1", p);
    const char* const value = stop + 1;
    stop = parse_token_number(value, lines.end, f.value, d.separator);
    if (stop == nullptr) bad("a number as value", value);
    features.push_back(f);
  }
  const auto by_index = [](const Feature& a, const Feature& b) { return a.index < b.index; };
  if (!std::is_sorted(features.begin(), features.end(), by_index))
    std::sort(features.begin(), features.end(), by_index);
  for (size_t i = 1; i < features.size(); ++i)
    if (features[i].index == features[i - 1].index)
      bad_line(d.job, kWhat, lines, line, fmt::format("index {} stands more than once", features[i].index));
}

char one_character(const FileJob& job, std::string_view name, const std::string& text, char blank) {
  if (text.size() > 1 || text.find_first_of("0123456789+-.eE\n\r#") != text.npos)
    job.fail("bad libsvm option: {} must be one character that is no part of a number, found {}", name, quote(text));
  return text.empty() ? blank : text.front();
}

struct Shape {
  std::vector<int64_t> before;  // rows before each chunk
  int64_t cols = 0;             // the label's included
};

template <class T>
MatrixRef read_rows(const Dialect& d, const Text& text, const Shape& shape) {
  SparseRows<T> rows(d.job.ctx, shape.before, shape.cols > INT32_MAX);
  parallel_for(text.chunks(), d.job.ctx.threads, [&](int64_t chunk) {
    const Lines lines = load_lines(d.job, text, chunk);
    auto& piece = rows.piece(chunk);
    const auto changed = [&] { d.job.fail("cannot read {}: the file changed while it was read", lines.part->path); };
    std::vector<Feature> features;
    for (const char* p = lines.begin; p < lines.end; p = next_line(lines, p)) {
      const char* const line = skip_gaps(p);
      if (line_ends(line)) continue;
      double label = 0;
      parse_line(d, lines, line, label, features);
      if (!features.empty() && features.back().index >= shape.cols) changed();
      for (const Feature& f : features) piece.add(f.index - 1, static_cast<T>(f.value));
      piece.add(shape.cols - 1, static_cast<T>(label));
      if (!piece.end_row()) changed();
    }
    if (!piece.complete()) changed();
  });
  return settle<T>(d.job.ctx, rows.join(shape.cols));
}

}  // namespace

MatrixRef read_libsvm(const FileJob& job, Text& text, const FileOptions& options) {
  const Dialect d{job, one_character(job, "sep", options.separator, ' '),
                  one_character(job, "indSep", options.index_separator, ':')};
  const std::string& path = text.parts.front().path;
  Shape shape;
  shape.before.assign(static_cast<size_t>(text.chunks()) + 1, 0);
  std::atomic<int64_t> largest{0};
  parallel_for(text.chunks(), job.ctx.threads, [&](int64_t chunk) {
    const Lines lines = load_lines(job, text, chunk);
    std::vector<Feature> features;
    int64_t n = 0, index = 0;
    for (const char* p = lines.begin; p < lines.end; p = next_line(lines, p)) {
      const char* const line = skip_gaps(p);
      if (line_ends(line)) continue;
      double label = 0;
      parse_line(d, lines, line, label, features);
      if (!features.empty()) index = std::max(index, features.back().index);
      if (options.cols >= 0 && index >= options.cols)
        bad_line(job, kWhat, lines, line,
                 fmt::format("expected indexes of at most {}, found {}", options.cols - 1, index));
      ++n;
    }
    shape.before[static_cast<size_t>(chunk) + 1] = n;
    for (int64_t known = largest; index > known && !largest.compare_exchange_weak(known, index);) {
    }
  });
  for (size_t i = 1; i < shape.before.size(); ++i) shape.before[i] += shape.before[i - 1];
  shape.cols = options.cols >= 0 ? options.cols : largest + 1;
  check_file_sizes(job, options, shape.before.back(), shape.cols, path);
  checked_cells(job, shape.before.back(), shape.cols, path);
  if (shape.before.back() == 0) return zero_matrix(job.ctx, 0, shape.cols);
  return with_real(job.ctx, [&](auto zero) { return read_rows<decltype(zero)>(d, text, shape); });
}

}  // namespace hopline
