#include "runtime/ops/text.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/format_number.h"
#include "runtime/ops/families.h"
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

template <class T>
void append_row(std::string& out, const T* cells, int64_t width, const TextOptions& options) {
  for (int64_t c = 0; c < width; ++c) {
    if (c > 0) out += options.separator;
    append_fixed(out, static_cast<double>(cells[c]), options.decimals);
  }
  out += options.line_separator;
}

template <class T>
void append_triples(std::string& out, const T* cells, int64_t row, int64_t width, const TextOptions& options) {
  for (int64_t c = 0; c < width; ++c) {
    if (cells[c] == 0) continue;
    append_integer(out, row + 1);
    out += options.separator;
    append_integer(out, c + 1);
    out += options.separator;
    append_fixed(out, static_cast<double>(cells[c]), options.decimals);
    out += options.line_separator;
  }
}

int64_t window(int64_t wanted, int64_t size) { return wanted < 0 ? size : std::min(wanted, size); }

template <class T>
void append_cells(std::string& out, const MatrixBlock& m, const TextOptions& options) {
  const int64_t rows = window(options.rows, m.rows()), width = window(options.cols, m.cols());
  RowReader<T> reader(m, width);
  for (int64_t r = 0; r < rows; ++r) {
    const T* cells = reader.read(r);
    if (options.sparse)
      append_triples(out, cells, r, width, options);
    else
      append_row(out, cells, width, options);
  }
}

void append_matrix(std::string& out, const MatrixBlock& m, const TextOptions& options) {
  if (m.precision() == Precision::f64)
    append_cells<double>(out, m, options);
  else
    append_cells<float>(out, m, options);
}

// Lists within lists without recursion: a stack of the lists that are open.
void append_list(std::string& out, const List& outer, const TextOptions& options) {
  struct Open {
    const List* list;
    size_t next = 0;
  };
  std::vector<Open> open{{&outer}};
  out += "List containing:\n[";
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == top.list->entries.size()) {
      out += ']';
      open.pop_back();
      continue;
    }
    if (top.next > 0) out += ", ";
    const Value& entry = top.list->entries[top.next++];
    if (const auto* nested = std::get_if<ListRef>(&entry)) {
      out += "List containing:\n[";
      open.push_back({nested->get()});
    } else if (const auto* m = std::get_if<MatrixRef>(&entry)) {
      out += "\nMatrix:\n";
      append_matrix(out, **m, options);
    } else {
      append_scalar(out, entry);
    }
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

void append_text(std::string& out, const Value& value, const TextOptions& options) {
  if (const auto* m = std::get_if<MatrixRef>(&value))
    append_matrix(out, **m, options);
  else if (const auto* l = std::get_if<ListRef>(&value))
    append_list(out, **l, options);
  else
    append_scalar(out, value);
}

OpFamily text_ops() { return {}; }

}  // namespace hopline
