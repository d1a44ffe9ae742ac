#include "runtime/base/format_string.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/base/format_number.h"
#include "runtime/base/unicode.h"

namespace hopline {

namespace {

constexpr std::string_view kFlags = "-#+ 0,(<";
enum Flag : uint8_t {
  left = 1,
  alternate = 2,
  plus = 4,
  space = 8,
  zero = 16,
  group = 32,
  parentheses = 64,
  previous = 128
};
constexpr int kWidest = 1'000'000;  // width or precision

struct Specifier {
  std::string_view text;  // "%-5d"
  int index = 0;          // 1, 2, ... when given
  unsigned flags = 0;
  int width = -1, precision = -1;
  char conversion = 0;  // lower case
  bool upper = false;
  const Span& span;

  bool has(unsigned flag) const { return (flags & flag) != 0; }
  [[noreturn]] void refuse(std::string_view why) const {
    fail(span, "wrong format specifier: {}, found {}", why, text);
  }
};

// Reads digits at p; at most kWidest.
int read_number(const char*& p, const char* end, const Specifier& s) {
  int value = 0;
  for (; p != end && *p >= '0' && *p <= '9'; ++p) {
    value = value * 10 + (*p - '0');
    if (value > kWidest) fail(s.span, "wrong format specifier: a width or precision is larger than {}", kWidest);
  }
  return value;
}

void read_index(const char*& p, const char* end, Specifier& s) {
  const char* q = p;
  if (q == end || *q < '1' || *q > '9') return;
  const int number = read_number(q, end, s);
  if (q == end || *q != '$') return;
  s.index = number;
  p = q + 1;
}

void read_flags(const char*& p, const char* end, Specifier& s) {
  for (; p != end; ++p) {
    const size_t k = kFlags.find(*p);
    if (k == std::string_view::npos) return;
    if (s.has(1u << k)) fail(s.span, "wrong format specifier: the flag stands twice, found '{}'", *p);
    s.flags |= 1u << k;
  }
}

// `begin` points behind the percent sign; moved behind the specifier.
Specifier read_specifier(const char*& p, const char* end, const Span& span) {
  Specifier s{.span = span};
  const char* begin = p - 1;
  read_index(p, end, s);
  read_flags(p, end, s);
  if (p != end && *p >= '1' && *p <= '9') s.width = read_number(p, end, s);
  if (p != end && *p == '.') {
    ++p;
    if (p == end || *p < '0' || *p > '9') fail(span, "wrong format specifier: expected digits behind the point");
    s.precision = read_number(p, end, s);
  }
  if (p == end)
    fail(span,
         "wrong format specifier: expected a conversion such as %d or %s, found '{}' at the end; write %% for a "
         "percent sign",
         std::string_view(begin, static_cast<size_t>(p - begin)));
  const char c = *p++;
  s.upper = c >= 'A' && c <= 'Z';
  s.conversion = s.upper ? static_cast<char>(c - 'A' + 'a') : c;
  while (p != end && (static_cast<unsigned char>(*p) & 0xC0) == 0x80) ++p;
  s.text = {begin, static_cast<size_t>(p - begin)};
  constexpr std::string_view kLower = "bhsdoxefga%n", kUpper = "bhsxega";
  if ((s.upper ? kUpper : kLower).find(s.conversion) == std::string_view::npos)
    s.refuse("expected one of the conversions b h s d o x e f g a n %");
  return s;
}

void check_flags(const Specifier& s) {
  const auto forbid = [&s](unsigned flags) {
    for (size_t k = 0; k < kFlags.size(); ++k)
      if ((s.flags & flags & (1u << k)) != 0) s.refuse(fmt::format("the flag '{}' does not go with it", kFlags[k]));
  };
  constexpr unsigned kSigns = plus | space | parentheses;
  switch (s.conversion) {
    case 'b':
    case 'h':
    case 's':
      forbid(alternate | kSigns | zero | group);
      break;
    case 'd':
      forbid(alternate);
      break;
    case 'o':
    case 'x':
      forbid(group | kSigns);
      break;
    case 'e':
      forbid(group);
      break;
    case 'a':
      forbid(group | parentheses);
      break;
    case 'g':
      forbid(alternate);
      break;
    case '%':
      forbid(~static_cast<unsigned>(left));
      break;
    case 'n':
      forbid(~0u);
      break;
    default:
      break;
  }
  constexpr std::string_view kNoPrecision = "dox%n";
  if (s.precision >= 0 && kNoPrecision.find(s.conversion) != std::string_view::npos) s.refuse("it takes no precision");
  if (s.conversion == 'n' && s.width >= 0) s.refuse("it takes no width");
  if (s.has(left | zero) && s.width < 0) s.refuse("the flags - and 0 need a width");
  if (s.has(left) && s.has(zero)) s.refuse("the flags - and 0 exclude each other");
  if (s.has(plus) && s.has(space)) s.refuse("the flags + and space exclude each other");
}

void pad_to_width(std::string& out, std::string_view text, const Specifier& s) {
  const int64_t missing = s.width - static_cast<int64_t>(count_characters(text));
  if (missing > 0 && !s.has(left)) out.append(static_cast<size_t>(missing), ' ');
  out += text;
  if (missing > 0 && s.has(left)) out.append(static_cast<size_t>(missing), ' ');
}

// Puts sign, grouping commas and padding zeros around the digits of a magnitude ("1234.50", "1.5e+04").
std::string decorate(std::string digits, bool negative, const Specifier& s) {
  const size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  if (s.has(group))
    for (size_t k = whole; k > 3; k -= 3) digits.insert(k - 3, 1, ',');
  const bool enclosed = negative && s.has(parentheses);
  std::string sign = negative ? enclosed ? "(" : "-" : s.has(plus) ? "+" : s.has(space) ? " " : "";
  const size_t length = sign.size() + digits.size() + (enclosed ? 1 : 0);
  if (s.has(zero) && static_cast<int>(length) < s.width) sign.append(static_cast<size_t>(s.width) - length, '0');
  return sign + digits + (enclosed ? ")" : "");
}

// Keeps `keep` digits, halves up; none are left when the first lies below half of the last place.
void round_half_up(Decimal& d, int keep) {
  if (keep >= d.count) return;
  const bool up = keep >= 0 && d.digits[keep] >= '5';
  d.count = std::max(keep, 0);
  if (!up) return;
  int k = d.count - 1;
  for (; k >= 0 && d.digits[k] == '9'; --k) d.digits[k] = '0';
  if (k >= 0) {
    ++d.digits[k];
    return;
  }
  std::memmove(d.digits + 1, d.digits, static_cast<size_t>(d.count));
  d.digits[0] = '1';
  ++d.count, ++d.exponent;
}

char digit_at(const Decimal& d, int k) { return k >= 0 && k < d.count ? d.digits[k] : '0'; }

std::string fixed_text(Decimal d, int precision, bool point) {
  round_half_up(d, d.exponent + 1 + precision);
  std::string out;
  for (int k = std::min(0, d.exponent); k <= d.exponent; ++k) out += digit_at(d, k);
  if (d.exponent < 0) out = "0";
  if (precision > 0 || point) out += '.';
  for (int k = 1; k <= precision; ++k) out += digit_at(d, d.exponent + k);
  return out;
}

std::string scientific_text(Decimal d, int precision, bool point) {
  round_half_up(d, precision + 1);
  std::string out(1, digit_at(d, 0));
  if (precision > 0 || point) out += '.';
  for (int k = 1; k <= precision; ++k) out += digit_at(d, k);
  return out + fmt::format("e{}{:02}", d.exponent < 0 ? '-' : '+', std::abs(d.exponent));
}

std::string general_text(const Decimal& d, int precision) {
  precision = precision == 0 ? 1 : precision;
  Decimal rounded = d;
  round_half_up(rounded, precision);
  if (rounded.exponent < -4 || rounded.exponent >= precision) return scientific_text(d, precision - 1, false);
  return fixed_text(d, precision - 1 - rounded.exponent, false);
}

// 0x1.8p3, as Double.toHexString; rounded to so many digits a denormal is written as 1.xxx too.
std::string hex_float(double magnitude, int precision) {
  char text[64];
  char* const last = text + sizeof text;
  constexpr int kHexDigits = 13;
  std::string out;
  if (precision < 0) {
    out.assign(text, static_cast<size_t>(std::to_chars(text, last, magnitude, std::chars_format::hex).ptr - text));
  } else {
    int exponent = 1;
    const double fraction = std::frexp(magnitude, &exponent) * 2;
    const int digits = std::clamp(precision, 1, kHexDigits);
    out.assign(text,
               static_cast<size_t>(std::to_chars(text, last, fraction, std::chars_format::hex, digits).ptr - text));
    const size_t p = out.find('p');
    const bool carry = out[0] == '2';  // rounded up to the next power
    if (carry) out[0] = '1';
    out.replace(p, std::string::npos, fmt::format("p{:+}", magnitude == 0 ? 0 : exponent - 1 + (carry ? 1 : 0)));
  }
  const size_t p = out.find('p');
  if (out[p + 1] == '+') out.erase(p + 1, 1);
  if (out.find('.') == std::string::npos) out.insert(p, ".0");
  return out;
}

std::string real_text(double v, const Specifier& s) {
  if (std::isnan(v)) return "NaN";
  const double magnitude = std::fabs(v);
  const bool negative = std::signbit(v);
  if (std::isinf(v)) {
    Specifier plain = s;
    plain.flags &= ~static_cast<unsigned>(zero | group);
    return decorate("Infinity", negative, plain);
  }
  if (s.conversion == 'a') {
    Specifier digits = s;
    digits.width -= 2;  // of the 0x
    std::string text = decorate(hex_float(magnitude, s.precision), negative, digits);
    return text.insert(text.find_first_of("0123456789"), "0x");
  }
  const Decimal d = shortest_decimal(magnitude);
  const int precision = s.precision < 0 ? 6 : s.precision;
  std::string digits = s.conversion == 'f'   ? fixed_text(d, precision, s.has(alternate))
                       : s.conversion == 'e' ? scientific_text(d, precision, s.has(alternate))
                                             : general_text(d, precision);
  return decorate(std::move(digits), negative, s);
}

std::string integer_text(int64_t v, const Specifier& s) {
  if (s.conversion == 'd') {
    const uint64_t magnitude = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    return decorate(std::to_string(magnitude), v < 0, s);
  }
  const auto bits = static_cast<uint64_t>(v);
  std::string digits = s.conversion == 'o' ? fmt::format("{:o}", bits) : fmt::format("{:x}", bits);
  const std::string prefix = !s.has(alternate) ? "" : s.conversion == 'o' ? "0" : "0x";
  const size_t length = prefix.size() + digits.size();
  if (s.has(zero) && static_cast<int>(length) < s.width) digits.insert(0, static_cast<size_t>(s.width) - length, '0');
  return prefix + digits;
}

std::string plain_text(const FormatArgument& a) {
  if (const auto* b = std::get_if<bool>(&a)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<int64_t>(&a)) return to_text(*i);
  if (const auto* d = std::get_if<double>(&a)) return to_text(*d);
  return std::string(std::get<std::string_view>(a));
}

// Java's hashCode.
uint32_t hash_of(const FormatArgument& a) {
  if (const auto* b = std::get_if<bool>(&a)) return *b ? 1231 : 1237;
  if (const auto* t = std::get_if<std::string_view>(&a)) {
    uint32_t hash = 0;
    for (const char16_t unit : to_utf16(*t)) hash = hash * 31 + unit;
    return hash;
  }
  uint64_t bits = 0;
  if (const auto* i = std::get_if<int64_t>(&a))
    bits = static_cast<uint64_t>(*i);
  else
    std::memcpy(&bits, &std::get<double>(a), sizeof bits);
  return static_cast<uint32_t>(bits ^ (bits >> 32));
}

std::string general_argument(const FormatArgument& a, const Specifier& s) {
  std::string text = s.conversion == 'h'               ? fmt::format("{:x}", hash_of(a))
                     : s.conversion == 's'             ? plain_text(a)
                     : std::holds_alternative<bool>(a) ? plain_text(a)
                                                       : "true";
  if (s.precision >= 0) text.resize(prefix_bytes(text, static_cast<size_t>(s.precision)));
  return text;
}

std::string convert(const FormatArgument& a, const Specifier& s) {
  constexpr std::string_view kKinds[] = {"a boolean", "an int", "a double", "a string"};
  const auto expect = [&](std::string_view what) {
    fail(s.span, "wrong argument for format specifier {}: expected {}, found {} {}", s.text, what, kKinds[a.index()],
         plain_text(a));
  };
  switch (s.conversion) {
    case 'd':
    case 'o':
    case 'x':
      if (!std::holds_alternative<int64_t>(a)) expect("an int");
      return integer_text(std::get<int64_t>(a), s);
    case 'e':
    case 'f':
    case 'g':
    case 'a':
      if (!std::holds_alternative<double>(a)) expect("a double");
      return real_text(std::get<double>(a), s);
    default:
      return general_argument(a, s);
  }
}

}  // namespace

std::string format_string(std::string_view format, std::span<const FormatArgument> arguments, const Span& span) {
  std::string out;
  size_t next = 0;    // of the arguments without an index
  int64_t last = -1;  // for %<s
  const char* p = format.data();
  const char* end = p + format.size();
  while (p != end) {
    const char* percent = std::find(p, end, '%');
    out.append(p, static_cast<size_t>(percent - p));
    if (percent == end) break;
    p = percent + 1;
    const Specifier s = read_specifier(p, end, span);
    check_flags(s);
    if (s.conversion == 'n') {
      out += '\n';
    } else if (s.conversion == '%') {
      pad_to_width(out, "%", s);
    } else {
      last = s.has(previous) ? last : s.index > 0 ? s.index - 1 : static_cast<int64_t>(next++);
      if (last < 0 || last >= static_cast<int64_t>(arguments.size()))
        fail(span, "missing argument for format specifier {}: {} given", s.text, arguments.size());
      const std::string text = convert(arguments[static_cast<size_t>(last)], s);
      pad_to_width(out, s.upper ? to_upper(text) : text, s);
    }
  }
  return out;
}

}  // namespace hopline
