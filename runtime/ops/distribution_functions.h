// Probabilities and quantiles of the distributions that cdf() and icdf() know, to the last few bits also far out in the
// tails.
#pragma once
#include <cstdint>

namespace hopline {

enum class DistributionKind : uint8_t { normal, exponential, chisq, f, t };

// Parameters that the kind does not use are ignored.
struct DistributionParameters {
  DistributionKind kind = DistributionKind::normal;
  double mean = 0, sd = 1;  // normal; sd > 0
  double rate = 1;          // exponential; > 0
  double df1 = 1, df2 = 1;  // degrees of freedom, at least 1: df1 of chisq and t, both of f
};

// P(X <= x), or P(X > x) where `lower` is false. NaN for NaN.
double cumulative_probability(const DistributionParameters& d, double x, bool lower);
// The x with P(X <= x) = p, 0 <= p <= 1.
double inverse_probability(const DistributionParameters& d, double p);

}  // namespace hopline
