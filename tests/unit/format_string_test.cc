#include "runtime/base/format_string.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/base/error.h"

namespace hopline {

namespace {

using Arguments = std::vector<FormatArgument>;

FormatArgument text(std::string_view t) { return t; }
FormatArgument whole(int64_t v) { return v; }

std::string format(std::string_view f, const Arguments& a = {}) { return format_string(f, a, {}); }

std::string failure(std::string_view f, const Arguments& a = {}) {
  try {
    return "no error, but " + format(f, a);
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace

TEST(FormatString, PrintsTheKindsOfTheLanguage) {
  EXPECT_EQ(format("%d and %d", {whole(3), whole(4)}), "3 and 4");
  EXPECT_EQ(format("%f %.3f %e %g", {3.5, 2.0005, 12345.678, 0.0001}), "3.500000 2.001 1.234568e+04 0.000100000");
  EXPECT_EQ(format("%s %s %s", {whole(3), 3.5, true}), "3 3.5 true");
  EXPECT_EQ(format("%b %5d %05d %+d %,d", {true, whole(42), whole(42), whole(42), whole(1234567)}),
            "true    42 00042 +42 1,234,567");
  EXPECT_EQ(format("%10s|%-10s|", {text("abc"), text("abc")}), "       abc|abc       |");
  EXPECT_EQ(format("a%nb %%"), "a\nb %");
  EXPECT_EQ(format("%f %.2f %s", {std::nan(""), HUGE_VAL, -HUGE_VAL}), "NaN Infinity -Infinity");
  EXPECT_EQ(format("abc", {whole(3)}), "abc");
}

TEST(FormatString, RoundsHalfUpOnTheShortestDecimal) {
  EXPECT_EQ(format("%.1f %.1f %.0f %.0f %.2f", {0.35, 0.25, 2.5, 3.5, 1.005}), "0.4 0.3 3 4 1.01");
  EXPECT_EQ(format("%.0f %.0f %.1f %.2f", {0.5, 0.4, 0.05, 0.004}), "1 0 0.1 0.00");
  EXPECT_EQ(format("%.2f %.1f %.0f", {99.995, 9.96, 999.5}), "100.00 10.0 1000");
  EXPECT_EQ(format("%.2f %f", {1e22, 1e-7}), "10000000000000000000000.00 0.000000");
  EXPECT_EQ(format("%.3e %.0e %e", {9.9996, 15000.0, 0.0}), "1.000e+01 2e+04 0.000000e+00");
  EXPECT_EQ(format("%e %E", {1e-300, 1e300}), "1.000000e-300 1.000000E+300");
}

TEST(FormatString, ChoosesTheFormOfGeneral) {
  EXPECT_EQ(format("%g %g %g %g", {0.0, 123456.0, 1234567.0, 0.00001}), "0.00000 123456 1.23457e+06 1.00000e-05");
  EXPECT_EQ(format("%g %.3g %.0g", {999999.5, 1234.5, 7.0}), "1.00000e+06 1.23e+03 7");
}

TEST(FormatString, SignsAndFills) {
  EXPECT_EQ(format("%(d|%(d|% d|%+.1f", {whole(-5), whole(5), whole(5), 2.0}), "(5)|5| 5|+2.0");
  EXPECT_EQ(format("%08.2f|%-8.2f|%8.2f|", {-3.14159, -3.14159, 3.14159}), "-0003.14|-3.14   |    3.14|");
  EXPECT_EQ(format("%010d|%,010d|%(08d", {whole(-42), whole(1234567), whole(-42)}), "-000000042|01,234,567|(000042)");
  EXPECT_EQ(format("%,.2f %,.0f", {1234567.891, 999.0}), "1,234,567.89 999");
  EXPECT_EQ(format("%06.1f|%+f|%(f", {HUGE_VAL, HUGE_VAL, -HUGE_VAL}), "Infinity|+Infinity|(Infinity)");
  EXPECT_EQ(format("%012f|%12f", {HUGE_VAL, std::nan("")}), "    Infinity|         NaN");
  EXPECT_EQ(format("%#.0f %#.0e", {3.0, 3.0}), "3. 3.e+00");
  EXPECT_EQ(format("%f %.1f", {-0.0, -0.04}), "-0.000000 -0.0");
  EXPECT_EQ(format("%d", {whole(INT64_MIN)}), "-9223372036854775808");
  EXPECT_EQ(format("%5%|%-5%|"), "    %|%    |");
}

TEST(FormatString, PrintsBases) {
  EXPECT_EQ(format("%x %X %#x %o %#o %08x", {whole(255), whole(255), whole(255), whole(8), whole(8), whole(255)}),
            "ff FF 0xff 10 010 000000ff");
  EXPECT_EQ(format("%x", {whole(-1)}), "ffffffffffffffff");
  EXPECT_EQ(format("%a %a %A %a", {1.0, 0.5, 10.0, 0.0}), "0x1.0p0 0x1.0p-1 0X1.4P3 0x0.0p0");
  EXPECT_EQ(format("%.0a %.2a %.3a", {-0.99, 5e-324, 1.0}), "-0x1.0p0 0x1.00p-1074 0x1.000p0");
  EXPECT_EQ(format("%h %h %h", {text("hello"), true, whole(5)}), "5e918d2 4cf 5");
}

TEST(FormatString, PrintsText) {
  EXPECT_EQ(format("%S %.2s %5.1s|", {text("abä"), text("äöü"), text("xyz")}), "ABÄ äö     x|");
  EXPECT_EQ(format("%4s|%-4s|", {text("äö"), text("äö")}), "  äö|äö  |");
  EXPECT_EQ(format("%b %B %.1b", {whole(0), false, true}), "true FALSE t");
}

TEST(FormatString, TakesArgumentsByIndex) {
  EXPECT_EQ(format("%2$s %1$s %s %s", {text("a"), text("b")}), "b a a b");
  EXPECT_EQ(format("%s %<s %2$s %<S", {text("a"), text("b")}), "a a b B");
}

TEST(FormatString, RefusesWrongArguments) {
  EXPECT_EQ(failure("%d", {3.0}), "wrong argument for format specifier %d: expected an int, found a double 3.0");
  EXPECT_EQ(failure("%f", {whole(3)}), "wrong argument for format specifier %f: expected a double, found an int 3");
  EXPECT_EQ(failure("%d", {text("x")}), "wrong argument for format specifier %d: expected an int, found a string x");
  EXPECT_EQ(failure("%s %s", {whole(3)}), "missing argument for format specifier %s: 1 given");
  EXPECT_EQ(failure("%3$s", {whole(3)}), "missing argument for format specifier %3$s: 1 given");
  EXPECT_EQ(failure("%<s", {whole(3)}), "missing argument for format specifier %<s: 1 given");
}

TEST(FormatString, RefusesWrongSpecifiers) {
  EXPECT_EQ(failure("100% done", {text("a")}),
            "wrong argument for format specifier % d: expected an int, found a string a");
  EXPECT_EQ(failure("%q", {whole(1)}),
            "wrong format specifier: expected one of the conversions b h s d o x e f g a n %, found %q");
  EXPECT_EQ(failure("%D", {whole(1)}),
            "wrong format specifier: expected one of the conversions b h s d o x e f g a n %, found %D");
  EXPECT_EQ(failure("%ä", {whole(1)}),
            "wrong format specifier: expected one of the conversions b h s d o x e f g a n %, found %ä");
  EXPECT_EQ(failure("50%"),
            "wrong format specifier: expected a conversion such as %d or %s, found '%' at the end; write %% for a "
            "percent sign");
  EXPECT_EQ(failure("%-d", {whole(1)}), "wrong format specifier: the flags - and 0 need a width, found %-d");
  EXPECT_EQ(failure("%-05d", {whole(1)}), "wrong format specifier: the flags - and 0 exclude each other, found %-05d");
  EXPECT_EQ(failure("%+ d", {whole(1)}),
            "wrong format specifier: the flags + and space exclude each other, found %+ d");
  EXPECT_EQ(failure("%++d", {whole(1)}), "wrong format specifier: the flag stands twice, found '+'");
  EXPECT_EQ(failure("%.2d", {whole(1)}), "wrong format specifier: it takes no precision, found %.2d");
  EXPECT_EQ(failure("%.f", {1.0}), "wrong format specifier: expected digits behind the point");
  EXPECT_EQ(failure("%#d", {whole(1)}), "wrong format specifier: the flag '#' does not go with it, found %#d");
  EXPECT_EQ(failure("%,e", {1.0}), "wrong format specifier: the flag ',' does not go with it, found %,e");
  EXPECT_EQ(failure("%5n"), "wrong format specifier: it takes no width, found %5n");
  EXPECT_EQ(failure("%99999999999999d", {whole(1)}),
            "wrong format specifier: a width or precision is larger than 1000000");
}

}  // namespace hopline
