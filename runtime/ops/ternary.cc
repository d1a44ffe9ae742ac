// Cell-wise functions of more than two arguments, and those that take the operator as text: ifelse, min and max of
// three or more, outer, ppred.
#include <algorithm>

#include "runtime/ops/elementwise.h"
#include "runtime/ops/families.h"
#include "runtime/ops/text.h"

namespace hopline {

namespace {

// `left op right`; the values are this function's own, so matrices may be written in place.
Value combine(Call& call, const Op& op, Value left, Value right) {
  Value* const in[] = {&left, &right};
  Value out[1];
  Call pair{call.ctx, op, in, out, 3, call.span};
  return run_binary(pair, op, 0, 1);
}

// ---- min and max of three or more

const Op& pairwise(const Op& op) { return *find_binary(op.name); }

void infer_several(InferCall& call) {
  const Op& op = pairwise(call.op);
  Meta out = call.in[0];
  for (size_t i = 1; i < call.in.size(); ++i) out = binary_meta(call, op, out, call.in[i]);
  if (out.kind != Kind::matrix) out.kind = Kind::real;
  call.out[0] = out;
}

void run_several(Call& call) {
  const Op& op = pairwise(call.op);
  Value out = call.take_value(0);
  if (is_scalar(kind_of(out))) out = call.real(0);
  for (size_t i = 1; i < call.in.size(); ++i) {
    if (call.is_matrix(i))
      out = combine(call, op, std::move(out), call.take_value(i));
    else
      out = combine(call, op, std::move(out), call.real(i));
  }
  call.out[0] = std::move(out);
}

Cost several_cost(const InferCall& call) {
  Cost cost;
  const Meta& out = call.out[0];
  const double cells = out.sizes_known() ? static_cast<double>(out.rows) * static_cast<double>(out.cols) : 1;
  const auto passes = static_cast<double>(call.in.size() - 1);
  cost.flops = 2 * cells * passes;
  cost.bytes_read = 16 * cells * passes;
  cost.bytes_written = 8 * cells * passes;
  return cost;
}

// ---- the operator as text: outer, ppred

bool is_comparison(const Op& op) { return binary_row(op)->result == BinaryResult::compare; }

void infer_named(InferCall& call, bool comparisons_only) {
  const auto text = call.string(2);
  if (!text) return;
  const Op* op = find_binary(*text);
  if (op == nullptr || (comparisons_only && !is_comparison(*op)))
    call.fail("{}: expected {} as the operator, found \"{}\"", call.op.name,
              comparisons_only ? "one of < <= > >= == !=" : "a binary operator such as \"*\" or \"min\"", *text);
}

const Op& named_operator(Call& call, bool comparisons_only) {
  const Op* op = find_binary(call.string(2));
  if (op == nullptr || (comparisons_only && !is_comparison(*op)))
    call.fail("{}: expected a binary operator, found \"{}\"", call.op.name, call.string(2));
  return *op;
}

void infer_outer(InferCall& call) {
  infer_named(call, false);
  const Meta &u = call.in[0], &v = call.in[1];
  if ((u.cols >= 0 && u.cols != 1) || (v.rows >= 0 && v.rows != 1))
    call.fail("outer: expected a column vector and a row vector, found {} and {}", dims(u), dims(v));
  call.out[0] = matrix_meta(u.rows, v.cols);
}

void run_outer(Call& call) {
  const Op& op = named_operator(call, false);
  const bool one_row = call.matrix(0).rows() == 1;
  Value u = one_row ? operand(*call.in[0], Form::one).value : call.take_value(0);  // first: v may be the same slot
  call.out[0] = combine(call, op, std::move(u), call.take_value(1));
}

void infer_ppred(InferCall& call) {
  infer_named(call, true);
  if (call.in[0].kind != Kind::matrix && call.in[1].kind != Kind::matrix)
    call.fail("ppred: expected at least one matrix, found {} and {}", name(call.in[0].kind), name(call.in[1].kind));
  call.out[0] = binary_meta(call, *find_binary("<"), call.in[0], call.in[1]);
  call.out[0].nnz = -1;
}

void run_ppred(Call& call) { call.out[0] = run_binary(call, named_operator(call, true), 0, 1); }

// ---- ifelse

Kind joint_kind(Kind a, Kind b) {
  if (a == b) return a;
  if (a == Kind::string || b == Kind::string) return Kind::string;
  return a == Kind::real || b == Kind::real ? Kind::real : Kind::integer;
}

void infer_ifelse(InferCall& call) {
  const bool any = std::any_of(call.in.begin(), call.in.end(), [](const Meta& m) { return m.kind == Kind::matrix; });
  if (!any) {
    call.out[0] = scalar_meta(joint_kind(call.in[1].kind, call.in[2].kind));
    return;
  }
  Meta out = matrix_meta(1, 1);
  bool certain = true;
  for (const Meta& m : call.in) {
    if (m.kind == Kind::string) call.fail("ifelse: expected numbers or matrices, found a string and a matrix");
    if (m.kind != Kind::matrix) continue;
    if (!m.sizes_known()) certain = false;
    if (!m.sizes_known() || (m.rows == 1 && m.cols == 1)) continue;
    if ((out.rows != 1 || out.cols != 1) && (out.rows != m.rows || out.cols != m.cols))
      call.fail("ifelse: expected matrices of the same size, found {} and {}", dims(out), dims(m));
    out = matrix_meta(m.rows, m.cols);
  }
  if (!certain && out.rows == 1 && out.cols == 1) out = matrix_meta(-1, -1);
  call.out[0] = out;
}

bool all_scalars(const Call& call) { return !call.is_matrix(0) && !call.is_matrix(1) && !call.is_matrix(2); }

void ifelse_scalars(Call& call) {
  const Kind kind = joint_kind(call.kind(1), call.kind(2));
  const size_t chosen = call.boolean(0) ? 1 : 2;
  if (kind == call.kind(chosen))
    call.out[0] = call.take_value(chosen);
  else if (kind == Kind::string)
    call.out[0] = scalar_text(*call.in[chosen]);
  else if (kind == Kind::real)
    call.out[0] = call.real(chosen);
  else
    call.out[0] = call.integer(chosen);
}

struct Sizes {
  int64_t rows = 1, cols = 1;
};
Sizes result_sizes(const Call& call) {
  for (size_t i = 0; i < 3; ++i)
    if (call.is_matrix(i) && (call.matrix(i).rows() != 1 || call.matrix(i).cols() != 1))
      return {call.matrix(i).rows(), call.matrix(i).cols()};
  return {};
}
bool has_sizes(const Call& call, size_t i, Sizes s) {
  return call.is_matrix(i) && call.matrix(i).rows() == s.rows && call.matrix(i).cols() == s.cols;
}
Operand argument(const Call& call, size_t i, Sizes s) {
  return operand(*call.in[i], has_sizes(call, i, s) ? Form::whole : Form::one);
}

// One condition for all cells: the branch itself.
bool takes_one_condition(const Call& call) {
  return !all_scalars(call) && argument(call, 0, result_sizes(call)).form == Form::one;
}
void ifelse_chosen(Call& call) {
  const Sizes s = result_sizes(call);
  const size_t chosen = argument(call, 0, s).value != 0 ? 1 : 2;
  if (has_sizes(call, chosen, s))
    call.out[0] = call.take_value(chosen);
  else
    call.set(new_constant(call.ctx, s.rows, s.cols, operand(*call.in[chosen], Form::one).value));
}

// A sparse condition with 0 elsewhere: cells where the condition is stored.
bool takes_stored_condition(const Call& call) {
  if (!call.is_matrix(0) || !call.matrix(0).is_sparse()) return false;
  const Sizes s = result_sizes(call);
  const Operand no = argument(call, 2, s);
  return has_sizes(call, 0, s) && no.form == Form::one && no.value == 0;
}
void ifelse_stored(Call& call) {
  const Sizes s = result_sizes(call);
  with_real(call.ctx, [&](auto t) { call.set(gather_on_pattern<decltype(t)>(call, 0, argument(call, 1, s))); });
}

template <class T>
void ifelse_tiled(Call& call) {
  const Sizes s = result_sizes(call);
  const TileReader<T> condition(call.ctx, argument(call, 0, s), s.rows, s.cols);
  const TileReader<T> yes(call.ctx, argument(call, 1, s), s.rows, s.cols);
  const TileReader<T> no(call.ctx, argument(call, 2, s), s.rows, s.cols);
  std::shared_ptr<MatrixBlock> out;
  for (size_t i = 0; i < 3 && !out; ++i)
    if (has_sizes(call, i, s) && call.matrix(i).is_dense()) out = call.take(i);
  if (!out) out = new_dense<T>(call.ctx, s.rows, s.cols);
  T* to = out->template dense<T>();
  for_tiles(call.ctx, s.rows * s.cols, kCellGrain, [&](int64_t begin, int64_t n) {
    T scratch[3][kTile];
    ifelse_tile(condition.read(begin, n, scratch[0]), yes.read(begin, n, scratch[1]), no.read(begin, n, scratch[2]),
                to + begin, static_cast<size_t>(n));
  });
  call.set(std::move(out));
}
void ifelse_tiles(Call& call) {
  with_real(call.ctx, [&](auto t) { ifelse_tiled<decltype(t)>(call); });
}

// Cell by cell; what the other kernels are compared with.
void ifelse_reference(Call& call) {
  if (all_scalars(call)) return ifelse_scalars(call);
  with_real(call.ctx, [&](auto t) {
    using T = decltype(t);
    const Sizes s = result_sizes(call);
    MatrixRef cells[3];
    for (size_t i = 0; i < 3; ++i) {
      const Operand o = argument(call, i, s);
      cells[i] = to_dense<T>(call.ctx, o.form == Form::one ? new_constant(call.ctx, s.rows, s.cols, o.value) : *o.ref);
    }
    auto out = new_dense<T>(call.ctx, s.rows, s.cols);
    T* to = out->template dense<T>();
    for (int64_t e = 0; e < s.rows * s.cols; ++e)
      to[e] = cells[cells[0]->template dense<T>()[e] != 0 ? 1 : 2]->template dense<T>()[e];
    call.set(settle<T>(call.ctx, std::move(out)));
  });
}

constexpr Kernel kIfelse[] = {{"scalars", all_scalars, ifelse_scalars},
                              {"chosen", takes_one_condition, ifelse_chosen},
                              {"stored", takes_stored_condition, ifelse_stored},
                              {"tiles", [](const Call& c) { return !all_scalars(c); }, ifelse_tiles},
                              {"reference", nullptr, ifelse_reference}};
constexpr Kernel kSeveral[] = {{"pairs", nullptr, run_several}};
constexpr Kernel kOuter[] = {{"pairs", nullptr, run_outer}};
constexpr Kernel kPpred[] = {{"pairs", nullptr, run_ppred}};

constexpr Kinds kNumberOrMatrix = kNumber | kMatrix;
constexpr Params kThree =
    Params{param::of("x", kNumberOrMatrix), param::of("y", kNumberOrMatrix), param::of("more", kNumberOrMatrix)}
        .repeat_last();

constexpr Op kOps[] = {
    {.name = "ifelse",
     .params = {param::of("condition", kNumberOrMatrix), param::of("yes", kScalar | kMatrix),
                param::of("no", kScalar | kMatrix)},
     .laws = {.cellwise = true},
     .infer = infer_ifelse,
     .kernels = kIfelse,
     .doc = "cell of the second argument where the condition is not 0, else of the third",
     .example = "print(ifelse(2 > 1, 3, 4.0))  # expect: 3.0"},
    {.name = "min",
     .params = kThree,
     .laws = {.commutative = true, .associative = true, .zero = Zero::both},
     .infer = infer_several,
     .cost = several_cost,
     .kernels = kSeveral,
     .doc = "smallest cell of three or more arguments; NaN where one is NaN",
     .example = "print(min(3, 1, 2))  # expect: 1.0"},
    {.name = "max",
     .params = kThree,
     .laws = {.commutative = true, .associative = true, .zero = Zero::both},
     .infer = infer_several,
     .cost = several_cost,
     .kernels = kSeveral,
     .doc = "largest cell of three or more arguments; NaN where one is NaN",
     .example = "print(max(3, 1, 2))  # expect: 3.0"},
    {.name = "outer",
     .params = {param::matrix("u"), param::matrix("v"), param::text("op")},
     .laws = {.failure = Failure::by_data},
     .infer = infer_outer,
     .kernels = kOuter,
     .doc = "u[i] op v[j] for every cell of a column u and a row v; op is a binary operator as text",
     .example = "print(sum(outer(seq(1, 3), t(seq(1, 2)), \"*\")))  # expect: 18.0"},
    {.name = "ppred",
     .params = {param::of("x", kNumberOrMatrix), param::of("y", kNumberOrMatrix), param::text("op")},
     .laws = {.failure = Failure::by_data},
     .infer = infer_ppred,
     .kernels = kPpred,
     .doc = "old name of a comparison: 1 where x op y holds, else 0",
     .example = "print(sum(ppred(seq(1, 3), 2, \">=\")))  # expect: 2.0"},
};

}  // namespace

OpFamily ternary_ops() { return kOps; }

}  // namespace hopline
