// Everything is computed in long double (64 bits of mantissa on x86): its slack covers the rounding of continued
// fractions and of exponents in the tails, and its range covers squares of values near the ends of double.
#include "runtime/ops/distribution_functions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace hopline {

namespace {

using Real = long double;

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr Real kInf = std::numeric_limits<Real>::infinity();
constexpr Real kEps = std::numeric_limits<Real>::epsilon();
constexpr Real kTiny = 1e-4000L;            // stands for 0 in continued fractions
constexpr int64_t kMostTerms = 20'000'000;  // far more than the square root of any parameter

struct Tails {
  Real lower, upper;
};

// --- the terms of Stirling's formula --------------------------------------------------------------------------------

// log(gamma(a + 1)) less Stirling's formula.
Real stirling_error(Real a) {
  if (a < 20) return lgammal(a + 1) - (a + 0.5L) * logl(a) + a - 0.5L * logl(2 * kPi);
  constexpr Real kTerms[] = {1.0L / 12,        -1.0L / 360, 1.0L / 1260,       -1.0L / 1680,      1.0L / 1188,
                             -691.0L / 360360, 1.0L / 156,  -3617.0L / 122400, 43867.0L / 244188, -174611.0L / 125400};
  Real sum = 0;
  const Real square = a * a;
  for (size_t i = std::size(kTerms); i-- > 0;) sum = sum / square + kTerms[i];
  return sum / a;
}

// a log(a / m) + m - a, without cancellation where m is near a.
Real deviance(Real a, Real m) {
  if (std::fabs(a - m) < 0.1L * (a + m)) {
    const Real u = (m - a) / a;
    return a * (u - log1pl(u));
  }
  return a * logl(a / m) + m - a;
}

// --- incomplete gamma and beta functions ----------------------------------------------------------------------------

// x^a exp(-x) / gamma(a + 1)
Real gamma_term(Real a, Real x) { return expl(-stirling_error(a) - deviance(a, x)) / sqrtl(2 * kPi * a); }

// Regularised incomplete gamma functions of a > 0, x > 0.
Tails gamma_tails(Real a, Real x) {
  if (x < a + 1) {  // series of the lower one
    Real term = 1, sum = 1;
    for (Real n = a + 1; term > sum * kEps; ++n) {
      term *= x / n;
      sum += term;
    }
    const Real lower = std::min(1.0L, gamma_term(a, x) * sum);
    return {lower, 1 - lower};
  }
  Real b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;  // Lentz's continued fraction of the upper one
  for (int64_t i = 1; i < kMostTerms; ++i) {
    const Real k = -static_cast<Real>(i) * (static_cast<Real>(i) - a);
    b += 2;
    d = k * d + b;
    c = b + k / c;
    if (std::fabs(d) < kTiny) d = kTiny;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::fabs(d * c - 1) < 4 * kEps) break;
  }
  const Real upper = std::min(1.0L, gamma_term(a, x) * a * h);
  return {1 - upper, upper};
}

// x^a y^b / beta(a, b), y = 1 - x
Real beta_term(Real a, Real b, Real x, Real y) {
  const Real n = a + b;
  const Real exponent =
      stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) - deviance(b, n * y);
  return expl(exponent) * sqrtl(a / n * b / (2 * kPi));
}

// Lentz's continued fraction; fast for x < (a + 1) / (a + b + 2).
Real beta_fraction(Real a, Real b, Real x) {
  Real c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) d = kTiny;
  d = 1 / d;
  Real h = d;
  const auto step = [&](Real k) {
    d = 1 + k * d;
    c = 1 + k / c;
    if (std::fabs(d) < kTiny) d = kTiny;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
  };
  for (int64_t i = 1; i < kMostTerms; ++i) {
    const auto m = static_cast<Real>(i);
    step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    if (std::fabs(d * c - 1) < 4 * kEps) break;
  }
  return h;
}

// Regularised incomplete beta functions of x and y = 1 - x, both given so that neither loses bits.
Tails beta_tails(Real a, Real b, Real x, Real y) {
  if (x <= 0) return {0, 1};
  if (y <= 0) return {1, 0};
  const Real term = beta_term(a, b, x, y);
  if (x < (a + 1) / (a + b + 2)) {
    const Real lower = std::min(1.0L, term * beta_fraction(a, b, x) / a);
    return {lower, 1 - lower};
  }
  const Real upper = std::min(1.0L, term * beta_fraction(b, a, y) / b);
  return {1 - upper, upper};
}

// --- distributions --------------------------------------------------------------------------------------------------

Tails normal_tails(Real z) {
  const Real s = z / sqrtl(2.0L);
  return {erfcl(-s) / 2, erfcl(s) / 2};
}

Tails chisq_tails(Real df, Real x) {
  if (x <= 0) return {0, 1};
  if (x == kInf) return {1, 0};
  return gamma_tails(df / 2, x / 2);
}

struct Shares {
  Real x, y;  // of df1 * v and df2 in their sum
};
Shares f_shares(Real df1, Real df2, Real v) {
  const Real n = df1 * v;
  return {n / (n + df2), df2 / (n + df2)};
}

Tails f_tails(Real df1, Real df2, Real v) {
  if (v <= 0) return {0, 1};
  if (v == kInf) return {1, 0};
  const Shares s = f_shares(df1, df2, v);
  return beta_tails(df1 / 2, df2 / 2, s.x, s.y);
}

Tails t_tails(Real df, Real t) {
  const Real outside = f_tails(1, df, t * t).upper / 2;
  const Real inside = f_tails(1, df, t * t).lower / 2;  // between 0 and |t|
  const Tails positive{outside < 0.25L ? 1 - outside : 0.5L + inside, outside};
  return t >= 0 ? positive : Tails{positive.upper, positive.lower};
}

Tails tails_of(const DistributionParameters& d, Real x) {
  switch (d.kind) {
    case DistributionKind::normal:
      return normal_tails((x - d.mean) / d.sd);
    case DistributionKind::exponential:
      return x <= 0 ? Tails{0, 1} : Tails{-expm1l(-d.rate * x), expl(-d.rate * x)};
    case DistributionKind::chisq:
      return chisq_tails(d.df1, x);
    case DistributionKind::f:
      return f_tails(d.df1, d.df2, x);
    case DistributionKind::t:
      return t_tails(d.df1, x);
  }
  return {};
}

// --- inverses -------------------------------------------------------------------------------------------------------

// The positive v at which the tails are `wanted`: Newton's method for the logarithm of the smaller tail as a function
// of log(v), within a bracket. slope(v) is v times the density.
template <class TailsOf, class Slope>
Real solve(const Tails& wanted, Real start, const TailsOf& tails, const Slope& slope) {
  const bool lower = wanted.lower <= wanted.upper;
  const Real target = logl(lower ? wanted.lower : wanted.upper);
  Real low = -kInf, high = kInf, y = logl(start), step = 1;
  for (int i = 0; i < 400; ++i) {
    const Real v = expl(y);
    const Tails at = tails(v);
    const Real tail = lower ? at.lower : at.upper;
    const Real error = logl(tail) - target;  // -Inf where the tail underflows
    ((error < 0) == lower ? low : high) = y;
    if (error == 0 || !(high - low > kEps * std::max(1.0L, std::fabs(y)))) break;
    Real next = y - error * tail / (lower ? slope(v) : -slope(v));
    if (!(next > low && next < high)) {  // NaN too
      if (low == -kInf || high == kInf) {
        next = low == -kInf ? y - step : y + step;
        step *= 2;
      } else {
        next = low + (high - low) / 2;
      }
    } else if (low == -kInf || high == kInf) {
      next = std::clamp(next, y - 64 * step, y + 64 * step);
    }
    if (std::fabs(next - y) <= 2 * kEps * std::max(1.0L, std::fabs(y))) return expl(next);
    y = next;
  }
  return expl(y);
}

Real inverse_f(Real df1, Real df2, const Tails& wanted) {
  return solve(
      wanted, 1, [=](Real v) { return f_tails(df1, df2, v); },
      [=](Real v) {
        const Shares s = f_shares(df1, df2, v);
        return beta_term(df1 / 2, df2 / 2, s.x, s.y);
      });
}

Real inverse_chisq(Real df, const Tails& wanted) {
  return solve(
      wanted, df, [=](Real v) { return chisq_tails(df, v); },
      [=](Real v) { return df / 2 * gamma_term(df / 2, v / 2); });
}

// The t > 0 whose upper tail is q < 0.5; its square has an F distribution.
Real inverse_t(Real df, Real q) { return sqrtl(inverse_f(1, df, {1 - 2 * q, 2 * q})); }

// The z > 0 whose upper tail is q < 0.5.
Real inverse_normal(Real q) {
  const Real r = sqrtl(-2 * logl(q));  // starting value within 0.01
  Real z = r - (2.515517L + r * (0.802853L + r * 0.010328L)) / (1 + r * (1.432788L + r * (0.189269L + r * 0.001308L)));
  for (int i = 0; i < 8; ++i) {
    const Real e = (normal_tails(z).upper - q) / (expl(-z * z / 2) / sqrtl(2 * kPi));  // Halley
    const Real change = e / (1 - z * e / 2);
    z += change;
    if (std::fabs(change) < 4 * kEps * z) break;
  }
  return z;
}

Real inverse_of(const DistributionParameters& d, Real p) {
  const Real q = 1 - p;
  switch (d.kind) {
    case DistributionKind::normal:
      return d.mean + d.sd * (p == 0.5L ? 0 : p < 0.5L ? -inverse_normal(p) : inverse_normal(q));
    case DistributionKind::exponential:
      return -log1pl(-p) / d.rate;
    case DistributionKind::chisq:
      return inverse_chisq(d.df1, {p, q});
    case DistributionKind::f:
      return inverse_f(d.df1, d.df2, {p, q});
    case DistributionKind::t:
      return p == 0.5L ? 0 : p < 0.5L ? -inverse_t(d.df1, p) : inverse_t(d.df1, q);
  }
  return 0;
}

}  // namespace

double cumulative_probability(const DistributionParameters& d, double x, bool lower) {
  if (std::isnan(x)) return x;
  const Tails tails = tails_of(d, x);
  return static_cast<double>(lower ? tails.lower : tails.upper);
}

double inverse_probability(const DistributionParameters& d, double p) {
  const bool both_sides = d.kind == DistributionKind::normal || d.kind == DistributionKind::t;
  if (p == 0) return both_sides ? -std::numeric_limits<double>::infinity() : 0;
  if (p == 1) return std::numeric_limits<double>::infinity();
  return static_cast<double>(inverse_of(d, p));
}

}  // namespace hopline
