// Running operators on small values in unit tests.
#pragma once
#include <initializer_list>
#include <string_view>

#include "runtime/base/config.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/apply.h"

namespace hopline {

struct OpTest {
  Config config;
  Memory memory{int64_t{4} << 30};
  Context ctx{memory, config, Precision::f64, 2, nullptr};

  Value dense(int64_t rows, int64_t cols, std::initializer_list<double> cells) {
    auto m = new_dense<double>(ctx, rows, cols);
    std::copy(cells.begin(), cells.end(), m->dense<double>());
    return MatrixRef(std::move(m));
  }
  Value sparse(int64_t rows, int64_t cols, std::initializer_list<double> cells) {
    return to_sparse<double>(ctx, std::get<MatrixRef>(dense(rows, cols, cells)));
  }
  Value run(std::string_view name, std::vector<Value> in) {
    const Op& row = op(name, in.size());
    return apply(ctx, row, std::move(in)).front();
  }
  std::vector<double> cells(const Value& v) {
    const MatrixRef m = to_dense<double>(ctx, std::get<MatrixRef>(v));
    return {m->dense<double>(), m->dense<double>() + m->cells()};
  }
};

}  // namespace hopline
