// Running operators on every store and in both precisions in unit tests; cells are given and read as doubles.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/config.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/apply.h"

namespace hopline {

struct StoreTest {
  Config config;
  Memory memory{int64_t{4} << 30};
  Context ctx{memory, config, Precision::f64, 2, nullptr};

  explicit StoreTest(Precision precision = Precision::f64) { ctx.precision = precision; }

  template <class Cell>
  Value dense(int64_t rows, int64_t cols, const Cell& cell) {
    return with_real(ctx, [&](auto zero) -> Value {
      using T = decltype(zero);
      auto m = new_dense<T>(ctx, rows, cols);
      T* out = m->template dense<T>();
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < cols; ++c) *out++ = static_cast<T>(cell(r, c));
      return MatrixRef(std::move(m));
    });
  }
  Value dense(int64_t rows, int64_t cols, const std::vector<double>& cells) {
    return dense(rows, cols, [&](int64_t r, int64_t c) { return cells[static_cast<size_t>(r * cols + c)]; });
  }
  Value compressed(const Value& v) {
    return with_real(ctx, [&](auto zero) -> Value { return to_sparse<decltype(zero)>(ctx, std::get<MatrixRef>(v)); });
  }
  // The same cells as dense block and as CSR.
  template <class Cells>
  std::vector<Value> stores(int64_t rows, int64_t cols, const Cells& cells) {
    const Value d = dense(rows, cols, cells);
    return {d, compressed(d)};
  }
  std::vector<double> cells(const Value& v) {
    return with_real(ctx, [&](auto zero) {
      using T = decltype(zero);
      const MatrixRef m = to_dense<T>(ctx, std::get<MatrixRef>(v));
      return std::vector<double>(m->template dense<T>(), m->template dense<T>() + m->cells());
    });
  }
  static std::string shape(const Value& v) { return dims_of(*std::get<MatrixRef>(v)); }
  static std::string dims_of(const MatrixBlock& m) { return std::to_string(m.rows()) + "x" + std::to_string(m.cols()); }
  static const MatrixBlock& block(const Value& v) { return *std::get<MatrixRef>(v); }

  Value run(std::string_view name, std::vector<Value> in) {
    const Op& row = op(name, in.size());
    return apply(ctx, row, std::move(in)).front();
  }
  // As an instruction that reads its inputs last; they must be complete.
  Value run_last(std::string_view name, std::vector<Value> in, uint32_t last_use = ~uint32_t{0}) {
    const Op& row = op(name, in.size());
    std::vector<Value*> pointers;
    for (size_t i = in.size(); i < row.params.count && !row.params.variadic; ++i)
      in.push_back(default_value(row.params.list[i]));
    for (Value& v : in) pointers.push_back(&v);
    std::vector<Value> out(row.outputs);
    Call call{ctx, row, pointers, out, last_use, {}, {}};
    check_sizes(call);
    run_kernel(call);
    return out.front();
  }
  Meta infer(std::string_view name, const std::vector<Value>& in) {
    const Op& row = op(name, in.size());
    std::vector<Value> full = in;
    for (size_t i = in.size(); i < row.params.count && !row.params.variadic; ++i)
      full.push_back(default_value(row.params.list[i]));
    std::vector<const Value*> pointers;
    for (const Value& v : full) pointers.push_back(&v);
    return infer_values(row, pointers, {}, {}).front();
  }
  // The message with which the operator fails; "" when it does not.
  std::string error(std::string_view name, std::vector<Value> in) {
    try {
      run(name, std::move(in));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

inline void check_csr(const MatrixBlock& m) {
  ASSERT_TRUE(m.is_sparse());
  const Csr& s = m.csr();
  const auto* offsets = s.offsets.as<int64_t>();
  ASSERT_EQ(offsets[0], 0);
  ASSERT_EQ(offsets[m.rows()], m.nnz_if_known());
  for (int64_t r = 0; r < m.rows(); ++r)
    for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
      const auto column = [&](int64_t i) { return s.wide ? s.columns.as<int64_t>()[i] : s.columns.as<int32_t>()[i]; };
      ASSERT_GE(column(k), 0);
      ASSERT_LT(column(k), m.cols());
      if (k > offsets[r]) {
        ASSERT_LT(column(k - 1), column(k));
      }
      ASSERT_NE(m.precision() == Precision::f64 ? s.values.as<double>()[k] : s.values.as<float>()[k], 0);
    }
}

// Both precisions.
inline std::vector<Precision> precisions() { return {Precision::f64, Precision::f32}; }

}  // namespace hopline
