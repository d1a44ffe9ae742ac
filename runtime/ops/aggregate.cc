// Aggregates over all cells, rows and columns. Sums are compensated, over chunks whose borders depend on the shape
// alone, merged in order: the same bits for any number of threads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/ops/aggregate_simd.h"
#include "runtime/ops/call.h"
#include "runtime/ops/cost.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;  // cells per chunk
using sums::kLanes;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Kahan's sum; `low` is what was lost, to be subtracted.
struct Sum {
  double high = 0, low = 0;
  void add(double x) {
    const double y = x - low, t = high + y;
    low = (t - high) - y;
    high = t;
  }
  void add(const Sum& other) {
    add(other.high);
    add(-other.low);
  }
  // An infinity makes the compensation NaN where the sum is not.
  double value() const { return high; }
};

struct Plain {
  static constexpr bool kSquared = false;
  double centre = 0;
  template <class T>
  double operator()(T x) const {
    return static_cast<double>(x);
  }
};
// Square of the distance from a centre.
struct Squared {
  static constexpr bool kSquared = true;
  double centre = 0;
  template <class T>
  double operator()(T x) const {
    const double d = static_cast<double>(x) - centre;
    return d * d;
  }
};

template <class T, class Map>
Sum sum_cells(const T* x, int64_t n, Map map) {
  double high[kLanes] = {}, low[kLanes] = {};
  const int64_t whole = n / kLanes * kLanes;
  sums::add_lanes(x, whole, Map::kSquared, map.centre, high, low);
  Sum total;
  for (int l = 0; l < kLanes; ++l) total.add(Sum{high[l], low[l]});
  for (int64_t i = whole; i < n; ++i) total.add(map(x[i]));
  if (std::isfinite(total.high) && std::isfinite(total.low)) return total;
  double naive = 0;
  for (int64_t k = 0; k < n; ++k) naive += map(x[k]);
  return {naive, 0};
}

Sum merge(const std::vector<Sum>& parts) {
  Sum total;
  for (const Sum& s : parts) total.add(s);
  if (std::isfinite(total.high) && std::isfinite(total.low)) return total;
  double naive = 0;
  for (const Sum& s : parts) naive += s.high;
  return {naive, 0};
}

// min and max give NaN where a cell is NaN.
struct Least {
  static constexpr double kStart = kInfinity;
  double operator()(double a, double b) const { return std::isnan(a) || a < b ? a : b; }
};
struct Greatest {
  static constexpr double kStart = -kInfinity;
  double operator()(double a, double b) const { return std::isnan(a) || a > b ? a : b; }
};
struct Product {
  static constexpr double kStart = 1;
  double operator()(double a, double b) const { return a * b; }
};

template <class T, class Fold>
double fold_cells(const T* x, int64_t n, Fold fold) {
  double lanes[kLanes];
  std::fill_n(lanes, kLanes, Fold::kStart);
  const int64_t whole = n / kLanes * kLanes;
  if constexpr (std::is_same_v<Fold, Product>) {
    for (int64_t i = 0; i < whole; i += kLanes)
      for (int l = 0; l < kLanes; ++l) lanes[l] *= static_cast<double>(x[i + l]);
  } else {
    sums::fold_lanes(x, whole, std::is_same_v<Fold, Greatest>, lanes);
  }
  double out = Fold::kStart;
  for (int l = 0; l < kLanes; ++l) out = fold(out, lanes[l]);
  for (int64_t i = whole; i < n; ++i) out = fold(out, static_cast<double>(x[i]));
  return out;
}

// The stored cells of a block, and how many zeros there are besides.
template <class T>
struct Cells {
  MatrixRef block;
  const T* values;
  int64_t stored, zeros;
  const int64_t* offsets;  // of rows, or null when dense
  Cells(Context& ctx, const MatrixRef& m) : block(materialize<T>(ctx, m)) {
    if (block->is_sparse()) {
      const Csr& s = block->csr();
      values = s.values.template as<T>();
      offsets = s.offsets.as<int64_t>();
      stored = offsets[block->rows()];
    } else {
      values = block->template dense<T>();
      offsets = nullptr;
      stored = block->cells();
    }
    zeros = block->cells() - stored;
  }
  // Stored cells of a row.
  std::pair<const T*, int64_t> row(int64_t r) const {
    if (offsets == nullptr) return {values + r * block->cols(), block->cols()};
    return {values + offsets[r], offsets[r + 1] - offsets[r]};
  }
};

template <class T, class Map>
Sum sum_all(Context& ctx, const T* values, int64_t n, Map map) {
  std::vector<Sum> parts(static_cast<size_t>((n + kGrain - 1) / kGrain));
  parallel_chunks(n, kGrain, ctx.threads, [&](int64_t b, int64_t e) {
    parts[static_cast<size_t>(b / kGrain)] = sum_cells(values + b, e - b, map);
  });
  return merge(parts);
}

enum class What : uint8_t { sum, mean, least, greatest, product, variance, deviation };
enum class Over : uint8_t { all, rows, columns };

double finish_variance(What what, double squares, int64_t n) {
  if (n == 0) return std::numeric_limits<double>::quiet_NaN();
  const double v = n == 1 ? 0 : squares / static_cast<double>(n - 1);
  return what == What::deviation ? std::sqrt(v) : v;
}

template <class Fold>
double with_zeros(double folded, bool zeros, Fold fold) {
  return zeros ? fold(folded, 0.0) : folded;
}

// A product that is NaN although every cell is finite: it overflowed before it met a zero.
template <class T>
double settle_product(double product, const T* cells, int64_t n, int64_t stride = 1) {
  if (!std::isnan(product)) return product;
  for (int64_t i = 0; i < n; ++i)
    if (!std::isfinite(cells[i * stride])) return product;
  return 0;
}

template <class T, class Fold>
double fold_all(Context& ctx, const Cells<T>& x, Fold fold) {
  std::vector<double> parts(static_cast<size_t>((x.stored + kGrain - 1) / kGrain));
  parallel_chunks(x.stored, kGrain, ctx.threads, [&](int64_t b, int64_t e) {
    parts[static_cast<size_t>(b / kGrain)] = fold_cells(x.values + b, e - b, fold);
  });
  double out = Fold::kStart;
  for (const double p : parts) out = fold(out, p);
  return with_zeros(out, x.zeros > 0, fold);
}

template <class T>
double aggregate_all(Context& ctx, What what, const MatrixRef& m) {
  const Cells<T> x(ctx, m);
  const auto n = static_cast<double>(m->cells());
  switch (what) {
    case What::sum:
      return sum_all(ctx, x.values, x.stored, Plain()).value();
    case What::mean:
      return sum_all(ctx, x.values, x.stored, Plain()).value() / n;
    case What::least:
      return fold_all(ctx, x, Least());
    case What::greatest:
      return fold_all(ctx, x, Greatest());
    case What::product:
      return settle_product(fold_all(ctx, x, Product()), x.values, x.stored);
    default:
      break;
  }
  const double mean = sum_all(ctx, x.values, x.stored, Plain()).value() / n;
  Sum squares = sum_all(ctx, x.values, x.stored, Squared{mean});
  if (x.zeros > 0) squares.add(static_cast<double>(x.zeros) * mean * mean);
  return finish_variance(what, squares.value(), m->cells());
}

template <class T>
double aggregate_row(What what, const T* cells, int64_t stored, int64_t n) {
  const bool zeros = stored < n;
  switch (what) {
    case What::sum:
      return sum_cells(cells, stored, Plain()).value();
    case What::mean:
      return sum_cells(cells, stored, Plain()).value() / static_cast<double>(n);
    case What::least:
      return with_zeros(fold_cells(cells, stored, Least()), zeros, Least());
    case What::greatest:
      return with_zeros(fold_cells(cells, stored, Greatest()), zeros, Greatest());
    case What::product:
      return settle_product(with_zeros(fold_cells(cells, stored, Product()), zeros, Product()), cells, stored);
    default:
      break;
  }
  const double mean = sum_cells(cells, stored, Plain()).value() / static_cast<double>(n);
  Sum squares = sum_cells(cells, stored, Squared{mean});
  squares.add(static_cast<double>(n - stored) * mean * mean);
  return finish_variance(what, squares.value(), n);
}

int64_t row_grain(int64_t cols) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cols)); }

template <class T>
MatrixRef aggregate_rows(Context& ctx, What what, const MatrixRef& m) {
  const Cells<T> x(ctx, m);
  const int64_t rows = m->rows(), cols = m->cols();
  if (cols == 0) return new_zeros(ctx, rows, 1);
  auto out = new_dense<T>(ctx, rows, 1);
  T* cells = out->template dense<T>();
  parallel_chunks(rows, row_grain(cols), ctx.threads, [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) {
      const auto [values, stored] = x.row(r);
      cells[r] = static_cast<T>(aggregate_row(what, values, stored, cols));
    }
  });
  return out;
}

// Per column and chunk of rows a partial result; the partial results are merged in order of the chunks.
template <class T, class Each>
void scan_columns(Context& ctx, const MatrixRef& m, int64_t grain, const Each& each) {
  parallel_chunks(m->rows(), grain, ctx.threads, [&](int64_t b, int64_t e) { each(b / grain, b, e); });
}

template <class T>
std::vector<Sum> column_sums(Context& ctx, const MatrixRef& m, const double* centres) {
  const int64_t cols = m->cols();
  const int64_t grain = std::max(row_grain(cols), (m->rows() + 63) / 64);
  const int64_t chunks = (m->rows() + grain - 1) / grain;
  std::vector<std::vector<double>> high(static_cast<size_t>(chunks)), low(static_cast<size_t>(chunks));
  scan_columns<T>(ctx, m, grain, [&](int64_t chunk, int64_t b, int64_t e) {
    auto& h = high[static_cast<size_t>(chunk)];
    auto& l = low[static_cast<size_t>(chunk)];
    h.assign(static_cast<size_t>(cols), 0), l.assign(static_cast<size_t>(cols), 0);
    double *hp = h.data(), *lp = l.data();
    const T* cells = m->dense<T>();
    for (int64_t r = b; r < e; ++r) sums::add_row(cells + r * cols, cols, centres, hp, lp);
  });
  std::vector<Sum> out(static_cast<size_t>(cols));
  for (int64_t c = 0; c < cols; ++c) {
    std::vector<Sum> parts;
    for (int64_t k = 0; k < chunks; ++k)
      parts.push_back(
          {high[static_cast<size_t>(k)][static_cast<size_t>(c)], low[static_cast<size_t>(k)][static_cast<size_t>(c)]});
    out[static_cast<size_t>(c)] = merge(parts);
    if (std::isfinite(out[static_cast<size_t>(c)].high)) continue;
    double naive = 0;  // an infinity spoils the compensation
    for (int64_t r = 0; r < m->rows(); ++r) {
      const double v = static_cast<double>(m->dense<T>()[r * cols + c]);
      naive += centres == nullptr ? v : (v - centres[c]) * (v - centres[c]);
    }
    out[static_cast<size_t>(c)] = {naive, 0};
  }
  return out;
}

template <class T, class Fold>
std::vector<double> column_folds(Context& ctx, const MatrixRef& m, Fold fold) {
  const int64_t cols = m->cols();
  const int64_t grain = std::max(row_grain(cols), (m->rows() + 63) / 64);
  std::vector<std::vector<double>> parts(static_cast<size_t>((m->rows() + grain - 1) / grain));
  scan_columns<T>(ctx, m, grain, [&](int64_t chunk, int64_t b, int64_t e) {
    auto& part = parts[static_cast<size_t>(chunk)];
    part.assign(static_cast<size_t>(cols), Fold::kStart);
    const T* cells = m->dense<T>();
    for (int64_t r = b; r < e; ++r)
      for (int64_t c = 0; c < cols; ++c)
        part[static_cast<size_t>(c)] = fold(part[static_cast<size_t>(c)], static_cast<double>(cells[r * cols + c]));
  });
  std::vector<double> out(static_cast<size_t>(cols), Fold::kStart);
  for (const auto& part : parts)
    for (size_t c = 0; c < out.size(); ++c) out[c] = fold(out[c], part[c]);
  return out;
}

template <class T>
MatrixRef aggregate_columns(Context& ctx, What what, const MatrixRef& m) {
  const int64_t rows = m->rows(), cols = m->cols();
  if (rows == 0) return new_zeros(ctx, 1, cols);
  const MatrixRef x = to_dense<T>(ctx, m);
  std::vector<double> result(static_cast<size_t>(cols));
  if (what == What::least)
    result = column_folds<T>(ctx, x, Least());
  else if (what == What::greatest)
    result = column_folds<T>(ctx, x, Greatest());
  else if (what == What::product) {
    result = column_folds<T>(ctx, x, Product());
    for (int64_t c = 0; c < cols; ++c) {
      double& product = result[static_cast<size_t>(c)];
      product = settle_product(product, x->template dense<T>() + c, rows, cols);
    }
  } else {
    const std::vector<Sum> sums = column_sums<T>(ctx, x, nullptr);
    for (size_t c = 0; c < result.size(); ++c)
      result[c] = what == What::sum ? sums[c].value() : sums[c].value() / static_cast<double>(rows);
    if (what == What::variance || what == What::deviation) {
      const std::vector<double> means = result;
      const std::vector<Sum> squares = column_sums<T>(ctx, x, means.data());
      for (size_t c = 0; c < result.size(); ++c) result[c] = finish_variance(what, squares[c].value(), rows);
    }
  }
  auto out = new_dense<T>(ctx, 1, cols);
  std::transform(result.begin(), result.end(), out->template dense<T>(), [](double v) { return static_cast<T>(v); });
  return out;
}

template <What what, Over over>
void run(Call& call) {
  with_real(call.ctx, [&](auto real) {
    using T = decltype(real);
    const MatrixRef& m = call.matrix_ref(0);
    if constexpr (over == Over::all)
      call.out[0] = aggregate_all<T>(call.ctx, what, m);
    else if constexpr (over == Over::rows)
      call.set(aggregate_rows<T>(call.ctx, what, m));
    else
      call.set(aggregate_columns<T>(call.ctx, what, m));
  });
}

void run_weighted_mean(Call& call) {
  with_real(call.ctx, [&](auto real) {
    using T = decltype(real);
    const MatrixRef x = to_dense<T>(call.ctx, call.matrix_ref(0)), w = to_dense<T>(call.ctx, call.matrix_ref(1));
    Sum total, weights;
    for (int64_t i = 0; i < x->cells(); ++i) {
      total.add(static_cast<double>(x->template dense<T>()[i]) * static_cast<double>(w->template dense<T>()[i]));
      weights.add(static_cast<double>(w->template dense<T>()[i]));
    }
    call.out[0] = total.value() / weights.value();
  });
}

void run_trace(Call& call) {
  with_real(call.ctx, [&](auto real) {
    using T = decltype(real);
    const MatrixRef x = to_dense<T>(call.ctx, call.matrix_ref(0));
    Sum total;
    for (int64_t i = 0; i < x->rows(); ++i) total.add(static_cast<double>(x->template dense<T>()[i * (x->cols() + 1)]));
    call.out[0] = total.value();
  });
}

// On ties the last index; NaN never wins; an all-NaN row gives 1.
template <bool greatest>
void run_index(Call& call) {
  with_real(call.ctx, [&](auto real) {
    using T = decltype(real);
    const MatrixRef x = to_dense<T>(call.ctx, call.matrix_ref(0));
    const int64_t rows = x->rows(), cols = x->cols();
    if (cols == 0) return call.set(new_zeros(call.ctx, rows, 1));
    if (sizeof(T) == 4 && cols > (int64_t{1} << 24))
      call.fail("{}: indexes above 2^24 do not fit single precision, found {} columns", call.op.name, cols);
    auto out = new_dense<T>(call.ctx, rows, 1);
    parallel_chunks(rows, row_grain(cols), call.ctx.threads, [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; ++r) {
        const T* row = x->template dense<T>() + r * cols;
        int64_t best = -1;
        for (int64_t c = 0; c < cols; ++c)
          if (!std::isnan(row[c]) && (best < 0 || (greatest ? row[c] >= row[best] : row[c] <= row[best]))) best = c;
        out->template dense<T>()[r] = static_cast<T>(std::max<int64_t>(best, 0) + 1);
      }
    });
    call.set(std::move(out));
  });
}

void infer_all(InferCall& call) { call.out[0] = scalar_meta(Kind::real); }
void infer_rows(InferCall& call) { call.out[0] = matrix_meta(call.in[0].rows, 1); }
void infer_columns(InferCall& call) { call.out[0] = matrix_meta(1, call.in[0].cols); }
void infer_trace(InferCall& call) {
  const Meta& x = call.in[0];
  if (x.sizes_known() && x.rows != x.cols) call.fail("trace expected a square matrix, found {}", dims(x));
  infer_all(call);
}
void infer_weighted(InferCall& call) {
  const Meta &x = call.in[0], &w = call.in[1];
  if (x.sizes_known() && w.sizes_known() && (x.rows != w.rows || x.cols != w.cols))
    call.fail("mean expected weights of the same size, found {} and {}", dims(x), dims(w));
  infer_all(call);
}

template <What what, Over over>
constexpr Kernel kKernel[] = {{"chunks", nullptr, run<what, over>}};
constexpr Kernel kTrace[] = {{"diagonal", nullptr, run_trace}};
constexpr Kernel kWeighted[] = {{"weighted", nullptr, run_weighted_mean}};
constexpr Kernel kIndexMax[] = {{"scan", nullptr, run_index<true>}};
constexpr Kernel kIndexMin[] = {{"scan", nullptr, run_index<false>}};

// Of the definition; what a kernel adds for accuracy is not counted.
constexpr int flops_per_cell(What what) { return what == What::variance || what == What::deviation ? 4 : 1; }

#define HOPLINE_AGGREGATE(NAME, ALIAS, WHAT, OVER, INFER, DOC, EXAMPLE)                                         \
  {                                                                                                             \
    .name = NAME, .aliases = {ALIAS}, .params = {param::matrix("X")}, .infer = INFER,                           \
    .cost = cost_per_cell<flops_per_cell(WHAT)>, .kernels = kKernel<WHAT, OVER>, .doc = DOC, .example = EXAMPLE \
  }

constexpr Op kOps[] = {
    HOPLINE_AGGREGATE("sum", "", What::sum, Over::all, infer_all, "sum of all cells",
                      "print(sum(matrix(2, 3, 3)))  # expect: 18.0"),
    HOPLINE_AGGREGATE("mean", "avg", What::mean, Over::all, infer_all, "mean of all cells",
                      "print(mean(matrix(\"1 2 3 6\", 2, 2)))  # expect: 3.0"),
    HOPLINE_AGGREGATE("min", "", What::least, Over::all, infer_all, "least cell; NaN when a cell is NaN",
                      "print(min(matrix(\"3 1 2\", 3, 1)))  # expect: 1.0"),
    HOPLINE_AGGREGATE("max", "", What::greatest, Over::all, infer_all, "greatest cell; NaN when a cell is NaN",
                      "print(max(matrix(\"3 1 2\", 3, 1)))  # expect: 3.0"),
    HOPLINE_AGGREGATE("prod", "", What::product, Over::all, infer_all, "product of all cells",
                      "print(prod(matrix(\"2 3 4\", 3, 1)))  # expect: 24.0"),
    HOPLINE_AGGREGATE("var", "", What::variance, Over::all, infer_all, "unbiased variance of all cells",
                      "print(var(matrix(\"1 2 3\", 3, 1)))  # expect: 1.0"),
    HOPLINE_AGGREGATE("sd", "", What::deviation, Over::all, infer_all, "standard deviation of all cells",
                      "print(sd(matrix(\"1 2 3\", 3, 1)))  # expect: 1.0"),
    HOPLINE_AGGREGATE("rowSums", "", What::sum, Over::rows, infer_rows, "sum of each row",
                      "print(as.scalar(rowSums(matrix(2, 1, 3))))  # expect: 6.0"),
    HOPLINE_AGGREGATE("rowMeans", "", What::mean, Over::rows, infer_rows, "mean of each row",
                      "print(as.scalar(rowMeans(matrix(2, 1, 3))))  # expect: 2.0"),
    HOPLINE_AGGREGATE("rowMins", "", What::least, Over::rows, infer_rows, "least cell of each row",
                      "print(as.scalar(rowMins(matrix(2, 1, 3))))  # expect: 2.0"),
    HOPLINE_AGGREGATE("rowMaxs", "", What::greatest, Over::rows, infer_rows, "greatest cell of each row",
                      "print(as.scalar(rowMaxs(matrix(2, 1, 3))))  # expect: 2.0"),
    HOPLINE_AGGREGATE("rowProds", "", What::product, Over::rows, infer_rows, "product of each row",
                      "print(as.scalar(rowProds(matrix(2, 1, 3))))  # expect: 8.0"),
    HOPLINE_AGGREGATE("rowVars", "", What::variance, Over::rows, infer_rows, "unbiased variance of each row",
                      "print(as.scalar(rowVars(matrix(\"1 2 3\", 1, 3))))  # expect: 1.0"),
    HOPLINE_AGGREGATE("rowSds", "", What::deviation, Over::rows, infer_rows, "standard deviation of each row",
                      "print(as.scalar(rowSds(matrix(\"1 2 3\", 1, 3))))  # expect: 1.0"),
    HOPLINE_AGGREGATE("colSums", "", What::sum, Over::columns, infer_columns, "sum of each column",
                      "print(as.scalar(colSums(matrix(2, 3, 1))))  # expect: 6.0"),
    HOPLINE_AGGREGATE("colMeans", "", What::mean, Over::columns, infer_columns, "mean of each column",
                      "print(as.scalar(colMeans(matrix(2, 3, 1))))  # expect: 2.0"),
    HOPLINE_AGGREGATE("colMins", "", What::least, Over::columns, infer_columns, "least cell of each column",
                      "print(as.scalar(colMins(matrix(2, 3, 1))))  # expect: 2.0"),
    HOPLINE_AGGREGATE("colMaxs", "", What::greatest, Over::columns, infer_columns, "greatest cell of each column",
                      "print(as.scalar(colMaxs(matrix(2, 3, 1))))  # expect: 2.0"),
    HOPLINE_AGGREGATE("colProds", "", What::product, Over::columns, infer_columns, "product of each column",
                      "print(as.scalar(colProds(matrix(2, 3, 1))))  # expect: 8.0"),
    HOPLINE_AGGREGATE("colVars", "", What::variance, Over::columns, infer_columns, "unbiased variance of each column",
                      "print(as.scalar(colVars(matrix(\"1 2 3\", 3, 1))))  # expect: 1.0"),
    HOPLINE_AGGREGATE("colSds", "", What::deviation, Over::columns, infer_columns, "standard deviation of each column",
                      "print(as.scalar(colSds(matrix(\"1 2 3\", 3, 1))))  # expect: 1.0"),
    {.name = "mean",
     .aliases = {"avg"},
     .params = {param::matrix("X"), param::matrix("W")},
     .infer = infer_weighted,
     .cost = cost_per_cell<3>,
     .kernels = kWeighted,
     .doc = "weighted mean of a column",
     .example = "print(mean(matrix(\"1 4\", 2, 1), matrix(\"2 1\", 2, 1)))  # expect: 2.0"},
    {.name = "trace",
     .params = {param::matrix("X")},
     .infer = infer_trace,
     .kernels = kTrace,
     .doc = "sum of the diagonal of a square matrix",
     .example = "print(trace(matrix(\"1 2 3 4\", 2, 2)))  # expect: 5.0"},
    {.name = "rowIndexMax",
     .params = {param::matrix("X")},
     .infer = infer_rows,
     .cost = cost_per_cell<1>,
     .kernels = kIndexMax,
     .doc = "column of the greatest cell of each row, the last one on ties",
     .example = "print(as.scalar(rowIndexMax(matrix(\"1 3 2\", 1, 3))))  # expect: 2.0"},
    {.name = "rowIndexMin",
     .params = {param::matrix("X")},
     .infer = infer_rows,
     .cost = cost_per_cell<1>,
     .kernels = kIndexMin,
     .doc = "column of the least cell of each row, the last one on ties",
     .example = "print(as.scalar(rowIndexMin(matrix(\"3 1 2\", 1, 3))))  # expect: 2.0"},
};

}  // namespace

OpFamily aggregate_ops() { return kOps; }

}  // namespace hopline
