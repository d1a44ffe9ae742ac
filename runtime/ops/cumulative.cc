// Running aggregates.
#include <algorithm>
#include <cmath>

#include "runtime/base/parallel.h"
#include "runtime/ops/call.h"
#include "runtime/ops/cost.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

enum class What : uint8_t { sum, product, least, greatest };

template <What what, class T>
T next(T before, T cell) {
  if constexpr (what == What::sum) return before + cell;
  if constexpr (what == What::product) return before * cell;
  if constexpr (what == What::least) return std::isnan(before) || before < cell ? before : cell;
  return std::isnan(before) || before > cell ? before : cell;
}

// Down each column; a task takes a band of columns.
template <What what>
void run_down(Call& call) {
  with_real(call.ctx, [&](auto real) {
    using T = decltype(real);
    const MatrixRef x = to_dense<T>(call.ctx, call.matrix_ref(0));
    const int64_t rows = x->rows(), cols = x->cols();
    auto out = new_dense<T>(call.ctx, rows, cols);
    const T* in = x->template dense<T>();
    T* cells = out->template dense<T>();
    constexpr int64_t kBand = 512;
    parallel_chunks(rows == 0 ? 0 : cols, kBand, call.ctx.threads, [&](int64_t b, int64_t e) {
      std::copy(in + b, in + e, cells + b);
      for (int64_t r = 1; r < rows; ++r)
        for (int64_t c = b; c < e; ++c) cells[r * cols + c] = next<what>(cells[(r - 1) * cols + c], in[r * cols + c]);
    });
    call.set(std::move(out));
  });
}

void run_along(Call& call) {
  with_real(call.ctx, [&](auto real) {
    using T = decltype(real);
    const MatrixRef x = to_dense<T>(call.ctx, call.matrix_ref(0));
    const int64_t rows = x->rows(), cols = x->cols();
    auto out = new_dense<T>(call.ctx, rows, cols);
    const T* in = x->template dense<T>();
    T* cells = out->template dense<T>();
    parallel_chunks(rows, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, cols)), call.ctx.threads,
                    [&](int64_t b, int64_t e) {
                      for (int64_t r = b; r < e; ++r) {
                        T total = 0;
                        for (int64_t c = 0; c < cols; ++c) cells[r * cols + c] = total += in[r * cols + c];
                      }
                    });
    call.set(std::move(out));
  });
}

// y[i] = x[i,1] + x[i,2] * y[i-1]
void run_sum_product(Call& call) {
  with_real(call.ctx, [&](auto real) {
    using T = decltype(real);
    const MatrixRef x = to_dense<T>(call.ctx, call.matrix_ref(0));
    auto out = new_dense<T>(call.ctx, x->rows(), 1);
    const T* in = x->template dense<T>();
    T before = 0;
    for (int64_t r = 0; r < x->rows(); ++r) out->template dense<T>()[r] = before = in[2 * r] + in[2 * r + 1] * before;
    call.set(std::move(out));
  });
}

void infer_same(InferCall& call) { call.out[0] = matrix_meta(call.in[0].rows, call.in[0].cols); }
void infer_sum_product(InferCall& call) {
  const Meta& x = call.in[0];
  if (x.cols >= 0 && x.cols != 2) call.fail("cumsumprod expected a matrix of 2 columns, found {}", dims(x));
  call.out[0] = matrix_meta(x.rows, 1);
}

template <What what>
constexpr Kernel kDown[] = {{"columns", nullptr, run_down<what>}};
constexpr Kernel kAlong[] = {{"rows", nullptr, run_along}};
constexpr Kernel kSumProduct[] = {{"scan", nullptr, run_sum_product}};

constexpr Op kOps[] = {
    {.name = "cumsum",
     .params = {param::matrix("X")},
     .infer = infer_same,
     .cost = cost_per_cell<1>,
     .kernels = kDown<What::sum>,
     .doc = "running sum down each column",
     .example = "print(sum(cumsum(matrix(2, 3, 1))))  # expect: 12.0"},
    {.name = "cumprod",
     .params = {param::matrix("X")},
     .infer = infer_same,
     .cost = cost_per_cell<1>,
     .kernels = kDown<What::product>,
     .doc = "running product down each column",
     .example = "print(sum(cumprod(matrix(2, 3, 1))))  # expect: 14.0"},
    {.name = "cummin",
     .params = {param::matrix("X")},
     .infer = infer_same,
     .cost = cost_per_cell<1>,
     .kernels = kDown<What::least>,
     .doc = "running minimum down each column",
     .example = "print(sum(cummin(matrix(\"3 1 2\", 3, 1))))  # expect: 5.0"},
    {.name = "cummax",
     .params = {param::matrix("X")},
     .infer = infer_same,
     .cost = cost_per_cell<1>,
     .kernels = kDown<What::greatest>,
     .doc = "running maximum down each column",
     .example = "print(sum(cummax(matrix(\"1 3 2\", 3, 1))))  # expect: 7.0"},
    {.name = "rowcumsum",
     .params = {param::matrix("X")},
     .infer = infer_same,
     .cost = cost_per_cell<1>,
     .kernels = kAlong,
     .doc = "running sum along each row",
     .example = "print(sum(rowcumsum(matrix(2, 1, 3))))  # expect: 12.0"},
    {.name = "cumsumprod",
     .params = {param::matrix("X")},
     .infer = infer_sum_product,
     .cost = cost_per_cell<1>,
     .kernels = kSumProduct,
     .doc = "y[i] = X[i,1] + X[i,2] * y[i-1]",
     .example = "print(sum(cumsumprod(matrix(1, 3, 2))))  # expect: 6.0"},
};

}  // namespace

OpFamily cumulative_ops() { return kOps; }

}  // namespace hopline
