// Operators that make matrices from scalars: rand, sample, seq, matrix.
#include <fast_float/fast_float.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/random.h"
#include "runtime/ops/reorg.h"

namespace hopline {

namespace {

constexpr double kExactInSingle = 0x1p24;  // whole numbers beyond this one are rounded in single precision

// The size that input i gives, -1 while unknown.
int64_t size_input(InferCall& c, size_t i) {
  const auto n = c.integer(i);
  if (!n) return -1;
  if (*n < 0) c.fail("{}: {} must not be negative, found {}", c.op.name, c.op.params.list[i].name, *n);
  return *n;
}

// Rows and columns of the result from inputs `rows` and `cols`.
Meta sizes_input(InferCall& c, size_t rows, size_t cols) {
  const Meta out = matrix_meta(size_input(c, rows), size_input(c, cols));
  if (int64_t cells = 0; out.sizes_known() && __builtin_mul_overflow(out.rows, out.cols, &cells))
    c.fail("{}: too many cells, expected rows * cols below 2^63, found {}", c.op.name, dims(out));
  return out;
}

Cost no_cost(const InferCall&) { return {}; }

// ---- rand

constexpr size_t kRows = 0, kCols = 1, kMin = 2, kMax = 3, kSparsity = 4, kSeed = 5, kPdf = 6, kLambda = 7;

void infer_rand(InferCall& c) { c.out[0] = sizes_input(c, kRows, kCols); }

// Key of a draw: the seed of the script, or one of the engine's where it is -1.
uint64_t key_of(Call& call, int64_t seed) {
  if (seed != -1) return static_cast<uint64_t>(seed);
  if (call.ctx.session != nullptr) return call.ctx.session->draw_key(call.span);
  static std::atomic<uint64_t> next{0x9E3779B97F4A7C15};
  return next.fetch_add(0x9E3779B97F4A7C15);
}

Random random_of(Call& call) {
  Random r;
  const std::string& pdf = call.string(kPdf);
  if (pdf == "uniform" || pdf == "cb_uniform") {
    r.low = call.real(kMin), r.high = call.real(kMax);
    if (!std::isfinite(r.low) || !std::isfinite(r.high) || !std::isfinite(r.high - r.low))
      call.fail("rand: expected finite min and max, found min={}, max={}", r.low, r.high);
    if (r.low > r.high) call.fail("rand: expected min not above max, found min={}, max={}", r.low, r.high);
  } else if (pdf == "normal" || pdf == "cb_normal") {
    r.distribution = Distribution::normal;
  } else if (pdf == "poisson") {
    r.distribution = Distribution::poisson;
    r.lambda = call.real(kLambda);
    if (!(r.lambda > 0 && r.lambda <= 0x1p52)) call.fail("rand: expected lambda above 0, found {}", r.lambda);
    if (call.ctx.precision == Precision::f32 && r.lambda > kExactInSingle / 2)
      call.fail("rand: counts are too large for single precision, expected lambda up to 2^23, found {}", r.lambda);
  } else {
    call.fail("rand: expected pdf \"uniform\", \"normal\" or \"poisson\", found \"{}\"", pdf);
  }
  r.sparsity = call.real(kSparsity);
  if (!(r.sparsity >= 0 && r.sparsity <= 1)) call.fail("rand: expected sparsity in [0, 1], found {}", r.sparsity);
  return r;
}

void run_rand(Call& call) {
  const int64_t rows = call.integer(kRows), cols = call.integer(kCols);
  Random r = random_of(call);
  const bool fixed = r.distribution == Distribution::uniform && r.low == r.high;
  if (r.sparsity == 0 || (fixed && (r.sparsity == 1 || r.low == 0)))
    return call.set(new_constant(call.ctx, rows, cols, r.sparsity == 0 ? 0 : r.low));
  r.key = key_of(call, call.integer(kSeed));
  call.set(new_virtual(call.ctx, rows, cols, r));
}

// ---- sample

constexpr size_t kRange = 0, kSize = 1, kReplace = 2, kSampleSeed = 3;

void infer_sample(InferCall& c) {
  const int64_t rows = size_input(c, kSize);
  c.out[0] = matrix_meta(rows, 1, rows);
  if (c.in[kSampleSeed].kind != Kind::none && c.in[kReplace].kind != Kind::boolean)
    c.fail("sample: expected TRUE or FALSE as the third of four arguments, found {}", name(c.in[kReplace].kind));
}

struct Draws {
  uint64_t key;
  std::vector<uint32_t> words = std::vector<uint32_t>(2048);
  int64_t from = -1;

  // Number i of the draw, uniform in [0, below).
  int64_t number(int64_t i, int64_t below) {
    constexpr int64_t kTile = 1024;
    if (i / kTile != from) {
      from = i / kTile;
      draw_words(key, 0, Stream::values, 2 * from * kTile, 2 * (from + 1) * kTile, words.data());
    }
    const auto at = static_cast<size_t>(2 * (i % kTile));
    const uint64_t bits = static_cast<uint64_t>(words[at]) << 32 | words[at + 1];
    return static_cast<int64_t>(static_cast<unsigned __int128>(bits) * static_cast<uint64_t>(below) >> 64);
  }
};

// The first `size` places of a shuffled 0 ... range - 1. A large range keeps only the places that were moved; both
// ways draw the same numbers.
template <class T>
void shuffle(Context& ctx, Draws& draws, int64_t range, int64_t size, T* out) {
  if (range > (1 << 16) && size < range / 4) {
    std::unordered_map<int64_t, int64_t> moved;
    moved.reserve(static_cast<size_t>(size));
    const auto at = [&](int64_t i) {
      const auto found = moved.find(i);
      return found == moved.end() ? i : found->second;
    };
    for (int64_t i = 0; i < size; ++i) {
      const int64_t j = i + draws.number(i, range - i);
      out[i] = static_cast<T>(at(j) + 1);
      moved[j] = at(i);
    }
    return;
  }
  Buffer buffer = ctx.memory.allocate(static_cast<size_t>(range) * sizeof(int64_t));
  auto* places = buffer.as<int64_t>();
  for (int64_t i = 0; i < range; ++i) places[i] = i;
  for (int64_t i = 0; i < size; ++i) {
    std::swap(places[i], places[i + draws.number(i, range - i)]);
    out[i] = static_cast<T>(places[i] + 1);
  }
}

void run_sample(Call& call) {
  const int64_t range = call.integer(kRange), size = call.integer(kSize);
  const bool both = call.has(kSampleSeed), flag = call.has(kReplace) && call.kind(kReplace) == Kind::boolean;
  const bool replace = flag && call.boolean(kReplace);
  const int64_t seed = both ? call.integer(kSampleSeed) : call.has(kReplace) && !flag ? call.integer(kReplace) : -1;
  if (range < 1 || range > int64_t{1} << 53) call.fail("sample: expected a range from 1 to 2^53, found {}", range);
  if (!replace && size > range)
    call.fail("sample: more numbers than the range has, expected replacement or at most {}, found {}", range, size);
  if (call.ctx.precision == Precision::f32 && static_cast<double>(range) > kExactInSingle)
    call.fail("sample: too large for single precision, expected a range up to 2^24, found {}", range);
  Draws draws{key_of(call, seed)};
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    auto out = new_dense<T>(call.ctx, size, 1);
    T* cells = out->template dense<T>();
    if (replace)
      for (int64_t i = 0; i < size; ++i) cells[i] = static_cast<T>(draws.number(i, range) + 1);
    else
      shuffle(call.ctx, draws, range, size, cells);
    out->set_nnz(size);
    call.set(std::move(out));
  });
}

// ---- seq

constexpr size_t kFrom = 0, kTo = 1, kIncrement = 2;

template <class Fail>
int64_t seq_length(double from, double to, double increment, const Fail& wrong) {
  if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(increment))
    wrong("seq: expected finite numbers, found from={}, to={}, increment={}");
  if (increment == 0 || (from < to && increment < 0) || (from > to && increment > 0))
    wrong("seq: the increment does not lead to the end, found from={}, to={}, increment={}");
  const double steps = (to - from) / increment;
  if (steps > 0x1p52) wrong("seq: too many numbers, expected at most 2^52, found from={}, to={}, increment={}");
  // Rounding of the inputs may have missed `to` by a little.
  const double rounding = 0x1p-51 * (std::fabs(from) + std::fabs(to)) / std::fabs(increment);
  return 1 + static_cast<int64_t>(std::floor(steps + std::clamp(rounding, 1e-10, 1e-3)));
}

double default_increment(double from, double to) { return from > to ? -1 : 1; }

void infer_seq(InferCall& c) {
  c.out[0] = matrix_meta(-1, 1);
  const bool stepped = c.in[kIncrement].kind != Kind::none;
  if (!stepped && c.in[kFrom].kind == Kind::integer && c.in[kTo].kind == Kind::integer) {
    const int64_t n = c.range_size(kFrom, kTo);  // known also where only the difference is
    if (n != -1) c.out[0].rows = n >= 1 ? n : 2 - n;
    if (n != -1) return;
  }
  const auto from = c.real(kFrom), to = c.real(kTo);
  const auto increment = stepped      ? c.real(kIncrement)
                         : from && to ? default_increment(*from, *to)
                                      : std::optional<double>();
  if (!from || !to || !increment) return;
  const auto wrong = [&](auto text) { hopline::fail(c.span, fmt::runtime(text), *from, *to, *increment); };
  c.out[0].rows = seq_length(*from, *to, *increment, wrong);
}

void run_seq(Call& call) {
  const double from = call.real(kFrom), to = call.real(kTo);
  const double increment = call.has(kIncrement) ? call.real(kIncrement) : default_increment(from, to);
  const auto wrong = [&](auto text) { hopline::fail(call.span, fmt::runtime(text), from, to, increment); };
  const int64_t n = seq_length(from, to, increment, wrong);
  const double last = from + static_cast<double>(n - 1) * increment;
  const bool whole = std::floor(from) == from && std::floor(increment) == increment;
  if (call.ctx.precision == Precision::f32 && whole && std::max(std::fabs(from), std::fabs(last)) > kExactInSingle)
    call.fail("seq: too large for single precision, expected numbers up to 2^24, found from={}, to={}", from, to);
  const bool no_zero = (from > 0 && last > 0) || (from < 0 && last < 0);
  call.set(new_virtual(call.ctx, n, 1, Sequence{from, increment, false}, no_zero ? n : -1));
}

// ---- matrix

constexpr size_t kData = 0, kMatrixRows = 1, kMatrixCols = 2, kByRow = 3;

void infer_matrix(InferCall& c) {
  const Meta& data = c.in[kData];
  if (data.kind == Kind::boolean) c.fail("matrix: expected a number, a string of numbers or a matrix, found boolean");
  Meta out = sizes_input(c, kMatrixRows, kMatrixCols);
  if (data.kind == Kind::matrix) {
    out.nnz = data.nnz;
    if (data.sizes_known() && out.sizes_known() && data.rows * data.cols != out.rows * out.cols)
      c.fail("matrix: the number of cells must stay the same, expected {} cells, found {} of {}", data.rows * data.cols,
             out.rows * out.cols, dims(out));
    // One size gives the other.
    const auto other = [&](int64_t known) {
      const int64_t cells = data.sizes_known() ? data.rows * data.cols : -1;
      return cells > 0 && known > 0 && cells % known == 0 ? cells / known : -1;
    };
    if (out.rows < 0) out.rows = other(out.cols);
    if (out.cols < 0) out.cols = other(out.rows);
  }
  c.out[0] = out;
}

Cost cost_matrix(const InferCall& c) {
  if (c.in[kData].kind != Kind::matrix || !c.in[kData].sizes_known()) return {};
  const double bytes = 8 * static_cast<double>(c.in[kData].rows) * static_cast<double>(c.in[kData].cols);
  return {0, bytes, bytes, 0};
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

std::vector<double> parse_numbers(const Call& call, const std::string& text) {
  std::vector<double> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    while (at < end && is_blank(*at)) ++at;
    if (at == end) return out;
    const char* stop = std::find_if(at, end, is_blank);
    const char* digits = *at == '+' && stop - at > 1 && at[1] != '-' ? at + 1 : at;
    double v = 0;
    const auto [parsed, error] = fast_float::from_chars(digits, stop, v);
    if (parsed != stop || error == std::errc::invalid_argument)
      call.fail("matrix: expected numbers separated by blanks, found \"{}\"", std::string_view(at, stop));
    out.push_back(v);
    at = stop;
  }
}

template <class T>
MatrixRef from_text(Call& call, int64_t rows, int64_t cols) {
  const std::vector<double> numbers = parse_numbers(call, call.string(kData));
  if (static_cast<int64_t>(numbers.size()) != rows * cols)
    call.fail("matrix: the string must hold one number per cell, expected {} for {}x{}, found {}", rows * cols, rows,
              cols, numbers.size());
  auto out = new_dense<T>(call.ctx, 1, rows * cols);
  std::transform(numbers.begin(), numbers.end(), out->template dense<T>(), [](double v) { return static_cast<T>(v); });
  return reshape<T>(call.ctx, std::move(out), rows, cols, call.boolean(kByRow));
}

void run_matrix(Call& call) {
  const int64_t rows = call.integer(kMatrixRows), cols = call.integer(kMatrixCols);
  with_real(call.ctx, [&](auto zero) {
    using T = decltype(zero);
    if (call.is_matrix(kData)) {
      MatrixRef data = std::get<MatrixRef>(call.take_value(kData));
      return call.set(reshape<T>(call.ctx, std::move(data), rows, cols, call.boolean(kByRow)));
    }
    if (call.kind(kData) == Kind::string) return call.set(from_text<T>(call, rows, cols));
    call.set(new_constant(call.ctx, rows, cols, call.real(kData)));
  });
}

constexpr Kernel kRandKernels[] = {{"virtual", nullptr, run_rand}};
constexpr Kernel kSampleKernels[] = {{"reference", nullptr, run_sample}};
constexpr Kernel kSeqKernels[] = {{"virtual", nullptr, run_seq}};
constexpr Kernel kMatrixKernels[] = {{"reference", nullptr, run_matrix}};

constexpr Op kOps[] = {
    {.name = "rand",
     .aliases = {"Rand", "RAND"},
     .params = Params{param::number("rows", "1"), param::number("cols", "1"), param::number("min", "0.0"),
                      param::number("max", "1.0"), param::number("sparsity", "1.0"), param::number("seed", "-1"),
                      param::text("pdf", "\"uniform\""), param::number("lambda", "1.0")}
                   .by(Naming::named),
     .laws = {.purity = Purity::random, .failure = Failure::by_data},
     .infer = infer_rand,
     .cost = no_cost,
     .kernels = kRandKernels,
     .doc =
         "A matrix of random numbers: uniform in [min, max), standard normal, or poisson with mean lambda; a cell is "
         "kept with probability sparsity, else 0. The same seed gives the same matrix.",
     .example = "X = rand(rows=3, cols=4, min=2, max=2)\nprint(sum(X))  # expect: 24.0\n"
                "Y = rand(rows=100, cols=10, pdf=\"normal\", seed=7)\n"
                "print(sum(Y == rand(rows=100, cols=10, pdf=\"normal\", seed=7)))  # expect: 1000.0"},
    {.name = "sample",
     .params = {param::number("range"), param::number("size"), param::optional("replace", kNumber),
                param::optional("seed", kNumber)},
     .laws = {.purity = Purity::random, .failure = Failure::by_data},
     .infer = infer_sample,
     .kernels = kSampleKernels,
     .doc =
         "A column of `size` whole numbers from 1 to range in random order, each at most once unless replace is TRUE; "
         "a number as third argument is the seed.",
     .example =
         "P = sample(50, 50, 3)\nprint(sum(P))  # expect: 1275.0\nprint(nrow(sample(5, 200, TRUE)))  # expect: 200"},
    {.name = "seq",
     .params = {param::number("from"), param::number("to"), param::optional("incr", kNumber)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_seq,
     .cost = no_cost,
     .kernels = kSeqKernels,
     .doc = "A column of the numbers from, from + incr, ... up to `to`; incr is 1, or -1 where from is above `to`.",
     .example = "print(nrow(seq(0, 1, 0.1)))  # expect: 11\nprint(sum(seq(3, 1)))  # expect: 6.0"},
    {.name = "matrix",
     .params = {param::of("data", kNumber | kString | kMatrix), param::number("rows"), param::number("cols"),
                param::number("byrow", "TRUE"), param::optional("dimnames", kAny)},
     .laws = {.failure = Failure::by_data},
     .infer = infer_matrix,
     .cost = cost_matrix,
     .kernels = kMatrixKernels,
     .doc =
         "A matrix filled with a number, read row by row from a string of numbers, or with the cells of another matrix "
         "under new sizes (byrow=FALSE: column by column).",
     .example = "print(sum(matrix(3, rows=2, cols=2)))  # expect: 12.0\n"
                "X = matrix(\"1 2 3 4 5 6\", 2, 3)\nprint(as.scalar(X[2, 1]))  # expect: 4.0\n"
                "Y = matrix(X, 3, 2, byrow=FALSE)\nprint(as.scalar(Y[2, 1]))  # expect: 4.0"},
};

}  // namespace

OpFamily datagen_ops() { return kOps; }

}  // namespace hopline
