// NumPy's .npy, versions 1 to 3, and the idx files of MNIST.
#include <algorithm>
#include <cctype>

#include "runtime/io/raw_cells.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

using Element = RawCells::Element;

uint32_t little(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The dictionary of the header: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
struct NpyHeader {
  std::string descr;
  bool column_major = false;
  std::vector<int64_t> shape;
};

class HeaderParser {
 public:
  HeaderParser(const FileJob& job, const std::string& path, std::string_view text)
      : job_(job), path_(path), text_(text) {}
  NpyHeader parse() {
    NpyHeader out;
    int found = 0;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr")
        out.descr = string(), found |= 1;
      else if (key == "fortran_order")
        out.column_major = flag(), found |= 2;
      else if (key == "shape")
        out.shape = sizes(), found |= 4;
      else
        bad("one of descr, fortran_order, shape");
      if (!take(',') && peek() != '}') bad("a comma");
    }
    if (found != 7) bad("descr, fortran_order and shape");
    return out;
  }

 private:
  [[noreturn]] void bad(std::string_view expected) {
    job_.fail("bad npy file: expected {} in the header, found {} ({}, byte {})", expected, quote(text_.substr(at_)),
              path_, at_);
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad(std::string("'") + c + "'");
  }
  std::string string() {
    const char mark = peek();
    if (mark != '\'' && mark != '"') bad("a string (a type with fields is not supported)");
    const size_t end = text_.find(mark, at_ + 1);
    if (end == text_.npos) bad("the end of a string");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  bool flag() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    bad("True or False");
  }
  std::vector<int64_t> sizes() {
    std::vector<int64_t> out;
    expect('(');
    while (!take(')')) {
      int64_t size = 0;
      size_t digits = 0;
      for (peek(); at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_, ++digits)
        if (digits < 18) size = size * 10 + (text_[at_] - '0');
      if (digits == 0 || digits > 17 || out.size() == 32) bad("a size");
      take('L');  // of Python 2
      out.push_back(size);
      if (!take(',') && peek() != ')') bad("a comma");
    }
    return out;
  }
  const FileJob& job_;
  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
};

void set_element(const FileJob& job, const std::string& path, const std::string& descr, RawCells& raw) {
  constexpr std::pair<std::string_view, Element> kTypes[] = {
      {"f8", Element::f64}, {"f4", Element::f32}, {"i1", Element::i8},      {"i2", Element::i16},
      {"i4", Element::i32}, {"i8", Element::i64}, {"u1", Element::u8},      {"u2", Element::u16},
      {"u4", Element::u32}, {"u8", Element::u64}, {"b1", Element::boolean},
  };
  const std::string_view type = std::string_view(descr).substr(std::min<size_t>(descr.size(), 1));
  for (const auto& [name, element] : kTypes)
    if (type == name && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
      raw.element = element, raw.big_endian = descr.front() == '>';
      return;
    }
  job.fail("bad npy file: expected numbers of type f8, f4, i1...i8, u1...u8 or b1, found {} ({})", quote(descr), path);
}

// Rows by the product of the other dimensions; a vector is a column, a number 1x1.
void set_shape(const FileJob& job, const std::string& path, const std::vector<int64_t>& shape, RawCells& raw) {
  raw.rows = shape.empty() ? 1 : shape[0], raw.cols = 1;
  for (size_t i = 1; i < shape.size(); ++i) raw.cols = checked_cells(job, raw.cols, shape[i], path);
  if (raw.column_major && shape.size() > 2)
    job.fail("bad {} file: expected at most 2 dimensions in Fortran order, found {} ({})", raw.what, shape.size(),
             path);
}

void write_text(Temporary& file, std::string_view text) { file.write({text.data(), text.size()}); }

}  // namespace

MatrixRef read_npy(const FileJob& job, Text& text, const FileOptions& options) {
  const TextPart& part = single_part(job, text, "npy");
  std::string start = head(job, part, 12);
  if (start.starts_with("PK")) job.fail("cannot read an npz archive: save one array with numpy.save ({})", part.path);
  if (start.size() < 12 || !start.starts_with("\x93NUMPY"))
    job.fail("bad npy file: it does not begin with \\x93NUMPY ({})", part.path);
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    job.fail("bad npy file: expected version 1, 2 or 3, found {} ({})", version, part.path);
  const size_t prefix = version == 1 ? 10 : 12;
  const uint32_t length = little(std::string_view(start).substr(8, prefix - 8));
  constexpr uint32_t kMostHeader = 1 << 20;
  start = head(job, part, prefix + std::min(length, kMostHeader));
  if (start.size() != prefix + length)
    job.fail("bad npy file: its header of {} bytes does not fit ({})", length, part.path);
  const NpyHeader header = HeaderParser(job, part.path, std::string_view(start).substr(prefix)).parse();
  RawCells raw;
  raw.column_major = header.column_major;
  raw.offset = static_cast<int64_t>(start.size());
  set_element(job, part.path, header.descr, raw);
  set_shape(job, part.path, header.shape, raw);
  check_file_sizes(job, options, raw.rows, raw.cols, part.path);
  return read_raw_cells(job, part, raw);
}

void write_npy(const FileJob& job, const MatrixBlock& m, Temporary& file) {
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   job.ctx.precision == Precision::f64 ? 8 : 4, m.rows(), m.cols());
  constexpr size_t kPrefix = 10, kAlignment = 64;
  header.append(kAlignment - (kPrefix + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 0xFF);
  prefix += static_cast<char>(header.size() >> 8);
  write_text(file, prefix + header);
  write_raw_cells(job, m, file, false);
}

MatrixRef read_idx(const FileJob& job, Text& text, const FileOptions& options) {
  const TextPart& part = single_part(job, text, "idx");
  const std::string start = head(job, part, 4 + 255 * 4);
  if (start.size() < 4 || start[0] != 0 || start[1] != 0)
    job.fail("bad idx file: it does not begin with two zero bytes ({})", part.path);
  RawCells raw;
  raw.what = "idx", raw.big_endian = true;
  const auto type = static_cast<unsigned char>(start[2]);
  switch (type) {
    case 0x08:
      raw.element = Element::u8;
      break;
    case 0x09:
      raw.element = Element::i8;
      break;
    case 0x0B:
      raw.element = Element::i16;
      break;
    case 0x0C:
      raw.element = Element::i32;
      break;
    case 0x0D:
      raw.element = Element::f32;
      break;
    case 0x0E:
      raw.element = Element::f64;
      break;
    default:
      job.fail("bad idx file: expected type 8, 9, 11, 12, 13 or 14, found {} ({}, byte 2)", type, part.path);
  }
  const auto dimensions = static_cast<size_t>(static_cast<unsigned char>(start[3]));
  if (dimensions == 0 || start.size() < 4 + 4 * dimensions)
    job.fail("bad idx file: its {} sizes do not fit ({}, byte 3)", dimensions, part.path);
  std::vector<int64_t> shape;
  for (size_t i = 0; i < dimensions; ++i) {
    uint32_t size = 0;
    for (size_t k = 0; k < 4; ++k) size = size << 8 | static_cast<unsigned char>(start[4 + 4 * i + k]);
    shape.push_back(size);
  }
  raw.offset = static_cast<int64_t>(4 + 4 * dimensions);
  set_shape(job, part.path, shape, raw);
  check_file_sizes(job, options, raw.rows, raw.cols, part.path);
  return read_raw_cells(job, part, raw);
}

void write_idx(const FileJob& job, const MatrixBlock& m, Temporary& file) {
  if (m.rows() > UINT32_MAX || m.cols() > UINT32_MAX)
    job.fail("cannot write {}: idx holds at most 2^32 - 1 rows and columns, found {}x{}", file.target(), m.rows(),
             m.cols());
  std::string header{0, 0, job.ctx.precision == Precision::f64 ? '\x0E' : '\x0D', 2};
  for (const int64_t size : {m.rows(), m.cols()})
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(size >> shift & 0xFF);
  write_text(file, header);
  write_raw_cells(job, m, file, true);
}

}  // namespace hopline
