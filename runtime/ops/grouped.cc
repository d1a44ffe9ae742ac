// aggregate(): one result row for each group of rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/codes.h"
#include "runtime/ops/column.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

constexpr size_t kTarget = 0, kGroups = 1, kFn = 2, kWeights = 3, kOrder = 4, kNgroups = 5;
constexpr int64_t kGrain = 1 << 16;  // cells per chunk at least
constexpr int64_t kMostChunks = 64;  // each has its own accumulators
constexpr int64_t kTileCells = 4096;
constexpr int64_t kMostGroups = int64_t{1} << 44;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Fn : uint8_t { sum, count, mean, variance, min, max, centralmoment };
constexpr std::pair<std::string_view, Fn> kFns[] = {
    {"sum", Fn::sum},
    {"count", Fn::count},
    {"mean", Fn::mean},
    {"variance", Fn::variance},
    {"min", Fn::min},
    {"max", Fn::max},
    {"centralmoment", Fn::centralmoment},
};

const Fn* find_fn(std::string_view name) {
  for (const auto& [text, fn] : kFns)
    if (text == name) return &fn;
  return nullptr;
}

// --- sizes ----------------------------------------------------------------------------------------------------------

// Row vectors: groups 1 x n with a target 1 x n.
bool across(const Meta& target, const Meta& groups) { return groups.rows == 1 && groups.cols > 1 && target.rows == 1; }

void check_vectors(const InferCall& infer) {
  const Meta &target = infer.in[kTarget], &groups = infer.in[kGroups], &weights = infer.in[kWeights];
  if (target.sizes_known() && groups.sizes_known()) {
    const bool fits =
        across(target, groups) ? target.cols == groups.cols : groups.cols == 1 && groups.rows == target.rows;
    if (!fits)
      infer.fail("aggregate: expected one group for each row of the target, found target {} and groups {}",
                 dims(target), dims(groups));
  }
  if (weights.kind == Kind::matrix && weights.sizes_known() && groups.sizes_known() &&
      (weights.rows != groups.rows || weights.cols != groups.cols))
    infer.fail("aggregate: expected one weight for each group, found groups {} and weights {}", dims(groups),
               dims(weights));
}

void check_function(InferCall& infer) {
  const auto name = infer.string(kFn);
  if (!name) return;
  const Fn* fn = find_fn(*name);
  if (fn == nullptr)
    infer.fail("aggregate: expected fn to be sum, count, mean, variance, min, max or centralmoment, found {}", *name);
  if (*fn != Fn::centralmoment) return;
  if (infer.in[kOrder].kind == Kind::none) infer.fail("aggregate: centralmoment needs order=2, 3 or 4");
  const auto order = infer.real(kOrder);
  if (order && *order != 2 && *order != 3 && *order != 4)
    infer.fail("aggregate: expected order to be 2, 3 or 4, found {}", *order);
}

void infer_aggregate(InferCall& infer) {
  check_vectors(infer);
  check_function(infer);
  const Meta &target = infer.in[kTarget], &groups = infer.in[kGroups];
  infer.out[0] = matrix_meta(-1, -1);
  if (target.sizes_known() && groups.sizes_known()) infer.out[0].cols = across(target, groups) ? 1 : target.cols;
  const auto ngroups = infer.integer(kNgroups);
  if (!ngroups) return;
  if (*ngroups < 0) infer.fail("aggregate: expected ngroups of at least 0, found {}", *ngroups);
  if (*ngroups > kMostGroups) fail(ErrorKind::resource, infer.span, "aggregate: too many groups, found {}", *ngroups);
  infer.out[0].rows = *ngroups;
}

Cost cost_aggregate(const InferCall& infer) {
  const Meta &target = infer.in[kTarget], &out = infer.out[0];
  const double rows = static_cast<double>(std::max<int64_t>(target.rows, 1));
  const double cells = rows * static_cast<double>(std::max<int64_t>(target.cols, 1));
  const double results = out.sizes_known() ? static_cast<double>(out.rows) * static_cast<double>(out.cols) : rows;
  return {cells * 8, cells * 8 + rows * 8, results * 8, std::min(results * 32 * kMostChunks, results * 32 + cells * 8)};
}

// --- the request ----------------------------------------------------------------------------------------------------

struct Grouping {
  Call& call;
  const MatrixBlock& target;
  MatrixRef groups_block, weights_block;  // owners
  Column groups, weights;
  Fn fn;
  int order;
  int64_t n, m;  // rows and columns of the target, a row vector counted as a column
  int64_t ngroups = -1;
  int64_t cells() const { return ngroups * m; }
  void poll() const {
    if (call.ctx.session != nullptr) call.ctx.session->poll(call.span);
  }
};

// A vector as a column, whatever its orientation.
template <class T>
MatrixRef as_column(Context& ctx, const MatrixRef& m) {
  if (m->cols() == 1) return m;
  const MatrixRef cells = to_dense<T>(ctx, m);
  auto out = new_dense<T>(ctx, m->cells(), 1);
  std::copy(cells->dense<T>(), cells->dense<T>() + m->cells(), out->template dense<T>());
  return out;
}

template <class T>
Grouping read_grouping(Call& call, MatrixRef& target) {
  target = call.matrix_ref(kTarget);
  if (call.matrix(kGroups).cols() > 1) target = as_column<T>(call.ctx, target);
  const MatrixRef groups = as_column<T>(call.ctx, call.matrix_ref(kGroups));
  const MatrixRef weights = call.has(kWeights) ? as_column<T>(call.ctx, call.matrix_ref(kWeights)) : nullptr;
  Grouping g{call,
             *target,
             groups,
             weights,
             Column(*groups),
             weights ? Column(*weights) : Column(1.0),
             *find_fn(call.string(kFn)),
             call.has(kOrder) ? static_cast<int>(call.integer(kOrder)) : 2,
             groups->rows(),
             target->cols()};
  if (call.has(kNgroups)) g.ngroups = call.integer(kNgroups);
  return g;
}

// Group numbers (from 0) of rows [begin, end); -1 for groups beyond `limit`.
void read_groups(const Grouping& g, int64_t begin, int64_t end, int64_t limit, int64_t* out) {
  std::array<double, Column::kTile> tile;
  const double* v = g.groups.read(begin, end, tile.data());
  const double above = static_cast<double>(limit) + 1;
  bool fine = true;
  for (int64_t i = 0; i < end - begin; ++i) {
    const double x = v[i] + kCodeSlack;
    fine &= x >= 1;
    out[i] = static_cast<int64_t>(x < above ? x : 0.0) - 1;
  }
  for (int64_t i = 0; !fine; ++i)
    if (!(v[i] + kCodeSlack >= 1))
      g.call.fail("aggregate: groups must be positive, found {} in row {}", v[i], begin + i + 1);
}

int64_t count_groups(const Grouping& g) {
  std::vector<int64_t> parts(static_cast<size_t>((g.n + kGrain - 1) / kGrain));
  parallel_chunks(g.n, kGrain, g.call.ctx.threads, [&](int64_t begin, int64_t end) {
    g.poll();
    int64_t most = 0;
    std::array<int64_t, Column::kTile> tile;
    for (int64_t i = begin; i < end; i += Column::kTile) {
      const int64_t stop = std::min(end, i + Column::kTile);
      read_groups(g, i, stop, kMostGroups, tile.data());
      for (int64_t k = 0; k < stop - i; ++k) {
        if (tile[static_cast<size_t>(k)] < 0)
          fail(ErrorKind::resource, g.call.span, "aggregate: too many groups, found more than {}", kMostGroups);
        most = std::max(most, tile[static_cast<size_t>(k)] + 1);
      }
    }
    parts[static_cast<size_t>(begin / kGrain)] = most;
  });
  return parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end());
}

// Rows of the target as doubles, a tile at a time.
class Rows {
 public:
  explicit Rows(const MatrixBlock& m) : m_(m) {}
  static int64_t tile_rows(int64_t cols) {
    return std::clamp<int64_t>(kTileCells / std::max<int64_t>(1, cols), 1, Column::kTile);
  }
  const double* read(int64_t begin, int64_t end, std::vector<double>& buffer) const {
    const int64_t cols = m_.cols();
    buffer.resize(static_cast<size_t>(std::max<int64_t>(Column::kTile, (end - begin) * cols)));
    if (cols == 1) return Column(m_).read(begin, end, buffer.data());
    if (m_.precision() == Precision::f64) return read_block<double>(begin, end, buffer.data());
    return read_block<float>(begin, end, buffer.data());
  }

 private:
  template <class T>
  const double* read_block(int64_t begin, int64_t end, double* out) const {
    const int64_t cols = m_.cols();
    if (m_.is_dense()) {
      const T* cells = m_.dense<T>() + begin * cols;
      if constexpr (sizeof(T) == 8) return cells;
      std::copy(cells, cells + (end - begin) * cols, out);
    } else if (m_.is_virtual()) {
      std::vector<T> cells(static_cast<size_t>((end - begin) * cols));
      read_cells(m_, begin * cols, end * cols, cells.data());
      std::copy(cells.begin(), cells.end(), out);
    } else {
      std::fill(out, out + (end - begin) * cols, 0.0);
      const auto* offsets = m_.csr().offsets.as<int64_t>();
      const T* values = m_.csr().values.as<T>();
      for (int64_t r = begin; r < end; ++r)
        for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k)
          out[(r - begin) * cols + column(k)] = static_cast<double>(values[k]);
    }
    return out;
  }
  int64_t column(int64_t k) const {
    const Csr& s = m_.csr();
    return s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k];
  }
  const MatrixBlock& m_;
};

// --- accumulation ---------------------------------------------------------------------------------------------------

// Accumulators of chunks of rows, merged in the order of the chunks: [results], in a buffer that owns them.
template <class Acc>
class Accumulators {
 public:
  // width: accumulators per group. rows(chunk accumulators, begin, end) adds rows [begin, end).
  template <class Add>
  Accumulators(const Grouping& g, int64_t width, const Acc& start, const Add& rows) : size_(g.ngroups * width) {
    Context& ctx = g.call.ctx;
    const int64_t work = g.n * std::max<int64_t>(1, g.m);
    const int64_t chunks = std::clamp<int64_t>(work / std::max(kGrain, 4 * size_), 1, kMostChunks);
    const int64_t grain = std::max<int64_t>(1, (g.n + chunks - 1) / chunks);
    buffer_ = ctx.memory.allocate(static_cast<size_t>(chunks * size_) * sizeof(Acc));
    Acc* all = buffer_.template as<Acc>();
    std::fill(all, all + chunks * size_, start);
    parallel_chunks(g.n, grain, ctx.threads, [&](int64_t begin, int64_t end) {
      g.poll();
      rows(all + begin / grain * size_, begin, end);
    });
    parallel_chunks(size_, kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
      for (int64_t c = 1; c < chunks; ++c)
        for (int64_t k = begin; k < end; ++k) all[k].add(all[c * size_ + k]);
    });
  }
  const Acc& operator[](int64_t k) const { return buffer_.template as<Acc>()[k]; }

 private:
  int64_t size_;
  Buffer buffer_;
};

struct Smallest {
  double value = std::numeric_limits<double>::infinity();
  void add(double v) { value = value < v || value != value ? value : v; }
  void add(const Smallest& other) { add(other.value); }
};
struct Largest {
  double value = -std::numeric_limits<double>::infinity();
  void add(double v) { value = value > v || value != value ? value : v; }
  void add(const Largest& other) { add(other.value); }
};

// The sum of the weights of each group, the number of its rows where there are no weights.
Accumulators<Compensated> weigh(const Grouping& g) {
  return Accumulators<Compensated>(g, 1, {}, [&](Compensated* sums, int64_t begin, int64_t end) {
    std::array<int64_t, Column::kTile> groups;
    std::array<double, Column::kTile> tile;
    for (int64_t i = begin; i < end; i += Column::kTile) {
      const int64_t stop = std::min(end, i + Column::kTile);
      read_groups(g, i, stop, g.ngroups, groups.data());
      const double* w = g.weights.read(i, stop, tile.data());
      for (int64_t k = 0; k < stop - i; ++k)
        if (groups[static_cast<size_t>(k)] >= 0) sums[groups[static_cast<size_t>(k)]].add(w[k]);
    }
  });
}

// add(accumulator, value, weight, cell) for every cell of the target whose group counts.
template <class Acc, class Add>
Accumulators<Acc> accumulate(const Grouping& g, const Acc& start, const Add& add) {
  return Accumulators<Acc>(g, g.m, start, [&](Acc* accs, int64_t begin, int64_t end) {
    const int64_t m = g.m, step = Rows::tile_rows(m);
    const Rows rows(g.target);
    std::vector<double> buffer;
    std::array<int64_t, Column::kTile> groups;
    std::array<double, Column::kTile> tile;
    for (int64_t i = begin; i < end; i += step) {
      const int64_t stop = std::min(end, i + step);
      read_groups(g, i, stop, g.ngroups, groups.data());
      const double* w = g.weights.read(i, stop, tile.data());
      const double* x = rows.read(i, stop, buffer);
      for (int64_t k = 0; k < stop - i; ++k) {
        const int64_t group = groups[static_cast<size_t>(k)];
        if (group < 0) continue;
        for (int64_t j = 0; j < m; ++j) add(accs[group * m + j], x[k * m + j], w[k], group * m + j);
      }
    }
  });
}

// Weighted sums of a CSR target, from its entries alone.
template <class T>
Accumulators<Compensated> sum_entries(const Grouping& g) {
  return Accumulators<Compensated>(g, g.m, {}, [&](Compensated* sums, int64_t begin, int64_t end) {
    const Csr& s = g.target.csr();
    const auto* offsets = s.offsets.as<int64_t>();
    const T* values = s.values.as<T>();
    std::array<int64_t, Column::kTile> groups;
    std::array<double, Column::kTile> tile;
    for (int64_t i = begin; i < end; i += Column::kTile) {
      const int64_t stop = std::min(end, i + Column::kTile);
      read_groups(g, i, stop, g.ngroups, groups.data());
      const double* w = g.weights.read(i, stop, tile.data());
      for (int64_t r = i; r < stop; ++r) {
        const int64_t group = groups[static_cast<size_t>(r - i)];
        if (group < 0) continue;
        for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
          const int64_t column = s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k];
          sums[group * g.m + column].add(static_cast<double>(values[k]) * w[r - i]);
        }
      }
    }
  });
}

template <class T>
Accumulators<Compensated> sums_of(const Grouping& g) {
  if (g.target.is_sparse() && g.m > 1) return sum_entries<T>(g);
  if (g.weights.everywhere() != nullptr && *g.weights.everywhere() == 1)
    return accumulate<Compensated>(g, {}, [](Compensated& acc, double x, double, int64_t) { acc.add(x); });
  return accumulate<Compensated>(g, {}, [](Compensated& acc, double x, double w, int64_t) { acc.add(x * w); });
}

// --- results --------------------------------------------------------------------------------------------------------

template <class T, class F>
void set_cells(const Grouping& g, const F& cell) {
  auto out = new_dense<T>(g.call.ctx, g.ngroups, g.m);
  T* to = out->template dense<T>();
  parallel_chunks(g.cells(), kGrain, g.call.ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) to[k] = static_cast<T>(cell(k));
  });
  g.call.set(settle<T>(g.call.ctx, std::move(out)));
}

template <class T>
double checked_count(const Grouping& g, double count) {
  if (sizeof(T) == 4 && count > 0x1p24)
    g.call.fail("aggregate: a count above 2^24 does not fit single precision, found {}", count);
  return count;
}

double power(double v, int order) {
  const double square = v * v;
  return order == 2 ? square : order == 3 ? square * v : square * square;
}

// Central moments in two passes: means, then powers of what is left. Divides by W - less, W the weight of the group.
template <class T>
void set_moments(const Grouping& g, double less, double of_empty) {
  const auto weight = weigh(g);
  const auto sum = sums_of<T>(g);
  Buffer buffer = g.call.ctx.memory.allocate(static_cast<size_t>(g.cells()) * sizeof(double));
  auto* means = buffer.as<double>();
  for (int64_t k = 0; k < g.cells(); ++k) means[k] = sum[k].value() / weight[k / g.m].value();
  const int order = g.order;
  const auto powers = accumulate<Compensated>(
      g, {}, [=](Compensated& acc, double x, double w, int64_t cell) { acc.add(w * power(x - means[cell], order)); });
  set_cells<T>(g, [&](int64_t k) {
    const double w = weight[k / g.m].value();
    if (w == 0) return of_empty;
    const double p = powers[k].value();
    return p == 0 && w <= less ? 0.0 : p / (w - less);
  });
}

template <class T>
void set_result(const Grouping& g) {
  switch (g.fn) {
    case Fn::sum: {
      const auto sum = sums_of<T>(g);
      return set_cells<T>(g, [&](int64_t k) { return sum[k].value(); });
    }
    case Fn::count: {
      const auto weight = weigh(g);
      return set_cells<T>(g, [&](int64_t k) { return checked_count<T>(g, weight[k / g.m].value()); });
    }
    case Fn::mean: {
      const auto weight = weigh(g);
      const auto sum = sums_of<T>(g);
      return set_cells<T>(g, [&](int64_t k) {
        const double w = weight[k / g.m].value();
        return w == 0 ? 0.0 : sum[k].value() / w;
      });
    }
    case Fn::min: {
      const auto weight = weigh(g);
      const auto least = accumulate<Smallest>(g, {}, [](Smallest& acc, double x, double, int64_t) { acc.add(x); });
      return set_cells<T>(g, [&](int64_t k) { return weight[k / g.m].value() == 0 ? 0.0 : least[k].value; });
    }
    case Fn::max: {
      const auto weight = weigh(g);
      const auto most = accumulate<Largest>(g, {}, [](Largest& acc, double x, double, int64_t) { acc.add(x); });
      return set_cells<T>(g, [&](int64_t k) { return weight[k / g.m].value() == 0 ? 0.0 : most[k].value; });
    }
    case Fn::variance: {
      return set_moments<T>(g, 1, 0);
    }
    case Fn::centralmoment: {
      return set_moments<T>(g, 0, kNan);
    }
  }
}

template <class T>
void aggregate_fast(Call& call) {
  MatrixRef target;
  Grouping g = read_grouping<T>(call, target);
  if (g.fn == Fn::variance) g.order = 2;
  if (g.ngroups < 0) g.ngroups = count_groups(g);
  int64_t cells = 0;
  if (__builtin_mul_overflow(g.ngroups, g.m, &cells) || cells > kMostGroups)
    fail(ErrorKind::resource, call.span, "aggregate: the result is too large, found {}x{}", g.ngroups, g.m);
  if (cells == 0) return call.set(new_zeros(call.ctx, g.ngroups, g.m));
  set_result<T>(g);
}

// --- the reference: values by group, then the textbook formulas -----------------------------------------------------

double plain_result(const Grouping& g, const std::vector<double>& x, const std::vector<double>& w) {
  double weight = 0, sum = 0, powers = 0, least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < x.size(); ++i) {
    weight += w[i], sum += w[i] * x[i];
    if (!(least <= x[i]) && least == least) least = x[i];
    if (!(most >= x[i]) && most == most) most = x[i];
  }
  for (size_t i = 0; i < x.size(); ++i) powers += w[i] * power(x[i] - sum / weight, g.fn == Fn::variance ? 2 : g.order);
  if (weight == 0) return g.fn == Fn::sum ? sum : g.fn == Fn::centralmoment ? kNan : 0;
  switch (g.fn) {
    case Fn::sum:
      return sum;
    case Fn::count:
      return weight;
    case Fn::mean:
      return sum / weight;
    case Fn::min:
      return least;
    case Fn::max:
      return most;
    case Fn::variance:
      return weight <= 1 && powers == 0 ? 0 : powers / (weight - 1);
    case Fn::centralmoment:
      return powers / weight;
  }
  return kNan;
}

template <class T>
void aggregate_plain(Call& call) {
  MatrixRef target;
  Grouping g = read_grouping<T>(call, target);
  if (g.ngroups < 0) g.ngroups = count_groups(g);
  auto out = new_dense<T>(call.ctx, g.ngroups, g.m);
  for (int64_t j = 0; j < g.m; ++j) {
    std::map<int64_t, std::pair<std::vector<double>, std::vector<double>>> members;
    for (int64_t i = 0; i < g.n; ++i) {
      int64_t group = 0;
      double x, w;
      read_groups(g, i, i + 1, g.ngroups, &group);
      members[group].first.push_back(*Column(g.target, j).read(i, i + 1, &x));
      members[group].second.push_back(*g.weights.read(i, i + 1, &w));
    }
    for (int64_t k = 0; k < g.ngroups; ++k)
      out->template dense<T>()[k * g.m + j] = static_cast<T>(plain_result(g, members[k].first, members[k].second));
  }
  call.set(settle<T>(call.ctx, std::move(out)));
}

#define HOPLINE_KERNEL(name) [](Call& call) { with_real(call.ctx, [&](auto t) { name<decltype(t)>(call); }); }

constexpr Kernel kAggregateKernels[] = {
    {"aggregate", nullptr, HOPLINE_KERNEL(aggregate_fast)},
    {"reference", nullptr, HOPLINE_KERNEL(aggregate_plain)},
};

constexpr Op kOps[] = {
    {.name = "aggregate",
     .aliases = {"groupedAggregate"},
     .params = Params{param::matrix("target"), param::matrix("groups"), param::text("fn"),
                      param::optional("weights", kMatrix), param::optional("order", kNumber),
                      param::optional("ngroups", kNumber)}
                   .by(Naming::named),
     .laws = {.failure = Failure::by_data, .size_from_data = true},
     .infer = infer_aggregate,
     .cost = cost_aggregate,
     .kernels = kAggregateKernels,
     .doc = "Row g of the result aggregates the rows of target whose code in groups is g; fn is sum, count, mean, "
            "variance, "
            "min, max or centralmoment (with order 2, 3 or 4); groups beyond ngroups are left out.",
     .example = "X = matrix(\"10 5 20\", 3, 1)\nS = aggregate(target=X, groups=matrix(\"1 3 1\", 3, 1), fn=\"sum\")\n"
                "print(nrow(S))  # expect: 3\nprint(as.scalar(S[1, 1]))  # expect: 30.0"},
};

}  // namespace

OpFamily grouped_ops() { return kOps; }

}  // namespace hopline
