// Statements and expressions of register programs.
#include <algorithm>

#include "planner/lower/scalar_compiler.h"
#include "runtime/ops/elementwise.h"

namespace hopline {

namespace {

constexpr int kDeepest = 2000;  // expressions within expressions

struct Deeper {
  int& depth;
  explicit Deeper(int& d) : depth(d) {
    if (++depth > kDeepest) throw Refused();
  }
  ~Deeper() { --depth; }
};

int reads(const Expr* e, int32_t slot);

int reads(const IndexRange& range, int32_t slot) { return reads(range.low, slot) + reads(range.high, slot); }

// How often the expression reads the variable.
int reads(const Expr* e, int32_t slot) {
  if (e == nullptr) return 0;
  int n = 0;
  if (const auto* name = std::get_if<Name>(&e->node)) return name->slot == slot ? 1 : 0;
  if (const auto* o = std::get_if<Operator>(&e->node))
    for (const Expr* x : o->operands) n += reads(x, slot);
  if (const auto* c = std::get_if<CallExpr>(&e->node))
    for (const Argument& a : c->arguments) n += reads(a.value, slot);
  if (const auto* x = std::get_if<Index>(&e->node))
    n += (x->base.slot == slot ? 1 : 0) + reads(x->rows, slot) + reads(x->cols, slot);
  return n;
}

const Op& row(std::string_view name, size_t arguments) { return op(name, arguments); }

}  // namespace

// Does the statement read the variable once, and is its value gone afterwards?
bool ScalarFunction::read_once(int32_t slot) const {
  if (statement_ == nullptr) return false;
  bool gone = std::find(statement_->dies.begin(), statement_->dies.end(), slot) != statement_->dies.end();
  int n = 0;
  const auto target = [&](const Target& t, bool reads_old) {
    n += reads(t.rows, slot) + reads(t.cols, slot);
    if (t.variable.slot != slot) return;
    gone = true;
    n += t.indexed || reads_old ? 1 : 0;
  };
  if (const auto* a = std::get_if<Assign>(&statement_->node)) {
    target(a->target, a->accumulate);
    n += reads(a->value, slot);
  } else if (const auto* m = std::get_if<MultiAssign>(&statement_->node)) {
    for (const Target& t : m->targets) target(t, false);
    n += reads(m->call, slot);
  } else if (const auto* c = std::get_if<CallStmt>(&statement_->node)) {
    n += reads(c->call, slot);
  }
  return gone && n == 1;
}

void ScalarFunction::touch(int32_t slot) {
  if (scope_ == nullptr || !touched_.emplace(slot, true).second) return;
  const Value& v = scope_->slots[static_cast<size_t>(slot)];
  program_.guards.push_back({slot, kind_of(v)});
  const auto* list = std::get_if<ListRef>(&v);
  if (list == nullptr) return;
  for (const Value& e : (*list)->entries)  // of matrices: code for plans
    if (!is_scalar(kind_of(e))) throw Refused();
}

ScalarValue ScalarFunction::read(int32_t slot, const Span& span) {
  touch(slot);
  Kinds& k = variables_[static_cast<size_t>(slot)];
  const Kinds assigned = k & ~kNone;
  if (k == kDead || assigned == 0 || within(assigned, kMatrix | kFrame)) throw Refused();
  const bool raw = is_raw(k);
  const int32_t reg = home(slot, !raw);
  if (k != assigned) {
    at(span);
    emit(raw ? Operation::check_flag : Operation::check_value, raw ? flag(slot) : reg,
         static_cast<int32_t>(name_index(routine_.slots[static_cast<size_t>(slot)])));
    k = assigned;
  }
  return {assigned, !raw, reg, !raw && read_once(slot)};
}

void ScalarFunction::set(int32_t slot, const ScalarValue& x) {
  touch(slot);
  assigned_[slot] = true;
  const bool boxed = !is_raw(x.kinds);
  move_to(boxed, home(slot, boxed), x);
  variables_[static_cast<size_t>(slot)] = x.kinds;
}

void ScalarFunction::statement(const Stmt& stmt) {
  statement_ = &stmt;
  at(stmt.span);
  if (const auto* a = std::get_if<Assign>(&stmt.node)) {
    assign(*a);
  } else if (const auto* m = std::get_if<MultiAssign>(&stmt.node)) {
    assign_several(*m);
  } else if (const auto* c = std::get_if<CallStmt>(&stmt.node)) {
    expression(*c->call);
  } else {
    throw Refused();
  }
  statement_ = nullptr;
  end_statement();
}

void ScalarFunction::assign(const Assign& a) {
  const int32_t slot = a.target.variable.slot;
  ScalarValue value = expression(*a.value);
  if (a.target.indexed) {
    const ScalarValue base = read(slot, a.target.span);
    if (base.kinds != kList || a.accumulate) throw Refused();
    std::vector<ScalarValue> in{base, value};
    for (const ScalarValue& x : bounds(a.target.rows, a.target.cols)) in.push_back(x);
    value = apply(row("[]=", 6), in, {}, a.target.span).front();
  } else if (a.accumulate) {
    const ScalarValue old = read(slot, a.target.span);
    at(a.target.span);
    value = infix(row("+", 2), old, value);
  }
  at(a.target.span);
  set(slot, value);
}

void ScalarFunction::assign_several(const MultiAssign& m) {
  const auto* c = std::get_if<CallExpr>(&m.call->node);
  if (c == nullptr || c->op == nullptr || c->op->outputs < m.targets.size()) throw Refused();
  std::vector<ScalarValue> in;
  for (const Argument& a : c->arguments) in.push_back(a.value == nullptr ? constant(Value()) : expression(*a.value));
  const std::vector<ScalarValue> out = apply(*c->op, in, {}, m.call->span);
  for (size_t k = 0; k < m.targets.size(); ++k) {
    if (m.targets[k].indexed) throw Refused();
    set(m.targets[k].variable.slot, out[k]);
  }
}

ScalarValue ScalarFunction::expression(const Expr& e) {
  const Deeper deeper(whole_.depth);
  if (const auto* l = std::get_if<Literal>(&e.node))
    return constant(std::visit([](const auto& v) { return Value(v); }, l->value));
  if (const auto* n = std::get_if<Name>(&e.node)) return read(n->slot, e.span);
  if (const auto* x = std::get_if<Index>(&e.node)) return index(*x, e.span);
  if (const auto* c = std::get_if<CallExpr>(&e.node)) return call(*c, e.span);
  const auto* o = std::get_if<Operator>(&e.node);
  if (o == nullptr) throw Refused();
  std::vector<ScalarValue> in;
  for (const Expr* x : o->operands) in.push_back(expression(*x));
  at(e.span);
  if (in.size() == 2 && binary_row(*o->op) != nullptr) return infix(*o->op, in[0], in[1]);
  if (in.size() == 1 && unary_row(*o->op) != nullptr) return one(*o->op, in[0]);
  return apply(*o->op, in, {}, e.span).front();
}

ScalarValue ScalarFunction::call(const CallExpr& c, const Span& span) {
  static const Op &as_scalar = row("as.scalar", 1), &length = row("length", 1), &nrow = row("nrow", 1);
  static const Op &as_real = row("as.double", 1), &as_whole = row("as.integer", 1), &as_bool = row("as.logical", 1);
  if (c.op == nullptr || c.name == "exists" || c.op->laws.purity == Purity::random) throw Refused();
  if (c.op == &as_scalar)
    if (const auto* x = std::get_if<Index>(&c.arguments.front().value->node))
      return entry(*x, c.arguments.front().value->span);
  std::vector<ScalarValue> in;
  std::vector<std::string> names;
  bool named = false;
  for (const Argument& a : c.arguments) {
    in.push_back(a.value == nullptr ? constant(Value()) : expression(*a.value));
    named = named || !a.name.empty();
  }
  if (named && c.op->params.variadic)
    for (const Argument& a : c.arguments) names.push_back(a.name);
  at(span);
  if (in.size() == 2 && binary_row(*c.op) != nullptr) return infix(*c.op, in[0], in[1]);
  if (in.size() == 1 && unary_row(*c.op) != nullptr) return one(*c.op, in[0]);
  if (in.size() == 1 && within(in[0].kinds, kNumber)) {
    if (c.op == &as_real) return to_real(in[0]);
    if (c.op == &as_bool) return to_bool(in[0]);
    if (c.op == &as_whole && is_one(in[0].kinds)) return to_int(in[0]);
  }
  if ((c.op == &length || c.op == &nrow) && in[0].kinds == kList && in[0].reg >= 0)
    return result(Kind::integer, Operation::list_length, in[0].reg);
  const std::vector<ScalarValue> out = apply(*c.op, in, std::move(names), span);
  return out.empty() ? ScalarValue() : out.front();
}

std::vector<ScalarValue> ScalarFunction::bounds(const IndexRange& rows, const IndexRange& cols) {
  std::vector<ScalarValue> out;
  for (const IndexRange* r : {&rows, &cols}) {
    out.push_back(r->given ? expression(*r->low) : constant(Value()));
    ScalarValue low = out.back();
    low.movable = out.back().movable = false;  // it is given twice
    out.push_back(r->given && r->high != nullptr ? expression(*r->high) : low);
  }
  return out;
}

ScalarValue ScalarFunction::index(const Index& x, const Span& span) {
  const ScalarValue base = read(x.base.slot, span);
  if (base.kinds != kList) throw Refused();
  std::vector<ScalarValue> in{base};
  for (const ScalarValue& b : bounds(x.rows, x.cols)) in.push_back(b);
  return apply(row("[]", 5), in, {}, span).front();
}

// as.scalar(L[i]): the entry, without a list between.
ScalarValue ScalarFunction::entry(const Index& x, const Span& span) {
  static const Op& as_scalar = row("as.scalar", 1);
  const ScalarValue base = read(x.base.slot, span);
  if (base.kinds != kList || !x.rows.given) throw Refused();
  const bool single = x.rows.high == nullptr && !x.cols.given;
  if (single) {
    const ScalarValue at_entry = expression(*x.rows.low);
    at(span);
    if (is_one(at_entry.kinds) && within(at_entry.kinds, kNumber)) {
      const int32_t out = temporary(true);
      const int32_t position = to_int(at_entry).reg;
      emit(Operation::list_entry, out, base.reg, position);
      return {kAny, true, out, true};
    }
    const std::vector<ScalarValue> in{base, at_entry, at_entry, constant(Value()), constant(Value())};
    return apply(as_scalar, {apply(row("[]", 5), in, {}, span).front()}, {}, span).front();
  }
  return apply(as_scalar, {index(x, span)}, {}, span).front();
}

ScalarValue ScalarFunction::infix(const Op& op, const ScalarValue& x, const ScalarValue& y) {
  bool certain = true;
  const Kinds both[] = {x.kinds, y.kinds};
  if (output_kinds(op, both, {}, certain).empty()) throw Refused();
  if (certain && within(x.kinds, kNumber) && within(y.kinds, kNumber)) {
    if (is_one(x.kinds) && is_one(y.kinds)) return numbers(op, x, y);
    if (x.kinds == kReal || y.kinds == kReal) return numbers(op, to_real(x), to_real(y));
  }
  const bool text = x.kinds == kString || y.kinds == kString;
  if (text && op.name == "+" && within(x.kinds, kScalar) && within(y.kinds, kScalar)) return concatenate(x, y);
  return apply(op, {x, y}, {}, span()).front();
}

// Both of one numeric kind.
ScalarValue ScalarFunction::numbers(const Op& op, const ScalarValue& x, const ScalarValue& y) {
  const bool real = x.kinds == kReal || y.kinds == kReal;
  const bool whole = !real && (x.kinds == kInteger || y.kinds == kInteger);
  const BinaryResult gives = binary_row(op)->result;
  if (gives == BinaryResult::compare) return compare(op, x, y);
  if (whole && (gives == BinaryResult::joint || gives == BinaryResult::function)) return whole_numbers(op, x, y);
  if (gives == BinaryResult::logic && !real) {
    const int32_t a = to_bool(x).reg, b = to_bool(y).reg;
    const Operation what = op.name == "&"   ? Operation::and_bool
                           : op.name == "|" ? Operation::or_bool
                                            : Operation::xor_bool;
    return result(Kind::boolean, what, a, b);
  }
  const int32_t a = to_real(x).reg, b = to_real(y).reg;
  if (op.name == "+") return result(Kind::real, Operation::add_real, a, b);
  if (op.name == "-") return result(Kind::real, Operation::subtract_real, a, b);
  if (op.name == "*") return result(Kind::real, Operation::multiply_real, a, b);
  if (op.name == "/") return result(Kind::real, Operation::divide_real, a, b);
  const size_t f = binary_function(binary_tiles<double>(op)->cell);
  const ScalarValue out = result(Kind::real, Operation::function_of_two, a, b, f);
  return gives == BinaryResult::bits && !real ? to_int(out) : out;
}

ScalarValue ScalarFunction::whole_numbers(const Op& op, const ScalarValue& x, const ScalarValue& y) {
  static constexpr std::pair<std::string_view, Operation> kWhole[] = {
      {"+", Operation::add_int},        {"-", Operation::subtract_int},   {"*", Operation::multiply_int},
      {"%/%", Operation::quotient_int}, {"%%", Operation::remainder_int}, {"min", Operation::minimum_int},
      {"max", Operation::maximum_int},
  };
  const int32_t a = to_int(x).reg, b = to_int(y).reg;
  for (const auto& [name, what] : kWhole)
    if (op.name == name) return result(Kind::integer, what, a, b, whole_row(op));
  throw Refused();
}

ScalarValue ScalarFunction::compare(const Op& op, const ScalarValue& x, const ScalarValue& y) {
  const bool real = x.kinds == kReal || y.kinds == kReal;
  int32_t a = real ? to_real(x).reg : number(x).reg, b = real ? to_real(y).reg : number(y).reg;
  if (op.name.front() == '>') std::swap(a, b);
  if (op.name == "<" || op.name == ">")
    return result(Kind::boolean, real ? Operation::less_real : Operation::less_int, a, b);
  if (op.name == "<=" || op.name == ">=")
    return result(Kind::boolean, real ? Operation::less_equal_real : Operation::less_equal_int, a, b);
  if (op.name == "==") return result(Kind::boolean, real ? Operation::equal_real : Operation::equal_int, a, b);
  return result(Kind::boolean, real ? Operation::not_equal_real : Operation::not_equal_int, a, b);
}

ScalarValue ScalarFunction::one(const Op& op, const ScalarValue& x) {
  const UnaryResult gives = unary_row(op)->result;
  if (within(x.kinds, kNumber)) {
    if (gives == UnaryResult::negation && (x.kinds == kInteger || x.kinds == kReal)) {
      const ScalarValue n = number(x);
      return result(x.kind(), x.kinds == kReal ? Operation::negate_real : Operation::negate_int, n.reg);
    }
    if (gives == UnaryResult::logic && x.kinds == kBoolean)
      return result(Kind::boolean, Operation::not_bool, number(x).reg);
    if (gives == UnaryResult::real || (gives == UnaryResult::logic && (x.kinds & kBoolean) == 0)) {
      const int32_t a = to_real(x).reg;
      return result(Kind::real, Operation::function_of_one, a, 0, unary_function(unary_tiles<double>(op)->cell));
    }
  }
  return apply(op, {x}, {}, span()).front();
}

ScalarValue ScalarFunction::concatenate(const ScalarValue& x, const ScalarValue& y) {
  const ScalarValue text = owned_text(x);
  append_to(text, y);
  return text;
}

std::vector<ScalarValue> ScalarFunction::apply(const Op& op, const std::vector<ScalarValue>& in,
                                               std::vector<std::string> names, const Span& span) {
  if (op.laws.purity == Purity::random) throw Refused();
  std::vector<Kinds> given;
  for (const ScalarValue& x : in) given.push_back(x.kinds);
  bool certain = true;
  const std::vector<Kinds> gives = output_kinds(op, given, names, certain);
  if (gives.empty() && op.outputs > 0) throw Refused();
  for (const Kinds k : gives)
    if (within(k, kMatrix | kFrame | kNone)) throw Refused();
  Application a;
  a.op = &op;
  a.check_kinds = !certain;
  a.names = std::move(names);
  for (size_t k = 0; k < in.size(); ++k) {
    const ScalarValue x = boxed(in[k]);
    a.in.push_back(x.reg);
    if (x.movable && k < 32) a.last_use |= uint32_t{1} << k;
  }
  const bool binary = in.size() == 2 && binary_row(op) != nullptr;
  a.takes_text = binary && (op.name == "+" || binary_row(op)->result == BinaryResult::compare);
  std::vector<ScalarValue> out;
  const int32_t first = op.outputs == 0 ? 0 : temporary_values(op.outputs);
  a.out = first;
  for (size_t k = 0; k < op.outputs; ++k) out.push_back({gives[k], true, first + static_cast<int32_t>(k), true});
  program_.applications.push_back(std::move(a));
  at(span);
  emit(binary ? Operation::apply_binary : Operation::apply, static_cast<int32_t>(program_.applications.size() - 1));
  return out;
}

}  // namespace hopline
