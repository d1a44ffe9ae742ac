// Kinds of an operator's results from sets of possible kinds of its arguments. Private to frontend/check.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/syntax/ast.h"
#include "runtime/base/error.h"
#include "runtime/ops/op.h"

namespace hopline {

// Possible kinds of a value; 0: none is known yet. `literal` when it is one.
struct Operand {
  Kinds kinds = 0;
  const Literal* literal = nullptr;
};

// "matrix or list"; sets that have a name are called by it: "number", "scalar", "value".
std::string describe(Kinds kinds);
Kind kind_of(const Literal& literal);
// What a variable or result that is declared like this may hold.
inline Kinds declared_kinds(Kind declared) { return declared == Kind::unknown ? kAny : kinds(declared); }

class OperatorKinds {
 public:
  // Fills `out` (one set per result). An absent optional argument has kinds kNone. Returns what is wrong when no choice
  // of kinds works.
  std::optional<std::string> infer(const Op& row, const Span& span, std::span<const Operand> in,
                                   std::span<const std::string> names, std::vector<Kinds>& out);

 private:
  std::optional<std::string> narrow(const Op& row, std::span<const Operand> in);
  std::optional<std::string> infer_one(const Op& row, const Span& span, std::span<const std::string> names,
                                       std::vector<Kinds>& out);

  std::vector<Kinds> accepted_;
  std::vector<const Literal*> literals_;
  std::vector<Kind> choice_;
};

}  // namespace hopline
