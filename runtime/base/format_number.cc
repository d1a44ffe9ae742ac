#include "runtime/base/format_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace hopline {

namespace {

char* put(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Below this, one digit may be enough to tell v apart while a second one lies nearer to it: 4.9E-324.
constexpr double few_digits(double) { return 1e-320; }
constexpr float few_digits(float) { return 1e-42F; }

static_assert(std::endian::native == std::endian::little);
constexpr size_t kMostDigits = 17;  // of a double; copied whole: a fixed size needs no call

// Eight digits of v < 10^8 as text, the first in the lowest byte: halves, then pairs, then digits, all lanes at once.
inline uint64_t eight_digits(uint32_t v) {
  uint64_t x = v / 10000 | static_cast<uint64_t>(v % 10000) << 32;
  const uint64_t hundreds = (x * 10486 >> 20) & 0x0000007F0000007F;
  x = hundreds | (x - hundreds * 100) << 16;
  const uint64_t tens = (x * 103 >> 10) & 0x000F000F000F000F;
  return (tens | (x - tens * 10) << 8) + 0x3030303030303030;
}

Decimal decimal(uint64_t digits, int exponent) {
  constexpr uint64_t kEight = 100000000;
  char text[2 * kMostDigits] = {};
  const uint64_t front = digits / kEight;  // at most 17 digits: one, eight, eight
  text[0] = static_cast<char>('0' + front / kEight);
  const uint64_t parts[] = {eight_digits(static_cast<uint32_t>(front % kEight)),
                            eight_digits(static_cast<uint32_t>(digits % kEight))};
  std::memcpy(text + 1, parts, sizeof parts);
  size_t zeros = 0;
  while (zeros < kMostDigits - 1 && text[zeros] == '0') ++zeros;
  Decimal d;
  std::memcpy(d.digits, text + zeros, kMostDigits);
  d.count = static_cast<int>(kMostDigits - zeros);
  d.exponent = exponent + d.count - 1;
  return d;
}

template <class T>
Decimal digits_of(T magnitude) {
  if (magnitude == 0) return decimal(0, 0);
  if (magnitude < few_digits(T{})) {
    char text[40];
    auto end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific).ptr;
    if (text[1] == 'e') end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific, 1).ptr;
    Decimal d;
    const char* p = text;
    for (; *p != 'e'; ++p)
      if (*p != '.') d.digits[d.count++] = *p;
    std::from_chars(p + 2, end, d.exponent);
    d.exponent = -d.exponent;
    return d;
  }
  // The core of fmt's shortest output: the digits of std::to_chars in a third of its time.
  const auto shortest = fmt::detail::dragonbox::to_decimal(magnitude);
  return decimal(shortest.significand, shortest.exponent);
}

char* put_plain(char* out, const Decimal& d) {
  if (d.exponent < 0) {
    out = put(out, "0.");
    for (int i = -1; i > d.exponent; --i) *out++ = '0';
    std::memcpy(out, d.digits, kMostDigits);
    return out + d.count;
  }
  const int whole = d.exponent + 1;
  for (int i = 0; i < whole; ++i) *out++ = i < d.count ? d.digits[i] : '0';
  *out++ = '.';
  if (d.count <= whole) *out++ = '0';
  std::memcpy(out, d.digits + whole, kMostDigits);
  return d.count > whole ? out + d.count - whole : out;
}

char* put_scientific(char* out, const Decimal& d) {
  *out++ = d.digits[0];
  *out++ = '.';
  if (d.count == 1) *out++ = '0';
  std::memcpy(out, d.digits + 1, kMostDigits);
  out += d.count - 1;
  *out++ = 'E';
  return std::to_chars(out, out + 8, d.exponent).ptr;
}

template <class T>
char* format(char* out, T v) {
  if (std::isnan(v)) return put(out, "NaN");
  if (std::signbit(v)) {
    *out++ = '-';
    v = -v;
  }
  if (std::isinf(v)) return put(out, "Infinity");
  if (v < T{1e7} && v == static_cast<T>(static_cast<int32_t>(v)))
    return put(std::to_chars(out, out + 8, static_cast<int32_t>(v)).ptr, ".0");
  const Decimal d = digits_of(v);
  return d.exponent >= -3 && d.exponent < 7 ? put_plain(out, d) : put_scientific(out, d);
}

template <class T>
std::string text_of(T v) {
  char text[kDoubleText];
  return {text, format_double(text, v)};
}

}  // namespace

char* format_double(char* out, double v) { return format(out, v); }
char* format_double(char* out, float v) { return format(out, v); }
Decimal shortest_decimal(double magnitude) { return digits_of(magnitude); }
Decimal shortest_decimal(float magnitude) { return digits_of(magnitude); }
std::string to_text(double v) { return text_of(v); }
std::string to_text(float v) { return text_of(v); }
std::string to_text(int64_t v) { return std::to_string(v); }

namespace {

constexpr int64_t kMostDecimals = 340;

// Digits that need no rounding, with zeros behind them.
void append_padded(std::string& out, const Decimal& d, int decimals) {
  for (int k = 0; k <= d.exponent; ++k) out += k < d.count ? d.digits[k] : '0';
  if (d.exponent < 0) out += '0';
  if (decimals > 0) out += '.';
  for (int k = d.exponent + 1; k <= d.exponent + decimals; ++k) out += k >= 0 && k < d.count ? d.digits[k] : '0';
}

// Short numbers that lie clearly off a tie, from one product. False: nothing was appended.
bool append_short(std::string& out, double v, int decimals) {
  constexpr double kTens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  if (decimals > 6) return false;
  const double scaled = v * kTens[decimals];
  if (!(scaled < 0x1p40)) return false;  // so the product is off by less than 2^-13
  const double whole = std::floor(scaled), rest = scaled - whole;
  if (std::fabs(rest - 0.5) < 0x1p-10) return false;
  char text[24];
  const auto digits = static_cast<int64_t>(whole) + (rest > 0.5 ? 1 : 0);
  const int count = static_cast<int>(std::to_chars(text, text + sizeof text, digits).ptr - text);
  if (count > decimals) {
    out.append(text, static_cast<size_t>(count - decimals));
    if (decimals > 0) out += '.';
    out.append(text + count - decimals, static_cast<size_t>(decimals));
  } else {
    out += "0.";
    out.append(static_cast<size_t>(decimals - count), '0');
    out.append(text, static_cast<size_t>(count));
  }
  return true;
}

void append_exact(std::string& out, double v, int decimals) {
  char text[700];  // 309 digits, point, 340 digits
  const Decimal d = shortest_decimal(v);
  if (d.count - 1 - d.exponent <= decimals) return append_padded(out, d, decimals);
  const char* end = std::to_chars(text, text + sizeof text, v, std::chars_format::fixed, decimals).ptr;
  out.append(text, static_cast<size_t>(end - text));
}

}  // namespace

void append_fixed(std::string& out, double v, int64_t decimals) {
  if (!std::isfinite(v)) {
    char text[kDoubleText];
    out.append(text, static_cast<size_t>(format_double(text, v) - text));
    return;
  }
  constexpr int kDroppingDigits = 3;
  const int digits = decimals < 0 ? kDroppingDigits : static_cast<int>(std::min(decimals, kMostDecimals));
  if (v < 0) out += '-';
  v = std::fabs(v);
  if (!append_short(out, v, digits)) append_exact(out, v, digits);
  if (decimals < 0) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
  }
}

}  // namespace hopline
