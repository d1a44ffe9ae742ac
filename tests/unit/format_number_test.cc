#include "runtime/base/format_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hopline {

TEST(FormatNumber, PrintsDoublesAsJavaDoes) {
  const std::pair<double, const char*> rows[] = {
      {1.0, "1.0"},
      {100.0, "100.0"},
      {3.0e5, "300000.0"},
      {9999999.0, "9999999.0"},
      {1e7, "1.0E7"},
      {1e10, "1.0E10"},
      {1e21, "1.0E21"},
      {1e-3, "0.001"},
      {0.00099, "9.9E-4"},
      {1e-4, "1.0E-4"},
      {123456789.123, "1.23456789123E8"},
      {1234567.891, "1234567.891"},
      {12345678.91, "1.234567891E7"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {2.0 / 3, "0.6666666666666666"},
      {1e15 + 1, "1.000000000000001E15"},
      {123456789012345680.0, "1.2345678901234568E17"},
      {2e-323, "2.0E-323"},
      {4.9e-324, "4.9E-324"},
      {1.7976931348623157e308, "1.7976931348623157E308"},
      {std::nan(""), "NaN"},
      {HUGE_VAL, "Infinity"},
      {-HUGE_VAL, "-Infinity"},
      {-0.0, "-0.0"},
      {0.0, "0.0"},
      {3.141592653589793, "3.141592653589793"},
      {std::exp(1.0), "2.718281828459045"},
      {0x1p63, "9.223372036854776E18"},
      {-1.5, "-1.5"},
      {-1e7, "-1.0E7"},
      {123456.789, "123456.789"},
      {9999999.5, "9999999.5"},
      {1e23, "1.0E23"},
      {0.01, "0.01"},
      {2.2250738585072014e-308, "2.2250738585072014E-308"},
      {-1.2345678901234567e-308, "-1.2345678901234567E-308"},
  };
  for (const auto& [v, text] : rows) EXPECT_EQ(to_text(v), text);
}

TEST(FormatNumber, TellsFloatsApartAmongFloats) {
  EXPECT_EQ(to_text(0.1F), "0.1");
  EXPECT_EQ(to_text(16777216.0F), "1.6777216E7");
  EXPECT_EQ(to_text(3.0F), "3.0");
  EXPECT_EQ(to_text(std::numeric_limits<float>::denorm_min()), "1.4E-45");
  EXPECT_EQ(to_text(std::numeric_limits<float>::max()), "3.4028235E38");
}

TEST(FormatNumber, StaysWithinItsBytes) {
  char text[kDoubleText];
  EXPECT_LE(format_double(text, -2.2250738585072014e-308) - text, 32);
  EXPECT_LE(format_double(text, -1.7976931348623157e308) - text, 32);
}

std::string fixed(double v, int64_t decimals) {
  std::string out;
  append_fixed(out, v, decimals);
  return out;
}

TEST(FormatNumber, RoundsFixedDecimalsHalfToEvenOnTheBinaryValue) {
  EXPECT_EQ(fixed(0.0015, 3), "0.002");
  EXPECT_EQ(fixed(0.0025, 3), "0.003");
  EXPECT_EQ(fixed(0.9995, 3), "1.000");
  EXPECT_EQ(fixed(999999.9999, 3), "1000000.000");
  EXPECT_EQ(fixed(2.675, 2), "2.67");
  EXPECT_EQ(fixed(0.125, 2), "0.12");
  EXPECT_EQ(fixed(0.5, 0), "0");
  EXPECT_EQ(fixed(1.5, 0), "2");
  EXPECT_EQ(fixed(2.5, 0), "2");
  EXPECT_EQ(fixed(1e10, 3), "10000000000.000");
}

TEST(FormatNumber, KeepsTheSignOfNegativesThatRoundToZero) {
  EXPECT_EQ(fixed(-0.0, 3), "0.000");
  EXPECT_EQ(fixed(-0.0004, 3), "-0.000");
  EXPECT_EQ(fixed(-0.0004, 0), "-0");
  EXPECT_EQ(fixed(-0.0004, -1), "-0");
  EXPECT_EQ(fixed(-0.0, -1), "0");
}

TEST(FormatNumber, DropsTrailingZerosForNegativeDecimals) {
  EXPECT_EQ(fixed(1, -1), "1");
  EXPECT_EQ(fixed(2.5, -1), "2.5");
  EXPECT_EQ(fixed(1234567.891, -1), "1234567.891");
  EXPECT_EQ(fixed(1.23456, -1), "1.235");
  EXPECT_EQ(fixed(0.5, -1), "0.5");
  EXPECT_EQ(fixed(-2, -1), "-2");
  EXPECT_EQ(fixed(1e10, -1), "10000000000");
  EXPECT_EQ(fixed(100, -1), "100");
}

TEST(FormatNumber, PrintsWhatIsNoNumberByName) {
  EXPECT_EQ(fixed(std::nan(""), 3), "NaN");
  EXPECT_EQ(fixed(HUGE_VAL, 0), "Infinity");
  EXPECT_EQ(fixed(-HUGE_VAL, -1), "-Infinity");
}

TEST(FormatNumber, PadsTheShortestDigitsWithZeros) {
  EXPECT_EQ(fixed(1e23, 1), "100000000000000000000000.0");
  EXPECT_EQ(fixed(0.1, 20), "0.10000000000000000000");
  EXPECT_EQ(fixed(-0.0004, 7), "-0.0004000");
  EXPECT_EQ(fixed(123.456, 3), "123.456");
}

TEST(FormatNumber, LimitsDecimals) {
  EXPECT_EQ(fixed(1, 1'000'000'000'000).size(), 342u);
  EXPECT_EQ(fixed(-1.7976931348623157e308, 340).size(), 651u);
}

}  // namespace hopline
