// Cell-wise functions of scalars: which kind comes out, int arithmetic and the comparison of strings.
#include <cmath>

#include "runtime/ops/elementwise.h"
#include "runtime/ops/text.h"

namespace hopline {

namespace {

double real(const Value& v) {
  if (const auto* d = std::get_if<double>(&v)) return *d;
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  return std::get<bool>(v) ? 1 : 0;
}

int64_t integer(const Value& v) {
  const auto* i = std::get_if<int64_t>(&v);
  return i != nullptr ? *i : std::get<bool>(v);
}

// The language takes the exact result modulo 2^64 through a double; only a result above 2^63 is an error.
int64_t integer_result(double rough, uint64_t exact, const Op& op, const Span& span) {
  if (rough > 0x1p63)
    fail(span, "{}: the result exceeds the largest int; use a double (expected at most 2^63, found {})", op.name,
         rough);
  return to_integer(static_cast<double>(static_cast<int64_t>(exact)));
}

int64_t integer_arithmetic(const Op& op, int64_t a, int64_t b, const Span& span) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const auto da = static_cast<double>(a), db = static_cast<double>(b);
  if (op.name == "+") return integer_result(da + db, ua + ub, op, span);
  if (op.name == "-") return integer_result(da - db, ua - ub, op, span);
  if (op.name == "*") return integer_result(da * db, ua * ub, op, span);
  if (op.name == "min") return a < b ? a : b;
  if (op.name == "max") return a < b ? b : a;
  const bool quotient = op.name == "%/%";
  if (b != 0 && b != -1) return quotient ? a / b : a % b;
  if (!quotient) return 0;
  const double q = da / db;
  if (q > 0x1p63)
    fail(span, "{}: the result exceeds the largest int (expected a divisor other than 0, found {} %/% {})", op.name, a,
         b);
  return to_integer(q);
}

// The 16-bit units of UTF-8 text, in order; what strings are compared by.
class Utf16Units {
 public:
  explicit Utf16Units(std::string_view text) : text_(text) {}
  // The next unit, or -1 at the end. A byte that is no UTF-8 stands for itself.
  int32_t next() {
    if (pending_ >= 0) return std::exchange(pending_, -1);
    if (at_ >= text_.size()) return -1;
    const auto byte = [&](size_t i) { return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0U; };
    const uint32_t first = byte(at_);
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t code = more == 0 ? first : first & (0x3FU >> more);
    for (int i = 1; i <= more; ++i) code = code << 6 | (byte(at_ + static_cast<size_t>(i)) & 0x3F);
    at_ += 1 + static_cast<size_t>(more);
    if (code < 0x10000) return static_cast<int32_t>(code);
    pending_ = static_cast<int32_t>(0xDC00 + (code & 0x3FF));
    return static_cast<int32_t>(0xD7C0 + (code >> 10));
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  int32_t pending_ = -1;
};

int compare_text(const std::string& a, const std::string& b) {
  Utf16Units x(a), y(b);
  for (;;) {
    const int32_t l = x.next(), r = y.next();
    if (l != r) return l < r ? -1 : 1;
    if (l < 0) return 0;
  }
}

// Of three-way results; `order` is that of two values that can be ordered.
bool holds(const Op& op, int order) {
  if (op.name == "==") return order == 0;
  if (op.name == "!=") return order != 0;
  if (op.name == "<") return order < 0;
  if (op.name == "<=") return order <= 0;
  return op.name == ">" ? order > 0 : order >= 0;
}

bool compare(const Op& op, const Value& a, const Value& b) {
  const Kind x = kind_of(a), y = kind_of(b);
  if (x == Kind::string || y == Kind::string) return holds(op, compare_text(scalar_text(a), scalar_text(b)));
  if (x == Kind::real || y == Kind::real) return binary_tiles<double>(op)->cell(real(a), real(b)) != 0;
  const int64_t l = integer(a), r = integer(b);
  return holds(op, l < r ? -1 : l > r ? 1 : 0);
}

}  // namespace

Value binary_scalar(const Op& op, const Value& a, const Value& b, const Span& span) {
  const Kind x = kind_of(a), y = kind_of(b);
  const BinaryResult result = binary_row(op)->result;
  if (result == BinaryResult::compare) return compare(op, a, b);
  if (x == Kind::string || y == Kind::string) {
    std::string text = scalar_text(a);
    append_scalar(text, b);
    return text;
  }
  const bool has_real = x == Kind::real || y == Kind::real;
  const bool whole = !has_real && (x == Kind::integer || y == Kind::integer);
  if (whole && (result == BinaryResult::joint || result == BinaryResult::function))
    return integer_arithmetic(op, integer(a), integer(b), span);
  const double cell = binary_tiles<double>(op)->cell(real(a), real(b));
  if (result == BinaryResult::logic && !has_real) return cell != 0;
  if (result == BinaryResult::bits && !has_real) return static_cast<int64_t>(cell);
  return cell;
}

Value unary_scalar(const Op& op, const Value& x) {
  const UnaryResult result = unary_row(op)->result;
  if (result == UnaryResult::logic && kind_of(x) == Kind::boolean) return !std::get<bool>(x);
  if (result == UnaryResult::negation && kind_of(x) == Kind::integer)
    return to_integer(static_cast<double>(static_cast<int64_t>(0 - static_cast<uint64_t>(std::get<int64_t>(x)))));
  return unary_tiles<double>(op)->cell(real(x));
}

}  // namespace hopline
