// Central moments and covariance of columns, in two passes: means, then products of what is left.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/ops/codes.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 15;
constexpr size_t kLanes = 4;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void check_columns(const InferCall& infer, std::initializer_list<size_t> places) {
  for (const size_t i : places) {
    const Meta& m = infer.in[i];
    if (m.kind != Kind::matrix) continue;
    if (m.cols >= 0 && m.cols != 1) infer.fail("{}: expected a column vector, found {}", infer.op.name, dims(m));
    if (m.rows >= 0 && infer.in[0].rows >= 0 && m.rows != infer.in[0].rows)
      infer.fail("{}: expected columns of one length, found {} and {}", infer.op.name, dims(infer.in[0]), dims(m));
  }
}

void check_order(const Span& span, double k) {
  if (k != 0 && k != 2 && k != 3 && k != 4) fail(span, "moment: expected k to be 0 (the mean), 2, 3 or 4, found {}", k);
}

void infer_moment(InferCall& infer) {
  const size_t k = infer.op.params.count - 1u;
  check_columns(infer, {size_t{0}, k - 1});
  if (const auto order = infer.real(k)) check_order(infer.span, *order);
  infer.out[0] = scalar_meta(Kind::real);
}

void infer_cov(InferCall& infer) {
  check_columns(infer, {0, 1, 2});
  infer.out[0] = scalar_meta(Kind::real);
}

Cost cost_two_passes(const InferCall& infer) {
  const double n = static_cast<double>(std::max<int64_t>(infer.in[0].rows, 1));
  return {12 * n, 32 * n, 8, 0};
}

// Sum of f(a, b, w) over the rows of three columns: chunks of fixed size, added in their order.
template <class F>
double sum_rows(const Call& call, int64_t n, const Column& a, const Column& b, const Column& w, const F& f) {
  std::vector<Compensated> parts(static_cast<size_t>((n + kGrain - 1) / kGrain));
  parallel_chunks(n, kGrain, call.ctx.threads, [&](int64_t begin, int64_t end) {
    if (call.ctx.session != nullptr) call.ctx.session->poll(call.span);
    std::array<Compensated, kLanes> lanes;
    std::array<double, Column::kTile> a_tile, b_tile, w_tile;
    for (int64_t i = begin; i < end; i += Column::kTile) {
      const int64_t stop = std::min(end, i + Column::kTile);
      const double* x = a.read(i, stop, a_tile.data());
      const double* y = b.read(i, stop, b_tile.data());
      const double* z = w.read(i, stop, w_tile.data());
      const auto size = static_cast<size_t>(stop - i);
      size_t k = 0;
      for (; k + kLanes <= size; k += kLanes)
        for (size_t l = 0; l < kLanes; ++l) lanes[l].add(f(x[k + l], y[k + l], z[k + l]));
      for (; k < size; ++k) lanes[k % kLanes].add(f(x[k], y[k], z[k]));
    }
    for (size_t l = 1; l < kLanes; ++l) lanes[0].add(lanes[l]);
    parts[static_cast<size_t>(begin / kGrain)] = lanes[0];
  });
  Compensated sum;
  for (const Compensated& part : parts) sum.add(part);
  return sum.value();
}

Column weights_of(const Call& call, size_t i, bool weighted) { return weighted ? Column(call.matrix(i)) : Column(1.0); }

void moment(Call& call) {
  const size_t place = call.op.params.count - 1u;
  check_order(call.span, call.real(place));
  const auto k = static_cast<int>(call.integer(place));
  const int64_t n = call.matrix(0).rows();
  const bool weighted = place == 2;
  const Column x(call.matrix(0)), none(0.0), w = weights_of(call, 1, weighted);
  const double total =
      weighted ? sum_rows(call, n, none, none, w, [](double, double, double z) { return z; }) : static_cast<double>(n);
  double mean = sum_rows(call, n, x, none, w, [](double v, double, double z) { return v * z; }) / total;
  if (n == 0) mean = kNan;
  const auto set_mean_of = [&](const auto& power) {
    call.out[0] =
        sum_rows(call, n, x, none, w, [&](double v, double, double z) { return z * power(v - mean); }) / total;
  };
  if (k == 0) call.out[0] = mean;
  if (k == 2) set_mean_of([](double d) { return d * d; });
  if (k == 3) set_mean_of([](double d) { return d * d * d; });
  if (k == 4) set_mean_of([](double d) { return d * d * (d * d); });
}

void cov(Call& call) {
  const int64_t n = call.matrix(0).rows();
  const bool weighted = call.has(2);
  const Column a(call.matrix(0)), b(call.matrix(1)), none(0.0), w = weights_of(call, 2, weighted);
  const double total =
      weighted ? sum_rows(call, n, none, none, w, [](double, double, double z) { return z; }) : static_cast<double>(n);
  const auto mean_of = [&](const Column& c) {
    return sum_rows(call, n, c, none, w, [](double v, double, double z) { return v * z; }) / total;
  };
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  const double products =
      sum_rows(call, n, a, b, w, [&](double x, double y, double z) { return z * ((x - mean_a) * (y - mean_b)); });
  call.out[0] = n == 0 ? kNan : total == 1 ? products * 0 : products / (total - 1);
}

constexpr Kernel kMomentKernels[] = {{"moment", nullptr, moment}};
constexpr Kernel kCovKernels[] = {{"cov", nullptr, cov}};

constexpr Op kOps[] = {
    {.name = "moment",
     .aliases = {"centralMoment"},
     .params = {param::matrix("X"), param::number("k")},
     .laws = {.failure = Failure::by_data},
     .infer = infer_moment,
     .cost = cost_two_passes,
     .kernels = kMomentKernels,
     .doc = "Central moment of order k (2, 3 or 4) of column X, divided by the count; k = 0 gives the mean.",
     .example = "print(moment(seq(1, 5), 2))  # expect: 2.0"},
    {.name = "moment",
     .aliases = {"centralMoment"},
     .params = {param::matrix("X"), param::matrix("W"), param::number("k")},
     .laws = {.failure = Failure::by_data},
     .infer = infer_moment,
     .cost = cost_two_passes,
     .kernels = kMomentKernels,
     .doc =
         "Central moment of order k of column X with weights W, divided by their sum; k = 0 gives the weighted mean.",
     .example = "print(moment(matrix(\"1 4\", 2, 1), matrix(\"2 1\", 2, 1), 0))  # expect: 2.0"},
    {.name = "cov",
     .params = {param::matrix("A"), param::matrix("B"), param::optional("W", kMatrix)},
     .laws = {.failure = Failure::never},
     .infer = infer_cov,
     .cost = cost_two_passes,
     .kernels = kCovKernels,
     .doc = "Covariance of columns A and B, divided by the count (or the sum of weights W) less one; 0 for one row.",
     .example = "print(cov(seq(1, 5), 2 * seq(1, 5)))  # expect: 5.0"},
};

}  // namespace

OpFamily moment_ops() { return kOps; }

}  // namespace hopline
