#include "tests/random/facts.h"

#include <algorithm>
#include <cmath>

namespace hopline::tests {

namespace {

constexpr double kRounding = 2.3e-16;  // of one operation, relative
constexpr double kLargest = 1e200;     // bounds beyond are not tracked

Facts settle(Facts f) {
  if (f.exact && (f.bits > 40 || std::ldexp(f.magnitude(), f.bits) > std::ldexp(1.0, 53))) {
    f.exact = false;
    f.error = std::max(f.error, f.magnitude() * kRounding * 8);
  }
  if (f.low > 0 || f.high < 0) f.nonzero = true;
  return f;
}

// A range that variants compute by the same operations, so to the same bits.
Facts range(double low, double high, bool finite = true) {
  Facts f;
  f.low = low, f.high = high, f.finite = finite;
  return settle(f);
}

Facts truth() { return whole(0, 1); }

double smallest_magnitude(const Facts& f) {
  if (f.low > 0) return f.low;
  if (f.high < 0) return -f.high;
  return f.exact && f.nonzero ? std::ldexp(1.0, -f.bits) : 0;
}

bool determined(const Facts& x, const Facts& y) { return x.determined() && y.determined(); }
bool finite(const Facts& x, const Facts& y) { return x.finite && y.finite; }

std::optional<Facts> quotient(const Facts& x, const Facts& y) {
  const double least = smallest_magnitude(y);
  if (!finite(x, y) || (least == 0 && !(y.exact && y.clean))) return std::nullopt;
  const double divisor = least > 0 ? least : std::ldexp(1.0, -y.bits);
  const double most = x.magnitude() / divisor;
  if (!(most < kLargest) || (least == 0 && !determined(x, y))) return std::nullopt;
  Facts f = range(-most, most, least > 0);
  if (x.low >= 0 && y.low >= 0) f.low = 0;
  f.error = x.error / divisor + x.magnitude() * y.error / (divisor * divisor) + most * kRounding * 4;
  return f;
}

std::optional<Facts> power(const Facts& x, const Facts& y) {
  if (!determined(x, y) || !finite(x, y)) return std::nullopt;
  if (y.exact && y.low == y.high && (y.low == 1 || y.low == 2 || y.low == 3)) {
    Facts f = x;
    for (int k = 1; k < static_cast<int>(y.low); ++k) f = product_of(f, x);
    if (y.low == 2) f.low = 0;
    if (y.low == 2) f.clean = true;
    return f;
  }
  if (x.low <= 0 || y.magnitude() > 64) {
    if (x.low < 0 || y.low <= 0 || y.magnitude() > 64) return std::nullopt;
    Facts f = range(0, std::pow(std::max(1.0, x.high), y.high));
    f.error = f.high * kRounding * 8;
    return f.high < kLargest ? std::optional(f) : std::nullopt;
  }
  double low = kInfinity, high = 0;
  for (const double a : {x.low, x.high, 1.0})
    for (const double b : {y.low, y.high}) low = std::min(low, std::pow(a, b)), high = std::max(high, std::pow(a, b));
  if (!(high < kLargest)) return std::nullopt;
  Facts f = range(low, high);
  f.error = high * kRounding * 8;
  return f;
}

std::optional<Facts> additive(const Facts& x, Facts y, bool minus) {
  if (minus) std::swap(y.low, y.high), y.low = -y.low, y.high = -y.high;
  Facts f = range(x.low + y.low, x.high + y.high, finite(x, y));
  if (std::isnan(f.low) || std::isnan(f.high)) f.low = -kInfinity, f.high = kInfinity;
  f.error = x.error + y.error;
  f.exact = x.exact && y.exact;
  f.bits = std::max(x.bits, y.bits);
  f.clean = minus ? x.clean : x.clean || y.clean;
  if (!f.exact) f.error += f.magnitude() * kRounding;
  if (!(f.error < kLargest)) return std::nullopt;
  return settle(f);
}

std::optional<Facts> remainder(const Facts& x, const Facts& y) {
  if (!determined(x, y) || !finite(x, y) || !x.exact || !y.exact) return std::nullopt;
  Facts f = range(-x.magnitude() - y.magnitude(), x.magnitude() + y.magnitude(), y.nonzero);
  f.exact = true;
  f.bits = std::max(x.bits, y.bits);
  if (!y.nonzero && !y.clean) return std::nullopt;
  return settle(f);
}

std::optional<Facts> bitwise(std::string_view name, const Facts& x, const Facts& y) {
  const bool shift = name.substr(0, 8) == "bitwShif";
  if (!determined(x, y) || !finite(x, y) || !x.exact || !y.exact || x.bits > 0 || y.bits > 0) return std::nullopt;
  if (x.magnitude() > 1e6 || y.magnitude() > 1e6 || (shift && (y.low < 0 || y.high > 8))) return std::nullopt;
  return whole(-4294967296.0, 4294967296.0);
}

}  // namespace

double Facts::magnitude() const { return std::max(std::fabs(low), std::fabs(high)); }

Facts anything() {
  Facts f;
  f.error = kInfinity;
  f.finite = false;
  return f;
}

Facts whole(double low, double high) {
  Facts f;
  f.low = low, f.high = high;
  f.exact = f.clean = true;
  f.nonzero = low > 0 || high < 0;
  return f;
}

Facts integral(double low, double high) {
  Facts f = whole(low, high);
  f.clean = f.nonzero = false;
  return f;
}

Facts exactly(double value) {
  Facts f = whole(value, value);
  f.finite = std::isfinite(value);
  f.clean = value != 0 || !std::signbit(value);
  if (!f.finite) {
    f.low = f.high = 0;
    f.exact = false;
    return f;
  }
  while (f.bits <= 40 && std::ldexp(value, f.bits) != std::floor(std::ldexp(value, f.bits))) ++f.bits;
  f.exact = f.bits <= 40 && std::fabs(value) < 1e9;
  if (!f.exact) f.bits = 0;
  return f;
}

bool within(const Facts& f, const Facts& bound) {
  return f.low >= bound.low && f.high <= bound.high && f.error <= bound.error && (f.finite || !bound.finite) &&
         (!bound.exact || (f.exact && f.bits <= bound.bits)) && (f.nonzero || !bound.nonzero) &&
         (f.clean || !bound.clean);
}

Facts join(const Facts& a, const Facts& b) {
  Facts f;
  f.low = std::min(a.low, b.low), f.high = std::max(a.high, b.high);
  f.error = std::max(a.error, b.error);
  f.exact = a.exact && b.exact;
  f.bits = std::max(a.bits, b.bits);
  f.finite = a.finite && b.finite;
  f.nonzero = a.nonzero && b.nonzero;
  f.clean = a.clean && b.clean;
  return settle(f);
}

Facts with_zero(const Facts& a) { return join(a, exactly(0)); }

Facts widen(const Facts& facts) {
  constexpr double kSteps[] = {0, 1, 16, 256, 4096, 1048576, 1e9, 1e15, 1e30, 1e100};
  const auto outward = [&](double v) {
    for (const double s : kSteps)
      if (std::fabs(v) <= s) return v < 0 ? -s : s;
    return v < 0 ? -kInfinity : kInfinity;
  };
  Facts f = facts;
  f.low = f.low >= 0 ? (f.low >= 1 ? 1 : 0) : outward(f.low);
  f.high = f.high <= 0 ? 0 : outward(f.high);
  if (f.exact) f.bits = f.bits == 0 ? 0 : f.bits <= 4 ? 4 : f.bits <= 12 ? 12 : 40;
  if (f.exact && std::ldexp(f.magnitude(), f.bits) > std::ldexp(1.0, 52)) f = facts;
  for (const double step : {0.0, 1e-13, 1e-11, 1e-9})
    if (f.error <= step) {
      f.error = step;
      break;
    }
  f.nonzero = f.nonzero && (f.low > 0 || f.high < 0 || facts.nonzero);
  return f;
}

Facts product_of(const Facts& a, const Facts& b) {
  Facts f;
  f.low = kInfinity, f.high = -kInfinity;
  for (const double x : {a.low, a.high})
    for (const double y : {b.low, b.high}) {
      const double p = x == 0 || y == 0 ? 0 : x * y;
      f.low = std::min(f.low, p), f.high = std::max(f.high, p);
    }
  f.exact = a.exact && b.exact;
  f.bits = a.bits + b.bits;
  f.finite = finite(a, b) && f.magnitude() < kLargest;
  f.nonzero = a.nonzero && b.nonzero && f.exact;
  f.clean = a.clean && b.clean && a.low >= 0 && b.low >= 0;
  f.error = a.error == 0 && b.error == 0 ? 0 : a.magnitude() * b.error + b.magnitude() * a.error + a.error * b.error;
  if (!f.exact) f.error += f.magnitude() * kRounding;
  return settle(f);
}

Facts sum_of(const Facts& facts, double count) {
  Facts f = facts;
  f.low = std::min(0.0, f.low * count), f.high = std::max(0.0, f.high * count);
  if (count == 0) f.low = f.high = 0;
  f.error = count * facts.error;
  if (!f.exact && count > 1) f.error += count * facts.magnitude() * kRounding;
  f.nonzero = false;
  f.clean = false;
  return settle(f);
}

Facts mean_of(const Facts& facts, double count) {
  Facts f = facts;
  if (count == 0) return anything();
  if (count == 1) return f;
  f.error = facts.error + 4 * facts.magnitude() * kRounding;
  f.exact = f.nonzero = f.clean = false;
  return f;
}

std::optional<Facts> unary_facts(std::string_view name, const Facts& x) {
  const bool same = x.determined();
  const auto lipschitz = [&](double low, double high) {
    Facts f = range(low, high, x.finite);
    f.error = x.error;
    return f;
  };
  if (name == "-" || name == "abs") {
    Facts f = x;
    f.low = -x.high, f.high = -x.low;
    f.clean = x.nonzero;
    if (name == "abs") f.low = std::max({0.0, x.low, -x.high}), f.high = x.magnitude(), f.clean = true;
    return f;
  }
  if (name == "sin" || name == "cos" || name == "tanh") {
    if (!same && (x.magnitude() > 1e6 || !x.finite)) return std::nullopt;
    return lipschitz(-1, 1);
  }
  if (name == "atan") return x.finite || same ? std::optional(lipschitz(-1.6, 1.6)) : std::nullopt;
  if (name == "exp" && x.high < 20) {
    Facts f = lipschitz(0, std::exp(x.high));
    f.error = x.error * f.high;
    return f;
  }
  if (!same) return std::nullopt;
  if (name == "sign") return whole(-1, 1);
  if (name == "floor" || name == "ceil" || name == "round") {
    if (x.magnitude() > 1e15) return std::nullopt;
    Facts f = whole(std::floor(x.low), std::ceil(x.high));
    f.finite = x.finite;
    f.nonzero = false;
    f.clean = name == "floor" && x.clean;
    return f;
  }
  if (name.substr(0, 3) == "is." || name == "!") return truth();
  if (name == "sqrt") return range(0, std::sqrt(std::max(0.0, x.high)), x.finite && x.low >= 0);
  if (name == "log" && x.low > 0) return range(std::log(x.low), std::log(x.high), x.finite);
  if (name == "exp" && x.high < 300) return range(0, std::exp(x.high), x.finite);
  if ((name == "asin" || name == "acos") && x.magnitude() <= 1) return range(-2, 4, x.finite);
  if ((name == "sinh" || name == "cosh") && x.magnitude() < 300)
    return range(-std::cosh(x.magnitude()), std::cosh(x.magnitude()), x.finite);
  return range(-kInfinity, kInfinity, false);
}

std::optional<Facts> binary_facts(std::string_view name, const Facts& x, const Facts& y) {
  if (name == "+" || name == "-") return additive(x, y, name == "-");
  if (name == "*") {
    const Facts f = product_of(x, y);
    return finite(x, y) && f.finite ? std::optional(f) : std::nullopt;
  }
  if (name == "/") return quotient(x, y);
  if (name == "min" || name == "max") {
    Facts f = join(x, y);
    f.low = name == "min" ? f.low : std::max(x.low, y.low);
    f.high = name == "max" ? f.high : std::min(x.high, y.high);
    return settle(f);
  }
  if (!determined(x, y)) return std::nullopt;
  if (name == "^") return power(x, y);
  if (name == "%%") return remainder(x, y);
  if (name == "%/%") {
    const auto f = remainder(x, y);
    if (!f || !y.nonzero) return std::nullopt;
    const double most = std::ceil(x.magnitude() / smallest_magnitude(y));
    Facts q = whole(-most, most);
    q.clean = false;
    return most < 1e12 ? std::optional(q) : std::nullopt;
  }
  if (name == "&" || name == "|" || name == "xor") return finite(x, y) ? std::optional(truth()) : std::nullopt;
  if (name.find_first_of("<>=") != std::string_view::npos) return truth();
  if (name.substr(0, 4) == "bitw") return bitwise(name, x, y);
  if (name == "log") {
    if (!(x.low > 0) || !(y.low > 1)) return std::nullopt;
    const double most = (std::fabs(std::log(x.low)) + std::fabs(std::log(x.high))) / std::log(y.low);
    Facts f = range(-most, most, finite(x, y));
    f.error = most * kRounding * 8;
    return f;
  }
  if (!finite(x, y)) return std::nullopt;
  return range(-kInfinity, kInfinity, false);
}

}  // namespace hopline::tests
