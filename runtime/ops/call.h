// What a kernel sees: the inputs, the outputs to fill, and the run it belongs to.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "runtime/base/error.h"
#include "runtime/data/value.h"
#include "runtime/ops/op.h"

namespace hopline {

class Memory;
struct Config;
class Session;

// What a run hands to its kernels.
struct Context {
  Memory& memory;
  const Config& config;
  Precision precision = Precision::f64;
  int threads = 1;  // how many this caller may use
  Session* session =
      nullptr;  // output, files, cancel flag: what effects need (runtime/exec/session.h); null in unit tests
};

struct Call {
  Context& ctx;
  const Op& op;
  std::span<Value* const> in;  // absent optional arguments hold monostate
  std::span<Value> out;
  uint32_t last_use = 0;  // bit i: nobody reads input i after this call, so take(i) may be used
  Span span;
  std::span<const std::string> names;  // of variadic arguments (list(a=1)); empty when there are none

  bool has(size_t i) const { return i < in.size() && in[i]->index() != 0; }
  Kind kind(size_t i) const { return kind_of(*in[i]); }
  bool is_matrix(size_t i) const { return kind(i) == Kind::matrix; }
  const MatrixBlock& matrix(size_t i) const { return *std::get<MatrixRef>(*in[i]); }
  const MatrixRef& matrix_ref(size_t i) const { return std::get<MatrixRef>(*in[i]); }
  // Scalars, converted: booleans count 0/1, int64 by the double-to-long rule of the language.
  double real(size_t i) const;
  int64_t integer(size_t i) const;
  bool boolean(size_t i) const;
  const std::string& string(size_t i) const { return std::get<std::string>(*in[i]); }

  // The input itself when this call is its only owner and last reader, else null: for writing in place.
  // The block is moved out of its slot.
  std::shared_ptr<MatrixBlock> take(size_t i);
  // Moves the value out of its slot at its last use, copies it otherwise.
  Value take_value(size_t i) { return (last_use >> i & 1) != 0 ? std::move(*in[i]) : *in[i]; }

  void set(MatrixRef m, size_t i = 0) { out[i] = std::move(m); }
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    hopline::fail(span, text, std::forward<Args>(args)...);
  }
};

// Blocks with undefined contents, from the run's memory. T is double or float.
template <class T>
std::shared_ptr<MatrixBlock> new_dense(Context& ctx, int64_t rows, int64_t cols);
// Room for nnz entries; the kernel fills offsets, columns and values and may set_nnz to fewer.
template <class T>
std::shared_ptr<MatrixBlock> new_sparse(Context& ctx, int64_t rows, int64_t cols, int64_t nnz);
MatrixRef new_constant(Context& ctx, int64_t rows, int64_t cols, double value);  // virtual
MatrixRef new_virtual(Context& ctx, int64_t rows, int64_t cols, Virtual cells, int64_t nnz = -1);
// An all-zero result: a sparse block without entries.
MatrixRef new_zeros(Context& ctx, int64_t rows, int64_t cols);

// The same cells in the wanted store; the block itself when it already has it.
template <class T>
MatrixRef to_dense(Context& ctx, const MatrixRef& m);
template <class T>
MatrixRef to_sparse(Context& ctx, const MatrixRef& m);
// Dense or CSR: whatever m is, a virtual block made real (CSR where it is sparse).
template <class T>
MatrixRef materialize(Context& ctx, const MatrixRef& m);
// Counts on first use and keeps the count.
template <class T>
int64_t count_nnz(Context& ctx, const MatrixBlock& m);
// A freshly computed block in the format that suits its count of non-zeros (sparse below kSparse and more than one
// column).
template <class T>
MatrixRef settle(Context& ctx, std::shared_ptr<MatrixBlock> m);
constexpr double kSparse = 0.4;

// Calls f(T{}) with T = double or float after the precision of the run.
template <class F>
decltype(auto) with_real(const Context& ctx, F&& f) {
  return ctx.precision == Precision::f64 ? f(double{}) : f(float{});
}

// The language's double-to-long rule: toward zero after adding 2^-53 to the magnitude; saturates, NaN gives 0.
int64_t to_integer(double v);

}  // namespace hopline
