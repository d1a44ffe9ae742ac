// Numbers as text: the printed form of the language (Java's Double.toString) and fixed decimals. No locale.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace hopline {

constexpr size_t kDoubleText = 32;  // bytes that format_double may write

// Shortest digits that read back to v, always with a fraction digit, plain for 1e-3 <= |v| < 1e7, else d.dddE±x.
// Returns the end of the text; no terminator. A float is written with the digits that tell it among floats.
char* format_double(char* out, double v);
char* format_double(char* out, float v);
std::string to_text(double v);
std::string to_text(float v);
std::string to_text(int64_t v);

// Appends exactly `decimals` fraction digits: the shortest digits where they fit, else rounded, halves to even on the
// exact binary value. Negative decimals: at most 3 digits, trailing zeros dropped. More than 340 counts as 340.
// -0.0 has no sign, a negative that rounds to zero keeps it.
void append_fixed(std::string& out, double v, int64_t decimals);

// Decimal digits of a magnitude: digits[0].digits[1...] times 10 to the exponent.
struct Decimal {
  char digits[24];
  int count = 0;
  int exponent = 0;
};

// The shortest digits that tell a number, not negative and finite, among doubles or floats.
Decimal shortest_decimal(double magnitude);
Decimal shortest_decimal(float magnitude);

}  // namespace hopline
