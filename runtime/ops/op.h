// The operator table. An operator is one row; its identity is the row's address. Parser, checker, planner, executor,
// help and tests all read the rows.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "runtime/data/kind.h"

namespace hopline {

struct Call;       // one execution: runtime/ops/call.h
struct InferCall;  // one size inference: runtime/ops/infer.h

struct Param {
  std::string_view name;
  Kinds accepts = kAny;
  std::string_view default_text =
      {};  // a DML literal: "1", "TRUE", "\"rows\""; "none" = may be absent (Value is monostate)
  constexpr bool required() const { return default_text.empty(); }
};
// Short forms for rows: {param::matrix("X"), param::number("k", "1")}.
namespace param {
constexpr Param matrix(std::string_view name) { return {name, kMatrix}; }
constexpr Param number(std::string_view name, std::string_view fallback = {}) { return {name, kNumber, fallback}; }
constexpr Param text(std::string_view name, std::string_view fallback = {}) { return {name, kString, fallback}; }
constexpr Param any(std::string_view name, std::string_view fallback = {}) { return {name, kAny, fallback}; }
constexpr Param of(std::string_view name, Kinds kinds, std::string_view fallback = {}) {
  return {name, kinds, fallback};
}
constexpr Param optional(std::string_view name, Kinds kinds) { return {name, kinds, "none"}; }
}  // namespace param

// How arguments may be given.
enum class Naming : uint8_t {
  positional,  // by position; names are accepted where they match
  named,       // every argument by name (order, rand, replace, ...)
  first_free,  // the first by position or by name, the rest by name (toString, matrix, read, write)
};

struct Params {
  static constexpr size_t kMost = 16;
  std::array<Param, kMost> list{};
  uint8_t count = 0;
  bool variadic = false;  // the last parameter may be repeated (rbind, min, print, list): at least `count` arguments
  Naming naming = Naming::positional;
  constexpr Params() = default;
  constexpr Params(std::initializer_list<Param> params) {
    for (const Param& p : params) list[count++] = p;
  }
  constexpr Params repeat_last() const {
    Params out = *this;
    out.variadic = true;
    return out;
  }
  constexpr Params by(Naming n) const {
    Params out = *this;
    out.naming = n;
    return out;
  }
  constexpr std::span<const Param> span() const { return {list.data(), count}; }
  constexpr size_t required() const {
    size_t n = 0;
    while (n < count && list[n].required()) ++n;
    return n;
  }
};

// What a zero cell does. keeps: f(0) = 0. left/right/either: a zero in that operand makes the cell zero. both: zeros in
// both operands make it zero.
enum class Zero : uint8_t { none, keeps, left, right, either, both };
enum class Purity : uint8_t { pure, random, effect };
// Can it fail once infer() has passed with all sizes known? An operator that can is never removed as unused.
enum class Failure : uint8_t { never, by_data };

struct Laws {
  bool commutative = false, associative = false;
  Zero zero = Zero::none;
  Purity purity = Purity::pure;
  Failure failure = Failure::never;
  bool size_from_data = false;  // a region ends after it (removeEmpty, table without dims, ...)
  bool cellwise = false;        // from unary.def / binary.def, or ternary: fusable into a cell program
};

struct Cost {
  double flops = 0, bytes_read = 0, bytes_written = 0;
  double scratch = 0;  // bytes of every temporary of the kernel that will run
};

struct Kernel {
  std::string_view name;
  bool (*accepts)(const Call&) = nullptr;  // null: takes everything
  void (*run)(Call&) = nullptr;
};

struct Op {
  std::string_view name;  // DML name or infix token
  std::array<std::string_view, 2> aliases{};
  Params params;
  uint8_t outputs = 1;  // 0: a statement (print); >1: [a, b] = f(...)
  Laws laws;
  void (*infer)(InferCall&) = nullptr;       // sets the outputs' Meta; reports wrong sizes with the span
  Cost (*cost)(const InferCall&) = nullptr;  // null: reads its inputs and writes its outputs once, no scratch
  std::span<const Kernel> kernels;           // best first; the last is the plain reference that takes everything
  std::string_view doc;                      // one line
  std::string_view example;  // a script of one or more lines with "# expect: ..." comments; run as a test
  bool hidden = false;       // made by the planner only, not callable from a script
};

// Rows of one family, listed in table.cc.
using OpFamily = std::span<const Op>;
std::span<const OpFamily> op_families();

// First row of that name or alias that takes `arguments` arguments; null when there is none. For an infix operator the
// name is its token ("+", "%*%"; unary minus is "-" with one argument).
const Op* find_op(std::string_view name, size_t arguments);
// Any row of that name, whatever its arity; null when the name is no operator.
const Op* find_op(std::string_view name);
// All rows of that name, in the order of the table.
std::span<const Op* const> find_ops(std::string_view name);
// The row must exist: for code that needs a certain operator.
const Op& op(std::string_view name, size_t arguments);

}  // namespace hopline
