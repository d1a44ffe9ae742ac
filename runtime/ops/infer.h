// What an operator's size inference and cost see: kinds and sizes of the inputs, and scalar values where they are
// known.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "runtime/base/error.h"
#include "runtime/data/value.h"
#include "runtime/ops/op.h"

namespace hopline {

struct InferCall {
  const Op& op;
  std::span<const Meta> in;  // absent optional arguments have Kind::none
  std::span<Meta> out;       // op.outputs entries, to be set; a size that is not known stays -1
  Span span;
  // Names given to arguments of variadic operators (list(a=1)); empty when there are none.
  std::span<const std::string> names;

  virtual ~InferCall() = default;
  // The value of scalar input i when it is known now, else null. Asking makes the plan depend on that value, so ask
  // only for what decides a size, a shape check or a kind.
  virtual const Value* value(size_t) { return nullptr; }
  // The size hi - lo + 1 of an index range whose bounds are inputs `lo` and `hi`, or -1: known also where only the
  // difference is (X[i:i+31,]), without depending on the bounds themselves.
  virtual int64_t range_size(size_t /*lo*/, size_t /*hi*/) { return -1; }

  // Known scalar input as a number / as int64 by DML's double-to-long rule / as bool / as text; nullopt when unknown.
  std::optional<double> real(size_t i);
  std::optional<int64_t> integer(size_t i);
  std::optional<bool> boolean(size_t i);
  std::optional<std::string> string(size_t i);

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    hopline::fail(span, text, std::forward<Args>(args)...);
  }

 protected:
  InferCall(const Op& o, std::span<const Meta> i, std::span<Meta> u, Span s, std::span<const std::string> n)
      : op(o), in(i), out(u), span(s), names(n) {}
};

// "3x4", or "?x4" where a size is unknown; for messages.
std::string dims(const Meta& meta);

}  // namespace hopline
