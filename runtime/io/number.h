// Numbers in text. The text must be followed by at least 16 readable bytes, and stop at a byte that is no part of a
// number (Lines guarantees both).
#pragma once
#include <fast_float/fast_float.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstdint>
#include <cstring>

namespace hopline {

namespace number {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline constexpr uint64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// The value of eight digit values 0...9, the first in the lowest byte.
inline uint64_t eight_digits(uint64_t bytes) {
  bytes = bytes * 10 + (bytes >> 8);
  const uint64_t low = (bytes & 0x000000FF000000FF) * 0x000F424000000064;
  const uint64_t high = ((bytes >> 16) & 0x000000FF000000FF) * 0x0000271000000001;
  return static_cast<uint32_t>((low + high) >> 32);
}

// Appends the digits at p to value; returns what follows them. Eight bytes at a time, without a branch per digit.
inline const char* digits(const char* p, uint64_t& value) {
  if constexpr (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
    for (;;) {
      uint64_t bytes;
      std::memcpy(&bytes, p, 8);
      bytes ^= 0x3030303030303030;  // digits become 0...9, everything else more
      // the top bit of every byte above 9
      const uint64_t others = (bytes | ((bytes & 0x7F7F7F7F7F7F7F7F) + 0x7676767676767676)) & 0x8080808080808080;
      if (others != 0) {
        const int n = __builtin_ctzll(others) / 8;
        if (n == 0) return p;
        value = value * kPowers[n] + eight_digits(bytes << (64 - 8 * n));
        return p + n;
      }
      value = value * kPowers[8] + eight_digits(bytes), p += 8;
    }
  }
  while (is_digit(*p)) value = value * 10 + static_cast<uint64_t>(*p++ - '0');
  return p;
}

inline constexpr double kTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

}  // namespace number

// Any double as Java and C write it: sign, digits, exponent, "NaN", "Inf", "Infinity" in any case. Returns the end, or
// null when no number begins at p.
inline const char* parse_any_number(const char* p, const char* end, double& out) {
  if (p < end && *p == '+' && p + 1 < end && p[1] != '-') ++p;
  const auto [stop, error] = fast_float::from_chars(p, end, out);
  return error == std::errc::invalid_argument ? nullptr : stop;  // out of range: 0 or infinity, as in Java
}

// The same for the common short numbers: [sign] digits [. digits], exact in a double. Null: not one of these.
inline const char* parse_plain_number(const char* p, double& out) {
  const bool negative = *p == '-';
  p += negative;
  uint64_t mantissa = 0;
  const char* const first = p;
  p = number::digits(p, mantissa);
  auto count = p - first;
  int64_t fraction = 0;
  if (*p == '.') {
    const char* const point = p++;
    p = number::digits(p, mantissa);
    fraction = p - point - 1;
    count += fraction;
  }
  // 19 digits fit 64 bits; both the mantissa and the power of ten are exact doubles, so one division rounds once.
  if (count == 0 || count > 19 || mantissa > (uint64_t{1} << 53)) return nullptr;
  if (static_cast<unsigned char>(*p | 0x20) == 'e') return nullptr;
  const double value = static_cast<double>(static_cast<int64_t>(mantissa)) / number::kTens[fraction];
  out = negative ? -value : value;
  return p;
}

// A field of at most 15 bytes that is a plain number and ends in the separator or a line end. Where the field ends is
// found before its value is computed, so that a processor works on several fields at once. Returns the field's end;
// null: not one of these.
inline const char* parse_short_field(const char* p, char separator, double& out) {
#ifdef __SSE2__
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const auto mask = [](__m128i m) { return static_cast<uint32_t>(_mm_movemask_epi8(m)); };
  const uint32_t ends =
      mask(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(separator)), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))));
  if (ends == 0) return nullptr;
  const int length = __builtin_ctz(ends);
  const uint32_t within = (1u << length) - 1;
  const uint32_t points = mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'))) & within;
  const __m128i shifted =
      _mm_add_epi8(bytes, _mm_set1_epi8(static_cast<char>(0x80 - '0')));  // digits become -128...-119
  const uint32_t digits = mask(_mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(0x80 + 10)))) & within;
  const uint32_t sign = *p == '-';
  const int point = __builtin_ctz(points | (1u << length));
  const int whole = point - static_cast<int>(sign), fraction = length - point - (points != 0);
  if ((points & (points - 1)) != 0 || (digits | points | sign) != within || whole < 1 || whole > 8 || fraction > 8)
    return nullptr;
  constexpr uint64_t kZeros = 0x3030303030303030;
  uint64_t left, right;
  std::memcpy(&left, p + sign, 8);
  std::memcpy(&right, p + point + 1, 8);
  const uint64_t high = number::eight_digits((left ^ kZeros) << (64 - 8 * whole));
  const uint64_t low = number::eight_digits((right ^ kZeros) << ((64 - 8 * fraction) & 63));
  const uint64_t mantissa = high * number::kPowers[fraction] + (fraction == 0 ? 0 : low);
  const double value = static_cast<double>(static_cast<int64_t>(mantissa)) / number::kTens[fraction];
  out = sign != 0 ? -value : value;
  return p + length;
#else
  const char* const stop = parse_plain_number(p, out);
  return stop != nullptr && (*stop == separator || *stop == '\n') ? stop : nullptr;
#endif
}

}  // namespace hopline
