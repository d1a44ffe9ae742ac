// Order statistics of a column: quantile, median, interquartile mean, interquantile range. Without weights they select
// in linear time; with weights they sort.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/codes.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/sorting.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;
constexpr int64_t kSample = 1 << 14;      // keys that selection looks at first
constexpr int64_t kMargin = 400;          // of the sample, on both sides of the rank: 6 standard deviations
constexpr int64_t kSelectRows = 1 << 17;  // fewer are sorted
constexpr int64_t kMostSelections = 16;   // more are read from the sorted column
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Rows of quantile and interQuantile have p last; a weight stands in second place wherever there is one.
bool has_p(const Op& op) { return op.name != "median" && op.name != "interQuartileMean"; }
size_t p_place(const Op& op) { return op.params.count - 1u; }
bool has_weights(std::span<const Param> params, bool p) { return params.size() == (p ? 3u : 2u); }
bool weighted(const Op& op) { return has_weights(op.params.span(), has_p(op)); }

void check_column(const InferCall& infer, size_t i) {
  const Meta& m = infer.in[i];
  if (m.kind != Kind::matrix) return;
  if (m.cols >= 0 && m.cols != 1) infer.fail("{}: expected a column vector, found {}", infer.op.name, dims(m));
  if (m.rows >= 0 && infer.in[0].rows >= 0 && m.rows != infer.in[0].rows)
    infer.fail("{}: expected as many weights as values, found {} and {}", infer.op.name, dims(m), dims(infer.in[0]));
}

void check_inputs(const InferCall& infer) {
  check_column(infer, 0);
  if (weighted(infer.op)) check_column(infer, 1);
}

void infer_scalar(InferCall& infer) {
  check_inputs(infer);
  infer.out[0] = scalar_meta(Kind::real);
}

void infer_quantile(InferCall& infer) {
  check_inputs(infer);
  const Meta& p = infer.in[p_place(infer.op)];
  infer.out[0] = p.kind == Kind::matrix ? matrix_meta(p.rows, p.cols) : scalar_meta(Kind::real);
}

void infer_range(InferCall& infer) {
  check_inputs(infer);
  infer.out[0] = matrix_meta(-1, 1);
}

Cost cost_quantile(const InferCall& infer) {
  const double n = static_cast<double>(std::max<int64_t>(infer.in[0].rows, 1));
  const bool sorts = weighted(infer.op) && infer.in[1].kind != Kind::none;
  return sorts ? Cost{40 * n, 16 * n, 8, 16 * n} : Cost{4 * n, 16 * n, 8, n};
}

double checked_p(const Call& call, double p, double most) {
  if (!(p >= 0 && p <= most)) call.fail("{}: expected p between 0 and {}, found {}", call.op.name, most, p);
  return p;
}

bool is_weighted(const Call& call) { return weighted(call.op) && call.has(1); }

void poll(const Call& call) {
  if (call.ctx.session != nullptr) call.ctx.session->poll(call.span);
}

// --- selection ------------------------------------------------------------------------------------------------------

// Keys of a column in order, or found one by one.
class Ranks {
 public:
  Ranks(const Call& call, const MatrixBlock& x, int64_t selections)
      : call_(call),
        keys_(Column(x), false),
        n_(x.rows()),
        sorted_all_(n_ < kSelectRows || selections > kMostSelections) {
    if (sorted_all_) sort_all();
  }
  int64_t size() const { return n_; }
  // The rank-th smallest value, rank from 1 to n; NaN counts as the largest.
  double value(int64_t rank) { return number_of_ascending(key(rank)); }
  uint64_t key(int64_t rank) {
    if (sorted_all_) return sorted()[rank - 1].key;
    if (rank < first_ || rank >= first_ + inside_) select(rank);
    if (sorted_all_) return sorted()[rank - 1].key;
    if (low_ == high_) return low_;
    Key* nth = sorted() + (rank - first_);
    std::nth_element(sorted(), nth, sorted() + inside_, [](Key a, Key b) { return a.key < b.key; });
    return nth->key;
  }
  // Sum of the values of ranks (low, high].
  double sum(int64_t low, int64_t high);

 private:
  Key* sorted() { return buffer_.as<Key>(); }
  void sort_all() {
    sorted_all_ = true;
    buffer_ = call_.ctx.memory.allocate(static_cast<size_t>(n_) * sizeof(Key));
    sort_keys(call_, keys_, n_, sorted(), {});
  }
  // body(chunk, keys, size) for all tiles, in parallel over chunks.
  template <class F>
  void each_tile(const F& body) const {
    parallel_chunks(n_, kGrain, call_.ctx.threads, [&](int64_t begin, int64_t end) {
      poll(call_);
      uint64_t tile[KeySource::kTile];
      for (int64_t i = begin; i < end; i += KeySource::kTile) {
        const int64_t stop = std::min(end, i + KeySource::kTile);
        keys_.read(i, stop, tile);
        body(static_cast<size_t>(begin / kGrain), tile, stop - i);
      }
    });
  }
  void take_sample() {
    const int64_t stride = n_ / kSample;
    sample_.resize(kSample);
    for (int64_t i = 0; i < kSample; ++i) {
      const uint64_t jump = static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15 >> 32;
      const int64_t at = i * stride + static_cast<int64_t>(jump % static_cast<uint64_t>(stride));
      keys_.read(at, at + 1, &sample_[static_cast<size_t>(i)]);
    }
    std::sort(sample_.begin(), sample_.end());
  }
  void select(int64_t rank);

  const Call& call_;
  ColumnKeys keys_;
  int64_t n_;
  bool sorted_all_;
  std::vector<uint64_t> sample_;
  Buffer buffer_;  // all keys in order, or those from low_ to high_ in any order
  uint64_t low_ = 0, high_ = 0;
  int64_t first_ = 1, inside_ = 0;  // rank of the first of them, and how many there are
};

// Keeps the keys of a narrow interval that most likely holds the rank; sorts everything where it does not.
void Ranks::select(int64_t rank) {
  if (sample_.empty()) take_sample();
  const auto at = static_cast<int64_t>(static_cast<double>(rank) / static_cast<double>(n_) * kSample);
  low_ = at - kMargin <= 0 ? 0 : sample_[static_cast<size_t>(at - kMargin)];
  high_ = at + kMargin >= kSample ? kNanKey : sample_[static_cast<size_t>(at + kMargin)];
  struct Part {
    int64_t below = 0, inside = 0;
  };
  std::vector<Part> parts(static_cast<size_t>((n_ + kGrain - 1) / kGrain));
  each_tile([&](size_t chunk, const uint64_t* keys, int64_t size) {
    int64_t below = 0, to_high = 0;
    for (int64_t i = 0; i < size; ++i) below += keys[i] < low_, to_high += keys[i] <= high_;
    parts[chunk].below += below, parts[chunk].inside += to_high - below;
  });
  int64_t below = 0, inside = 0;
  for (Part& part : parts) {
    below += part.below;
    inside += std::exchange(part.inside, inside);
  }
  first_ = below + 1, inside_ = inside;
  if (rank < first_ || rank >= first_ + inside_) return sort_all();
  if (low_ == high_) return;
  buffer_ = Buffer();
  buffer_ = call_.ctx.memory.allocate(static_cast<size_t>(inside) * sizeof(Key));
  Key* out = sorted();
  each_tile([&](size_t chunk, const uint64_t* keys, int64_t size) {
    int64_t& place = parts[chunk].inside;
    for (int64_t i = 0; i < size; ++i)
      if (keys[i] >= low_ && keys[i] <= high_) out[place++].key = keys[i];
  });
}

double Ranks::sum(int64_t low, int64_t high) {
  const uint64_t from = low == 0 ? 0 : key(low), to = key(high);
  const double from_value = low == 0 ? 0 : number_of_ascending(from), to_value = number_of_ascending(to);
  if (from == to) return to_value * static_cast<double>(high - low);
  struct Part {
    int64_t to_from = 0, below_to = 0;
    Compensated sum;
  };
  std::vector<Part> parts(static_cast<size_t>((n_ + kGrain - 1) / kGrain));
  each_tile([&](size_t chunk, const uint64_t* keys, int64_t size) {
    Part& part = parts[chunk];
    for (int64_t i = 0; i < size; ++i) {
      part.to_from += keys[i] <= from, part.below_to += keys[i] < to;
      part.sum.add(keys[i] > from && keys[i] < to ? number_of_ascending(keys[i]) : 0.0);
    }
  });
  Part all;
  for (const Part& part : parts) {
    all.to_from += part.to_from, all.below_to += part.below_to;
    all.sum.add(part.sum);
  }
  if (low == 0) all.to_from = 0;
  // Values equal to the two ends count as often as their ranks lie inside.
  const double ends = (all.to_from > low ? from_value * static_cast<double>(all.to_from - low) : 0.0) +
                      to_value * static_cast<double>(high - all.below_to);
  return all.sum.value() + ends;
}

// --- weights --------------------------------------------------------------------------------------------------------

// A column in order with the weight of each value.
class Weighted {
 public:
  explicit Weighted(const Call& call) : n_(call.matrix(0).rows()) {
    const bool weights = is_weighted(call);
    const Column x(call.matrix(0)), w = weights ? Column(call.matrix(1)) : Column(1.0);
    buffer_ = call.ctx.memory.allocate(static_cast<size_t>(n_) * sizeof(KeyedRow));
    auto* entries = buffer_.as<KeyedRow>();
    const ColumnKeys keys(x, false);
    sort_rows(call, keys, n_, entries, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double tile;
        const auto row = static_cast<int64_t>(entries[i].row);
        entries[i].row = std::bit_cast<uint64_t>(*w.read(row, row + 1, &tile));
      }
    });
    Compensated sum;
    for (int64_t i = 0; i < n_; ++i) {
      if (!(weight(i) >= 0) || std::isinf(weight(i)))
        call.fail("{}: expected weights of at least 0, found {}", call.op.name, weight(i));
      sum.add(weight(i));
    }
    total_ = sum.value();
  }
  double total() const { return total_; }
  int64_t size() const { return n_; }
  double value(int64_t i) const { return number_of_ascending(buffer_.as<KeyedRow>()[i].key); }
  double weight(int64_t i) const { return std::bit_cast<double>(buffer_.as<KeyedRow>()[i].row); }
  // The value at which the weights reach `rank`, 0 < rank <= total.
  double at_rank(double rank) const {
    double sum = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < n_; ++i) {
      sum += weight(i);
      if (weight(i) > 0) last = i;
      if (sum >= rank && weight(i) > 0) return value(i);
    }
    return value(last);
  }

 private:
  int64_t n_;
  double total_ = 0;
  Buffer buffer_;
};

// --- the operators --------------------------------------------------------------------------------------------------

// A single p over an even number of values averages the two values around the rank; a vector of p never does.
template <class At>
double quantile_of(double p, double n, bool average, const At& at_rank) {
  const double rank = std::ceil(p * n);
  if (n == 0) return kNan;
  if (average && std::fmod(n, 2) == 0 && rank > 0 && rank < n) {
    const double low = at_rank(rank), high = at_rank(rank + 1);
    const double sum = low + high;
    return std::isfinite(sum) ? sum / 2 : low / 2 + high / 2;
  }
  return at_rank(std::clamp(rank, std::min(1.0, n), n));
}

template <class T, class At>
void set_quantiles(Call& call, double n, const At& at_rank) {
  const size_t place = p_place(call.op);
  if (!call.is_matrix(place)) {
    call.out[0] = quantile_of(checked_p(call, call.real(place), 1), n, true, at_rank);
    return;
  }
  const MatrixRef p = to_dense<T>(call.ctx, call.matrix_ref(place));
  auto out = new_dense<T>(call.ctx, p->rows(), p->cols());
  T* to = out->template dense<T>();
  for (int64_t i = 0; i < p->cells(); ++i)
    to[i] = static_cast<T>(quantile_of(checked_p(call, static_cast<double>(p->dense<T>()[i]), 1), n, false, at_rank));
  call.set(std::move(out));
}

template <class T>
void quantile_select(Call& call) {
  const size_t place = p_place(call.op);
  Ranks ranks(call, call.matrix(0), call.is_matrix(place) ? call.matrix(place).cells() : 1);
  set_quantiles<T>(call, static_cast<double>(ranks.size()),
                   [&](double rank) { return ranks.value(static_cast<int64_t>(rank)); });
}

template <class T>
void quantile_sort(Call& call) {
  const Weighted x(call);
  set_quantiles<T>(call, x.total(), [&](double rank) { return x.at_rank(rank); });
}

template <class T>
void median_select(Call& call) {
  Ranks ranks(call, call.matrix(0), 1);
  call.out[0] = quantile_of(0.5, static_cast<double>(ranks.size()), true,
                            [&](double rank) { return ranks.value(static_cast<int64_t>(rank)); });
}

template <class T>
void median_sort(Call& call) {
  const Weighted x(call);
  call.out[0] = quantile_of(0.5, x.total(), true, [&](double rank) { return x.at_rank(rank); });
}

template <class T>
void iqm_select(Call& call) {
  Ranks ranks(call, call.matrix(0), 1);
  const auto n = static_cast<double>(ranks.size());
  if (n == 0) {
    call.out[0] = kNan;
    return;
  }
  const double q25 = 0.25 * n, q75 = 0.75 * n, r25 = std::ceil(q25), r75 = std::ceil(q75);
  const auto low = static_cast<int64_t>(r25), high = static_cast<int64_t>(r75);
  const double sum = high > low ? ranks.sum(low, high) : 0;
  call.out[0] = (sum + (r25 - q25) * ranks.value(low) - (r75 - q75) * ranks.value(high)) / (0.5 * n);
}

template <class T>
void iqm_sort(Call& call) {
  const Weighted x(call);
  const double total = x.total(), q25 = 0.25 * total, q75 = 0.75 * total;
  if (total == 0) {
    call.out[0] = kNan;
    return;
  }
  double weight = 0;
  int64_t i = -1;
  while (weight < std::ceil(q25) && i + 1 < x.size()) weight += x.weight(++i);
  const double part25 = weight - q25, value25 = x.value(i);
  Compensated sum;
  while (weight < std::ceil(q75) && i + 1 < x.size()) {
    weight += x.weight(++i);
    sum.add(x.value(i) * x.weight(i));
  }
  call.out[0] = (sum.value() + part25 * value25 - (weight - q75) * x.value(i)) / (0.5 * total);
}

template <class T>
void range_sort(Call& call) {
  const Weighted x(call);
  const double p = checked_p(call, call.real(p_place(call.op)), 0.5), n = x.total();
  if (n > 0x1p47)
    fail(ErrorKind::resource, call.span, "interQuantile: the weights are too large, found a sum of {}", n);
  const auto low = static_cast<int64_t>(std::ceil(p * n)), high = static_cast<int64_t>(std::ceil((1 - p) * n));
  auto out = new_dense<T>(call.ctx, std::max<int64_t>(0, high - low), 1);
  T* to = out->template dense<T>();
  int64_t rank = 0;
  double weight = 0;
  for (int64_t i = 0; i < x.size() && rank < high; ++i) {
    weight += x.weight(i);
    for (; rank < high && static_cast<double>(rank) + 1 <= weight; ++rank)
      if (rank >= low) to[rank - low] = static_cast<T>(x.value(i));
  }
  for (; rank < high; ++rank)
    if (rank >= low) to[rank - low] = static_cast<T>(x.value(x.size() - 1));
  call.set(std::move(out));
}

bool without_weights(const Call& call) { return !is_weighted(call); }

#define HOPLINE_KERNEL(name) [](Call& call) { with_real(call.ctx, [&](auto t) { name<decltype(t)>(call); }); }

constexpr Kernel kQuantileKernels[] = {{"select", without_weights, HOPLINE_KERNEL(quantile_select)},
                                       {"sort", nullptr, HOPLINE_KERNEL(quantile_sort)}};
constexpr Kernel kMedianKernels[] = {{"select", without_weights, HOPLINE_KERNEL(median_select)},
                                     {"sort", nullptr, HOPLINE_KERNEL(median_sort)}};
constexpr Kernel kIqmKernels[] = {{"select", without_weights, HOPLINE_KERNEL(iqm_select)},
                                  {"sort", nullptr, HOPLINE_KERNEL(iqm_sort)}};
constexpr Kernel kRangeKernels[] = {{"sort", nullptr, HOPLINE_KERNEL(range_sort)}};

constexpr Kinds kScalarOrMatrix = kNumber | kMatrix;

constexpr Op kOps[] = {
    {.name = "quantile",
     .params = {param::matrix("X"), param::of("p", kScalarOrMatrix)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_quantile,
     .cost = cost_quantile,
     .kernels = kQuantileKernels,
     .doc = "Value of rank ceil(p * n) in column X; for a single p and even n the average with the next one. A vector "
            "of p "
            "gives a vector.",
     .example = "print(quantile(seq(1, 10), 0.25))  # expect: 3.5\nprint(quantile(seq(1, 5), 0.9))  # expect: 5.0"},
    {.name = "quantile",
     .params = {param::matrix("X"), param::matrix("W"), param::of("p", kScalarOrMatrix)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_quantile,
     .cost = cost_quantile,
     .kernels = kQuantileKernels,
     .doc = "Quantile of column X in which each value counts as often as its weight in W says.",
     .example = "print(quantile(matrix(\"3 1\", 2, 1), matrix(\"1 4\", 2, 1), 0.5))  # expect: 1.0"},
    {.name = "median",
     .params = {param::matrix("X"), param::optional("W", kMatrix)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_scalar,
     .cost = cost_quantile,
     .kernels = kMedianKernels,
     .doc = "Middle value of column X, the average of the two middle ones for an even count; W gives counts.",
     .example = "print(median(matrix(\"9 1 5 3\", 4, 1)))  # expect: 4.0"},
    {.name = "interQuartileMean",
     .aliases = {"IQM"},
     .params = {param::matrix("X"), param::optional("W", kMatrix)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_scalar,
     .cost = cost_quantile,
     .kernels = kIqmKernels,
     .doc = "Mean of the values of column X between the quartiles, which count in part; W gives counts.",
     .example = "print(interQuartileMean(seq(1, 8)))  # expect: 4.5"},
    {.name = "interQuantile",
     .params = {param::matrix("X"), param::number("p")},
     .laws = {.failure = Failure::by_data, .size_from_data = true},
     .infer = infer_range,
     .cost = cost_quantile,
     .kernels = kRangeKernels,
     .doc = "The values of column X, in order, of ranks above ceil(p * n) up to ceil((1 - p) * n).",
     .example = "R = interQuantile(seq(1, 8), 0.25)\nprint(nrow(R))  # expect: 4\nprint(sum(R))  # expect: 18.0"},
    {.name = "interQuantile",
     .params = {param::matrix("X"), param::matrix("W"), param::number("p")},
     .laws = {.failure = Failure::by_data, .size_from_data = true},
     .infer = infer_range,
     .cost = cost_quantile,
     .kernels = kRangeKernels,
     .doc = "interQuantile of column X in which each value counts as often as its weight in W says.",
     .example =
         "R = interQuantile(matrix(\"1 2 3\", 3, 1), matrix(\"2 1 1\", 3, 1), 0.25)\nprint(sum(R))  # expect: 3.0"},
};

}  // namespace

OpFamily quantile_ops() { return kOps; }

}  // namespace hopline
