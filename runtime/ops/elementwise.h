// The family of cell-wise operators: what its files share.
#pragma once
#include "runtime/ops/call.h"
#include "runtime/ops/cellwise.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/operands.h"

namespace hopline {

// What two scalars give (binary.def), and what one gives (unary.def).
enum class BinaryResult : uint8_t { joint, function, real, compare, logic, bits };
enum class UnaryResult : uint8_t { real, negation, logic };

// Facts of a row that the operator table does not hold. Null when the row is no cell-wise function of that arity.
struct BinaryRow {
  BinaryResult result;
  int flops;
};
struct UnaryRow {
  UnaryResult result;
  int flops;
};
const BinaryRow* binary_row(const Op& op);
const UnaryRow* unary_row(const Op& op);

// Meta of `left op right` for a row of binary.def; `call` reports what does not fit.
Meta binary_meta(InferCall& call, const Op& op, const Meta& left, const Meta& right);

// The row of binary.def with that name or token, or null: for outer and ppred.
const Op* find_binary(std::string_view name);

// Inputs `left` and `right` of the call combined by `op`, a row of binary.def whose meta was accepted. A matrix input
// is written in place where the call lets it.
Value run_binary(Call& call, const Op& op, size_t left, size_t right);

// The kernels of every row of unary.def and of binary.def.
extern const Kernel kUnaryKernels[6];
extern const Kernel kBinaryKernels[9];

// Kernels over stored cells (elementwise_sparse.cc).
template <class T>
MatrixRef unary_sparse(Call& call, size_t input);
// Cells of an operand where input i stores one.
template <class T>
MatrixRef gather_on_pattern(Call& call, size_t i, const Operand& from);
// Can the result of this pair be computed from stored cells alone?
template <class T>
bool binary_is_sparse(Context& ctx, const Op& op, const OperandPair& pair);
template <class T>
MatrixRef binary_sparse(Call& call, const Op& op, const OperandPair& pair, size_t left, size_t right);

}  // namespace hopline
