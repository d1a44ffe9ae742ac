// Single kernels on blocks in memory, through the operator table as a plan calls them. hopline-bench
// --benchmark_filter=REGEX
#include <benchmark/benchmark.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/config.h"
#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/apply.h"

namespace hopline {

namespace {

struct Run {
  Config config;
  Memory memory{int64_t{8} << 30};
  Context ctx{memory, config, Precision::f64, available_threads(), nullptr};

  // Cells in (0, 1], different ones next to each other.
  Value dense(int64_t rows, int64_t cols) {
    auto m = new_dense<double>(ctx, rows, cols);
    double* cells = m->dense<double>();
    for (int64_t i = 0; i < rows * cols; ++i) cells[i] = static_cast<double>(i * 48271 % 9999991 + 1) / 9999992.0;
    return MatrixRef(std::move(m));
  }
  // One cell in `every` is kept.
  Value sparse(int64_t rows, int64_t cols, int64_t every) {
    auto m = new_dense<double>(ctx, rows, cols);
    double* cells = m->dense<double>();
    for (int64_t i = 0; i < rows * cols; ++i) cells[i] = i * 48271 % 999983 % every == 0 ? 1.5 : 0;
    return to_sparse<double>(ctx, MatrixRef(std::move(m)));
  }
};

enum class Inputs {
  dense,
  dense_scalar,
  dense_dense,
  dense_row,
  sparse,
  sparse_scalar,
  sparse_sparse,
  sparse_dense,
  square_pair
};

struct Case {
  const char* op;
  Inputs inputs;
};

// What a row of kCases times, on n cells.
std::vector<Value> inputs_of(Run& run, Inputs inputs, int64_t n) {
  const int64_t cols = std::min<int64_t>(n, 100), rows = n / cols;
  int64_t side = 1;
  while ((side + 1) * (side + 1) <= n) ++side;
  switch (inputs) {
    case Inputs::dense:
      return {run.dense(rows, cols)};
    case Inputs::dense_scalar:
      return {run.dense(rows, cols), 0.5};
    case Inputs::dense_dense:
      return {run.dense(rows, cols), run.dense(rows, cols)};
    case Inputs::dense_row:
      return {run.dense(rows, cols), run.dense(1, cols)};
    case Inputs::sparse:
      return {run.sparse(rows, cols, 20)};
    case Inputs::sparse_scalar:
      return {run.sparse(rows, cols, 20), 2.0};
    case Inputs::sparse_sparse:
      return {run.sparse(rows, cols, 20), run.sparse(rows, cols, 30)};
    case Inputs::sparse_dense:
      return {run.sparse(rows, cols, 20), run.dense(cols, 32)};
    case Inputs::square_pair:
      return {run.dense(side, side), run.dense(side, side)};
  }
  return {};
}

constexpr Case kCases[] = {
    {"abs", Inputs::dense},        {"sqrt", Inputs::dense},      {"exp", Inputs::dense},
    {"log", Inputs::dense},        {"sin", Inputs::dense},       {"tanh", Inputs::dense},
    {"sigmoid", Inputs::dense},    {"+", Inputs::dense_scalar},  {"*", Inputs::dense_scalar},
    {">", Inputs::dense_scalar},   {"^", Inputs::dense_scalar},  {"+", Inputs::dense_dense},
    {">", Inputs::dense_dense},    {"+", Inputs::dense_row},     {"sum", Inputs::dense},
    {"rowSums", Inputs::dense},    {"colSums", Inputs::dense},   {"rowMaxs", Inputs::dense},
    {"t", Inputs::dense},          {"cumsum", Inputs::dense},    {"abs", Inputs::sparse},
    {"sum", Inputs::sparse},       {"rowSums", Inputs::sparse},  {"t", Inputs::sparse},
    {"*", Inputs::sparse_scalar},  {"+", Inputs::sparse_sparse}, {"*", Inputs::sparse_sparse},
    {"%*%", Inputs::sparse_dense}, {"tsmm", Inputs::sparse},     {"%*%", Inputs::square_pair},
    {"+", Inputs::square_pair},
};

const char* name_of(Inputs inputs) {
  constexpr const char* kNames[] = {"dense",         "dense,scalar",  "dense,dense",  "dense,row",    "sparse",
                                    "sparse,scalar", "sparse,sparse", "sparse,dense", "square,square"};
  return kNames[static_cast<size_t>(inputs)];
}

void time_case(benchmark::State& state, Case which) {
  Run run;
  const std::vector<Value> in = inputs_of(run, which.inputs, state.range(0));
  const Op& row = op(which.op, in.size());
  for (auto _ : state) benchmark::DoNotOptimize(apply(run.ctx, row, in));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

void register_cases() {
  for (const Case& which : kCases) {
    const std::string name = std::string(which.op) + "(" + name_of(which.inputs) + ")";
    benchmark::RegisterBenchmark(name.c_str(), time_case, which)->Arg(100)->Arg(10000)->Arg(4000000)->UseRealTime();
  }
}

}  // namespace hopline

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  hopline::register_cases();
  benchmark::RunSpecifiedBenchmarks();
}
