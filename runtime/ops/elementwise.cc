// Rows of the cell-wise operators, expanded from unary.def and binary.def, with their sizes and costs.
#include "runtime/ops/elementwise.h"

#include <algorithm>

#include "runtime/ops/cost.h"
#include "runtime/ops/families.h"

namespace hopline {

namespace {

constexpr UnaryRow kUnaryRows[] = {
#define DML_UNARY(id, name, alias, result, zero, flops, hidden, doc, example, ...) {UnaryResult::result, flops},
#include "runtime/ops/unary.def"
#undef DML_UNARY
};
constexpr BinaryRow kBinaryRows[] = {
#define DML_BINARY(id, name, alias, result, laws, zero, flops, doc, example, ...) {BinaryResult::result, flops},
#include "runtime/ops/binary.def"
#undef DML_BINARY
};

constexpr Kinds kNumberOrMatrix = kNumber | kMatrix;
constexpr Kinds accepts(BinaryResult result, std::string_view name) {
  return result == BinaryResult::compare || name == "+" ? kNumberOrMatrix | kString : kNumberOrMatrix;
}

enum class Order : uint8_t { commutes, symmetric, ordered };

constexpr Laws binary_laws(Order order, Zero zero, BinaryResult result, std::string_view name) {
  Laws laws;
  laws.commutative = order != Order::ordered;
  laws.associative = order == Order::commutes;
  laws.zero = zero;
  // Two ints may overflow; min and max cannot, nor can the remainder.
  laws.failure = result == BinaryResult::joint && name != "%%" ? Failure::by_data : Failure::never;
  laws.cellwise = true;
  return laws;
}

Cost cell_cost(const InferCall& call, int flops) {
  Cost cost;
  const Meta& out = call.out[0];
  const double cells = out.sizes_known() ? static_cast<double>(out.rows) * static_cast<double>(out.cols) : 1;
  cost.flops = flops * cells;
  for (const Meta& m : call.in) cost.bytes_read += stored_bytes(m);
  cost.bytes_written = stored_bytes(out);
  return cost;
}
Cost unary_cost(const InferCall& call) { return cell_cost(call, unary_row(call.op)->flops); }
Cost binary_cost(const InferCall& call) { return cell_cost(call, binary_row(call.op)->flops); }

void infer_unary(InferCall& call) {
  const Meta& x = call.in[0];
  if (x.kind == Kind::matrix) {
    call.out[0] = matrix_meta(x.rows, x.cols, call.op.laws.zero == Zero::keeps && x.nnz == 0 ? 0 : -1);
    return;
  }
  const UnaryResult result = unary_row(call.op)->result;
  if (result == UnaryResult::negation && x.kind == Kind::boolean)
    call.fail("unary minus: expected a number or a matrix, found boolean");
  const bool keeps = (result == UnaryResult::negation && x.kind == Kind::integer) ||
                     (result == UnaryResult::logic && x.kind == Kind::boolean);
  call.out[0] = scalar_meta(keeps ? x.kind : Kind::real);
}

void infer_binary(InferCall& call) { call.out[0] = binary_meta(call, call.op, call.in[0], call.in[1]); }

Kind scalar_kind(InferCall& call, const Op& op, Kind a, Kind b) {
  const BinaryResult result = binary_row(op)->result;
  if (result == BinaryResult::compare) return Kind::boolean;
  if (a == Kind::string || b == Kind::string) {
    if (op.name != "+") call.fail("{}: expected numbers, found {} and {}", op.name, name(a), name(b));
    return Kind::string;
  }
  const bool real = a == Kind::real || b == Kind::real;
  switch (result) {
    case BinaryResult::logic:
      return real ? Kind::real : Kind::boolean;
    case BinaryResult::bits:
      return real ? Kind::real : Kind::integer;
    case BinaryResult::function:
      return real || (a == Kind::boolean && b == Kind::boolean) ? Kind::real : Kind::integer;
    default:
      break;
  }
  const bool infix = op.name.size() <= 3 && op.name != "log";
  if (infix && !real && (a == Kind::boolean) != (b == Kind::boolean))
    call.fail("{}: expected two ints, two booleans or a double, found {} and {}", op.name, name(a), name(b));
  return result == BinaryResult::joint && a == Kind::integer && b == Kind::integer ? Kind::integer : Kind::real;
}

// Exact count of non-zeros of the result where the operands' zeros decide it: 0 or unknown.
int64_t known_empty(const Op& op, const Meta& a, const Meta& b) {
  // A scalar may be NaN or infinite, so an empty matrix with a scalar need not stay empty.
  const bool matrices = a.kind == Kind::matrix && b.kind == Kind::matrix;
  const bool left = matrices && a.nnz == 0, right = matrices && b.nnz == 0;
  switch (op.laws.zero) {
    case Zero::left:
      return left ? 0 : -1;
    case Zero::right:
      return right ? 0 : -1;
    case Zero::either:
      return left || right ? 0 : -1;
    case Zero::both:
      return left && right ? 0 : -1;
    default:
      return -1;
  }
}

// The sizes of two matrices combined, as far as they are known; fails where the known ones cannot fit.
Meta joined_sizes(InferCall& call, const Op& op, const Meta& a, const Meta& b) {
  const auto misfit = [&] {
    call.fail("sizes do not fit: expected equal sizes, or on the right a row, a column or a 1x1 matrix, found {} {} {}",
              dims(a), op.name, dims(b));
  };
  if (a.sizes_known() && b.sizes_known()) {
    const Broadcast j = broadcast(a.rows, a.cols, b.rows, b.cols);
    if (!j.fits) misfit();
    return matrix_meta(j.rows, j.cols);
  }
  const bool may_be_outer = (a.cols == 1 || a.cols < 0) && (b.rows == 1 || b.rows < 0);
  if (a.rows >= 0 && b.rows >= 0 && a.rows != b.rows && b.rows != 1) misfit();
  if (a.cols >= 0 && b.cols >= 0 && a.cols != b.cols && b.cols != 1 && !may_be_outer) misfit();
  Meta out = matrix_meta(a.rows, a.cols);
  if (a.rows < 0 && b.rows >= 0 && b.rows != 1) out.rows = b.rows;
  if (a.cols < 0 || a.cols == 1) out.cols = b.cols >= 0 && b.cols != 1 ? b.cols : b.cols == 1 ? a.cols : -1;
  return out;
}

#define DML_UNARY(id, name_, alias, result, zero_, flops, hidden_, doc_, example_, ...) \
  {.name = name_,                                                                       \
   .aliases = {alias},                                                                  \
   .params = {param::of("x", kNumberOrMatrix)},                                         \
   .laws = {.zero = Zero::zero_, .cellwise = true},                                     \
   .infer = infer_unary,                                                                \
   .cost = unary_cost,                                                                  \
   .kernels = kUnaryKernels,                                                            \
   .doc = doc_,                                                                         \
   .example = example_,                                                                 \
   .hidden = hidden_},
#define DML_BINARY(id, name_, alias, result, order, zero, flops, doc_, example_, ...) \
  {.name = name_,                                                                     \
   .aliases = {alias},                                                                \
   .params = {param::of("x", accepts(BinaryResult::result, name_)),                   \
              param::of("y", accepts(BinaryResult::result, name_))},                  \
   .laws = binary_laws(Order::order, Zero::zero, BinaryResult::result, name_),        \
   .infer = infer_binary,                                                             \
   .cost = binary_cost,                                                               \
   .kernels = kBinaryKernels,                                                         \
   .doc = doc_,                                                                       \
   .example = example_},

constexpr Op kOps[] = {
#include "runtime/ops/binary.def"
#include "runtime/ops/unary.def"
};
#undef DML_UNARY
#undef DML_BINARY

constexpr size_t kBinary = std::size(kBinaryRows), kUnary = std::size(kUnaryRows);
static_assert(kBinary + kUnary == std::size(kOps));

// Position in kOps, or past its end for a row of another family.
size_t position(const Op& op) {
  const auto at = reinterpret_cast<uintptr_t>(&op), first = reinterpret_cast<uintptr_t>(kOps);
  return at < first ? std::size(kOps) : (at - first) / sizeof(Op);
}

}  // namespace

OpFamily elementwise_ops() { return kOps; }

const BinaryRow* binary_row(const Op& op) {
  const size_t at = position(op);
  return at < kBinary ? &kBinaryRows[at] : nullptr;
}
const UnaryRow* unary_row(const Op& op) {
  const size_t at = position(op);
  return at >= kBinary && at < kBinary + kUnary ? &kUnaryRows[at - kBinary] : nullptr;
}

template <class T>
const UnaryTiles<T>* unary_tiles(const Op& op) {
  const size_t at = position(op);
  return at >= kBinary && at < kBinary + kUnary ? unary_tile_table<T>() + (at - kBinary) : nullptr;
}
template <class T>
const BinaryTiles<T>* binary_tiles(const Op& op) {
  const size_t at = position(op);
  return at < kBinary ? binary_tile_table<T>() + at : nullptr;
}
template const UnaryTiles<double>* unary_tiles(const Op&);
template const UnaryTiles<float>* unary_tiles(const Op&);
template const BinaryTiles<double>* binary_tiles(const Op&);
template const BinaryTiles<float>* binary_tiles(const Op&);

const Op* find_binary(std::string_view name) {
  for (size_t i = 0; i < kBinary; ++i)
    if (kOps[i].name == name || kOps[i].aliases[0] == name) return &kOps[i];
  return nullptr;
}

Meta binary_meta(InferCall& call, const Op& op, const Meta& a, const Meta& b) {
  if (a.kind != Kind::matrix && b.kind != Kind::matrix) return scalar_meta(scalar_kind(call, op, a.kind, b.kind));
  if (a.kind == Kind::string || b.kind == Kind::string)
    call.fail("{}: expected numbers or matrices, found {} and {}", op.name, name(a.kind), name(b.kind));
  Meta out = a.kind != Kind::matrix   ? matrix_meta(b.rows, b.cols)
             : b.kind != Kind::matrix ? matrix_meta(a.rows, a.cols)
                                      : joined_sizes(call, op, a, b);
  out.nnz = known_empty(op, a, b);
  return out;
}

}  // namespace hopline
