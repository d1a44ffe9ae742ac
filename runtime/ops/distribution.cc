// cdf, icdf and their short forms: rows over distribution_functions.h.
#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/ops/call.h"
#include "runtime/ops/distribution_functions.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

struct DistributionName {
  std::string_view dist, suffix;  // of cdf(dist=) and of the short forms
  DistributionKind kind;
};
constexpr DistributionName kNames[] = {
    {"normal", "norm", DistributionKind::normal},
    {"exp", "exp", DistributionKind::exponential},
    {"chisq", "chisq", DistributionKind::chisq},
    {"f", "f", DistributionKind::f},
    {"t", "t", DistributionKind::t},
};

bool is_short_form(const Op& op) { return op.name != "cdf" && op.name != "icdf"; }

DistributionKind kind_of_short_form(const Op& op) {
  for (const DistributionName& n : kNames)
    if (op.name.substr(1) == n.suffix) return n.kind;
  return DistributionKind::normal;
}

DistributionKind kind_of_name(const Span& span, const Op& op, const std::string& dist) {
  for (const DistributionName& n : kNames)
    if (dist == n.dist) return n.kind;
  fail(span, "{}: expected dist to be normal, exp, chisq, f or t, found {}", op.name, dist);
}

std::optional<size_t> place_of(const Op& op, std::string_view name) {
  for (size_t i = 0; i < op.params.count; ++i)
    if (op.params.list[i].name == name) return i;
  return std::nullopt;
}

void check_present(const InferCall& infer, DistributionKind kind) {
  const auto need = [&](std::string_view name) {
    const auto place = place_of(infer.op, name);
    if (place && infer.in[*place].kind == Kind::none) infer.fail("{}: this distribution needs {}", infer.op.name, name);
  };
  if (kind == DistributionKind::chisq || kind == DistributionKind::t) need("df");
  if (kind == DistributionKind::f) need("df1"), need("df2");
}

void infer_distribution(InferCall& infer) {
  infer.out[0] = scalar_meta(Kind::real);
  if (is_short_form(infer.op)) return check_present(infer, kind_of_short_form(infer.op));
  if (const auto dist = infer.string(1)) check_present(infer, kind_of_name(infer.span, infer.op, *dist));
}

// An argument by name, 1 where it is absent.
double argument(const Call& call, std::string_view name, double fallback) {
  const auto place = place_of(call.op, name);
  return place && call.has(*place) ? call.real(*place) : fallback;
}

double positive(const Call& call, std::string_view name) {
  const double v = argument(call, name, 1);
  if (!(v > 0) || std::isinf(v)) call.fail("{}: expected {} above 0, found {}", call.op.name, name, v);
  return v;
}

double degrees(const Call& call, std::string_view name) {
  const double v = argument(call, name, 1);
  if (!(v >= 1) || v >= 0x1p31)
    call.fail("{}: expected {} of at least 1 and below 2^31, found {}", call.op.name, name, v);
  return static_cast<double>(to_integer(v));
}

DistributionParameters parameters(const Call& call) {
  DistributionParameters d;
  d.kind = is_short_form(call.op) ? kind_of_short_form(call.op) : kind_of_name(call.span, call.op, call.string(1));
  switch (d.kind) {
    case DistributionKind::normal:
      d.mean = argument(call, "mean", 0);
      if (!std::isfinite(d.mean)) call.fail("{}: expected a finite mean, found {}", call.op.name, d.mean);
      d.sd = positive(call, "sd");
      break;
    case DistributionKind::exponential:
      d.rate = positive(call, "rate");
      break;
    case DistributionKind::chisq:
    case DistributionKind::t:
      d.df1 = degrees(call, "df");
      break;
    case DistributionKind::f:
      d.df1 = degrees(call, "df1"), d.df2 = degrees(call, "df2");
      break;
  }
  return d;
}

void cdf(Call& call) {
  const auto lower = place_of(call.op, "lower.tail");
  call.out[0] = cumulative_probability(parameters(call), call.real(0), call.boolean(*lower));
}

void icdf(Call& call) {
  const double p = call.real(0);
  const DistributionParameters d = parameters(call);
  if (!(p >= 0 && p <= 1)) call.fail("{}: expected a probability between 0 and 1, found {}", call.op.name, p);
  call.out[0] = inverse_probability(d, p);
}

constexpr Kernel kCdf[] = {{"cdf", nullptr, cdf}};
constexpr Kernel kIcdf[] = {{"icdf", nullptr, icdf}};
Cost cost_scalar(const InferCall&) { return {2000, 8, 8, 0}; }

constexpr Param kMean = param::number("mean", "0"), kSd = param::number("sd", "1"), kRate = param::number("rate", "1"),
                kDf = param::number("df"), kDf1 = param::number("df1"), kDf2 = param::number("df2"),
                kTarget = param::number("target"), kTail = param::number("lower.tail", "TRUE");

constexpr Op row(std::string_view name, Params params, std::span<const Kernel> kernels, std::string_view doc,
                 std::string_view example) {
  Op op;
  op.name = name;
  op.params = params;
  op.laws.failure = Failure::by_data;
  op.infer = infer_distribution;
  op.cost = cost_scalar;
  op.kernels = kernels;
  op.doc = doc;
  op.example = example;
  return op;
}

constexpr Params kCdfParams = Params{kTarget,
                                     param::text("dist"),
                                     kMean,
                                     kSd,
                                     kRate,
                                     param::optional("df", kNumber),
                                     param::optional("df1", kNumber),
                                     param::optional("df2", kNumber),
                                     kTail}
                                  .by(Naming::named);
constexpr Params kIcdfParams = Params{kTarget,
                                      param::text("dist"),
                                      kMean,
                                      kSd,
                                      kRate,
                                      param::optional("df", kNumber),
                                      param::optional("df1", kNumber),
                                      param::optional("df2", kNumber)}
                                   .by(Naming::named);

constexpr Params first_free(Params p) { return p.by(Naming::first_free); }

constexpr Op kOps[] = {
    row("cdf", kCdfParams, kCdf,
        "P(X <= target) for dist normal (mean, sd), exp (rate), chisq (df), f (df1, df2) or t (df); P(X > target) with "
        "lower.tail=FALSE.",
        "print(cdf(target=0, dist=\"normal\"))  # expect: 0.5\n"
        "print(round(1e6 * cdf(target=2, dist=\"exp\", rate=0.5)))  # expect: 632121.0"),
    row("icdf", kIcdfParams, kIcdf, "The x with P(X <= x) = target; the inverse of cdf.",
        "print(round(1e6 * icdf(target=0.975, dist=\"normal\")))  # expect: 1959964.0"),
    row("pnorm", first_free({kTarget, kMean, kSd, kTail}), kCdf, "cdf of the normal distribution.",
        "print(pnorm(target=5, mean=5, sd=2))  # expect: 0.5"),
    row("pexp", first_free({kTarget, kRate, kTail}), kCdf, "cdf of the exponential distribution.",
        "print(round(1e6 * pexp(target=1, rate=2, lower.tail=FALSE)))  # expect: 135335.0"),
    row("pchisq", first_free({kTarget, kDf, kTail}), kCdf, "cdf of the chi-squared distribution.",
        "print(round(1e6 * pchisq(target=3.841459, df=1)))  # expect: 950000.0"),
    row("pf", first_free({kTarget, kDf1, kDf2, kTail}), kCdf, "cdf of the F distribution.",
        "print(pf(target=1, df1=3, df2=3))  # expect: 0.5"),
    row("pt", first_free({kTarget, kDf, kTail}), kCdf, "cdf of Student's t distribution.",
        "print(pt(target=1, df=1))  # expect: 0.75"),
    row("qnorm", first_free({kTarget, kMean, kSd}), kIcdf, "icdf of the normal distribution.",
        "print(qnorm(target=0.5, mean=3))  # expect: 3.0"),
    row("qexp", first_free({kTarget, kRate}), kIcdf, "icdf of the exponential distribution.",
        "print(round(1e6 * qexp(target=0.5)))  # expect: 693147.0"),
    row("qchisq", first_free({kTarget, kDf}), kIcdf, "icdf of the chi-squared distribution.",
        "print(round(1e6 * qchisq(target=0.95, df=1)))  # expect: 3841459.0"),
    row("qf", first_free({kTarget, kDf1, kDf2}), kIcdf, "icdf of the F distribution.",
        "print(round(1e6 * qf(target=0.5, df1=3, df2=3)))  # expect: 1000000.0"),
    row("qt", first_free({kTarget, kDf}), kIcdf, "icdf of Student's t distribution.",
        "print(round(1e6 * qt(target=0.75, df=1)))  # expect: 1000000.0"),
};

}  // namespace

OpFamily distribution_ops() { return kOps; }

}  // namespace hopline
