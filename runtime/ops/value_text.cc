#include "runtime/ops/text.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/format_number.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

void append_integer(std::string& out, int64_t v) {
  char text[24];
  out.append(text, static_cast<size_t>(std::to_chars(text, text + sizeof text, v).ptr - text));
}

// Hands out the first `width` cells of one row after the other.
template <class T>
class RowReader {
 public:
  RowReader(const MatrixBlock& m, int64_t width) : m_(m), width_(width) {
    if (!m.is_dense()) cells_.resize(static_cast<size_t>(width));
  }
  const T* read(int64_t row) {
    if (m_.is_dense()) return m_.dense<T>() + row * m_.cols();
    if (m_.is_virtual())
      read_cells(m_, row * m_.cols(), row * m_.cols() + width_, cells_.data());
    else
      spread(row);
    return cells_.data();
  }

 private:
  void spread(int64_t row) {
    std::fill(cells_.begin(), cells_.end(), T{0});
    const Csr& s = m_.csr();
    const auto* offsets = s.offsets.as<int64_t>();
    for (int64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
      const int64_t column = s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k];
      if (column >= width_) return;
      cells_[static_cast<size_t>(column)] = s.values.as<T>()[k];
    }
  }

  const MatrixBlock& m_;
  int64_t width_;
  std::vector<T> cells_;
};

// What a text is made with.
struct Printer {
  std::string& out;
  const TextOptions& options;
  const Span& span;

  void limit() const {
    constexpr size_t kLongest = INT32_MAX;
    if (out.size() > kLongest) fail(ErrorKind::resource, span, "the text is longer than {} bytes", kLongest);
  }
};

template <class T>
void append_row(const Printer& p, const T* cells, int64_t width) {
  for (int64_t c = 0; c < width; ++c) {
    if (c > 0) p.out += p.options.separator;
    append_fixed(p.out, static_cast<double>(cells[c]), p.options.decimals);
  }
  p.out += p.options.line_separator;
  p.limit();
}

void append_triple(const Printer& p, int64_t row, int64_t column, double cell) {
  append_integer(p.out, row + 1);
  p.out += p.options.separator;
  append_integer(p.out, column + 1);
  p.out += p.options.separator;
  append_fixed(p.out, cell, p.options.decimals);
  p.out += p.options.line_separator;
  p.limit();
}

int64_t window(int64_t wanted, int64_t size) { return wanted < 0 ? size : std::min(wanted, size); }

template <class T>
void append_triples(const Printer& p, const MatrixBlock& m, int64_t rows, int64_t width) {
  if (m.is_sparse()) {
    const Csr& s = m.csr();
    const auto* offsets = s.offsets.as<int64_t>();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
        const int64_t column = s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k];
        if (column >= width) break;
        append_triple(p, r, column, static_cast<double>(s.values.as<T>()[k]));
      }
    return;
  }
  RowReader<T> reader(m, width);
  for (int64_t r = 0; r < rows; ++r) {
    const T* cells = reader.read(r);
    for (int64_t c = 0; c < width; ++c)
      if (cells[c] != 0) append_triple(p, r, c, static_cast<double>(cells[c]));
  }
}

template <class T>
void append_cells(const Printer& p, const MatrixBlock& m) {
  const int64_t rows = window(p.options.rows, m.rows()), width = window(p.options.cols, m.cols());
  if (p.options.sparse) {
    if (m.nnz_if_known() != 0) append_triples<T>(p, m, rows, width);
    return;
  }
  RowReader<T> reader(m, width);
  for (int64_t r = 0; r < rows; ++r) append_row(p, reader.read(r), width);
}

void append_matrix(const Printer& p, const MatrixBlock& m) {
  if (m.precision() == Precision::f64)
    append_cells<double>(p, m);
  else
    append_cells<float>(p, m);
}

// Lists within lists without recursion: a stack of the lists that are open.
void append_list(const Printer& p, const List& outer) {
  struct Open {
    const List* list;
    size_t next = 0;
  };
  std::vector<Open> open{{&outer}};
  p.out += "List containing:\n[";
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == top.list->entries.size()) {
      p.out += ']';
      open.pop_back();
      continue;
    }
    if (top.next > 0) p.out += ", ";
    const Value& entry = top.list->entries[top.next++];
    if (const auto* nested = std::get_if<ListRef>(&entry)) {
      p.out += "List containing:\n[";
      open.push_back({nested->get()});
    } else if (const auto* m = std::get_if<MatrixRef>(&entry)) {
      p.out += "\nMatrix:\n";
      append_matrix(p, **m);
    } else {
      append_scalar(p.out, entry);
    }
    p.limit();
  }
}

}  // namespace

void append_scalar(std::string& out, const Value& value) {
  switch (kind_of(value)) {
    case Kind::boolean:
      out += std::get<bool>(value) ? "TRUE" : "FALSE";
      return;
    case Kind::integer:
      append_integer(out, std::get<int64_t>(value));
      return;
    case Kind::real: {
      char text[kDoubleText];
      out.append(text, static_cast<size_t>(format_double(text, std::get<double>(value)) - text));
      return;
    }
    case Kind::string:
      out += std::get<std::string>(value);
      return;
    default:
      HOPLINE_CHECK(is_scalar(kind_of(value)));
  }
}

std::string scalar_text(const Value& value) {
  std::string out;
  append_scalar(out, value);
  return out;
}

void append_text(std::string& out, const Value& value, const TextOptions& options, const Span& span) {
  const Printer printer{out, options, span};
  if (const auto* m = std::get_if<MatrixRef>(&value))
    append_matrix(printer, **m);
  else if (const auto* l = std::get_if<ListRef>(&value))
    append_list(printer, **l);
  else
    append_scalar(out, value);
}

}  // namespace hopline
