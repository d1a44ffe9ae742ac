#include "runtime/ops/random_poisson.h"

#include <bit>
#include <cmath>

#include "runtime/ops/random.h"

namespace hopline {

namespace {

constexpr double kInverted = 30;  // up to this lambda by inversion, beyond by rejection
constexpr int kGuide = 256;
constexpr double kHalfLog2Pi = 0.91893853320467274178;

// exp(x) for x in [-kInverted, 0]; error below 1 ulp.
double exp_down(double x) {
  const double k = std::nearbyint(x * 1.44269504088896338700);
  const double high = x - k * 6.93147180369123816490e-01, low = k * 1.90821492927058770002e-10;
  const double r = high - low, t = r * r;
  const double c =
      r -
      t * (1.66666666666666019037e-01 +
           t * (-2.77777777770155933842e-03 +
                t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  return std::ldexp(1 + (r * c / (2 - c) - low + high), static_cast<int>(k));
}

// Natural logarithm of a normal x > 0; error below 1 ulp.
double log_positive(double x) {
  const auto bits = std::bit_cast<uint64_t>(x) + (0x3FF0000000000000 - 0x3FE6A09E00000000);
  const auto k = static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023);
  const double f = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E00000000) - 1;
  const double s = f / (2 + f), z = s * s, w = z * z, half_square = 0.5 * f * f;
  const double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double t2 =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return s * (half_square + (t2 + t1)) + k * 1.90821492927058770002e-10 - half_square + f +
         k * 6.93147180369123816490e-01;
}

// log(k!) - (k log k - k + log(2 pi k) / 2), for whole k > 0.
double stirling_rest(double k) {
  if (k < 16) {
    double factorial = 1;
    for (double i = 2; i <= k; ++i) factorial *= i;
    return log_positive(factorial) - (k * log_positive(k) - k + 0.5 * log_positive(k) + kHalfLog2Pi);
  }
  const double q = k * k;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / q) / q) / q) / q) / k;
}

// k log(k / lambda) + lambda - k without cancellation, for k > 0.
double deviance(double k, double lambda) {
  const double gap = k - lambda;
  if (std::fabs(gap) >= 0.1 * (k + lambda)) return k * log_positive(k / lambda) - gap;
  const double v = gap / (k + lambda), square = v * v;
  double sum = gap * v, term = 2 * k * v;
  for (int j = 3;; j += 2) {
    term *= square;
    const double next = sum + term / j;
    if (next == sum) return sum;
    sum = next;
  }
}

double log_probability(double k, double lambda) {
  if (k == 0) return -lambda;
  return -stirling_rest(k) - deviance(k, lambda) - 0.5 * log_positive(k) - kHalfLog2Pi;
}

}  // namespace

Poisson::Poisson(double lambda, int64_t cells) : lambda_(lambda) {
  if (lambda <= kInverted) {
    first_ = exp_down(-lambda);
    if (cells < 64) return;
    double p = first_, sum = first_;
    cumulative_.push_back(sum);
    for (double k = 1; sum + p != sum || k < lambda; ++k) {
      p = p * lambda / k, sum += p;
      cumulative_.push_back(sum);
    }
    guide_.resize(kGuide);
    for (size_t g = 0, k = 0; g < kGuide; ++g) {
      while (k + 1 < cumulative_.size() && cumulative_[k] <= static_cast<double>(g) / kGuide) ++k;
      guide_[g] = static_cast<uint8_t>(k);
    }
    return;
  }
  const double root = std::sqrt(lambda);
  b_ = 0.931 + 2.53 * root;
  a_ = -0.059 + 0.02483 * b_;
  inverse_ = 1.1239 + 1.1328 / (b_ - 3.4);
  vr_ = 0.9277 - 3.6224 / (b_ - 2);
}

// The least count whose cumulative probability is above u; the last one where rounding leaves a gap below 1.
double Poisson::invert(double u) const {
  if (!cumulative_.empty()) {
    size_t k = guide_[static_cast<size_t>(u * kGuide)];
    while (k + 1 < cumulative_.size() && cumulative_[k] <= u) ++k;
    return static_cast<double>(k);
  }
  double p = first_, sum = first_, k = 0;
  while (sum <= u) {
    const double next = p * lambda_ / (k + 1);
    if (sum + p == sum && k + 1 >= lambda_) break;
    p = next, sum += p, ++k;
  }
  return k;
}

// By inversion, or by Hoermann's transformed rejection with squeeze (PTRS) beyond kInverted.
double Poisson::attempt(const uint32_t* w) const {
  if (lambda_ <= kInverted) return invert(to_unit(w[0], w[1]));
  const double u = to_unit(w[0], w[1]) - 0.5, v = to_unit(w[2], w[3]) + 0x1p-53, us = 0.5 - std::fabs(u);
  const double k = std::floor((2 * a_ / us + b_) * u + lambda_ + 0.43);
  if (us >= 0.07 && v <= vr_) return k;
  if (!(k >= 0) || (us < 0.013 && v > us)) return -1;
  return log_positive(v * inverse_ / (a_ / (us * us) + b_)) <= log_probability(k, lambda_) ? k : -1;
}

double Poisson::cell(uint64_t key, uint32_t draw, int64_t e, const uint32_t* words) const {
  constexpr auto kStream = static_cast<uint32_t>(Stream::poisson);
  double k = attempt(words);
  for (uint32_t n = 1; k < 0; ++n) k = attempt(philox(key, static_cast<uint64_t>(e), draw, kStream + 256 * n).data());
  return k;
}

double Poisson::cell(uint64_t key, uint32_t draw, int64_t e) const {
  return cell(key, draw, e, philox(key, static_cast<uint64_t>(e), draw, static_cast<uint32_t>(Stream::poisson)).data());
}

}  // namespace hopline
