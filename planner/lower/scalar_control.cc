// Control flow and calls of register programs.
#include <algorithm>

#include "planner/lower/scalar_compiler.h"
#include "runtime/ops/elementwise.h"

namespace hopline {

namespace {

constexpr int kDeepest = 400;  // nodes within nodes, functions within functions

bool contains(const std::vector<int32_t>& slots, int32_t slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

}  // namespace

void ScalarFunction::sequence(const NodeList& nodes) {
  for (const Node& n : nodes) node(n);
}

void ScalarFunction::node(const Node& n) {
  if (++whole_.depth > kDeepest) throw Refused();
  if (std::holds_alternative<Step>(n.what)) {
    statement(*static_cast<const Stmt*>(n.statement));
  } else if (const auto* b = std::get_if<Branch>(&n.what)) {
    branch(n, *b);
  } else if (const auto* l = std::get_if<Loop>(&n.what)) {
    loop(n, *l);
  } else if (const auto* c = std::get_if<Count>(&n.what)) {
    count(n, *c);
  } else {
    invoke(n, std::get<Invoke>(n.what));
  }
  kill(n.dies);
  --whole_.depth;
}

// The variables are read no more; their values are given up.
void ScalarFunction::kill(const std::vector<int32_t>& slots) {
  for (const int32_t s : slots) {
    Kinds& k = variables_[static_cast<size_t>(s)];
    const bool here = scope_ == nullptr || touched_.count(s) > 0;
    if (here && k != kDead && k != kNone && !is_raw(k)) emit(Operation::clear_value, home(s, true));
    k = kDead;
  }
}

ScalarFunction::Variables ScalarFunction::meet(const Variables& a, const Variables& b) const {
  Variables out(a.size());
  for (size_t s = 0; s < a.size(); ++s) out[s] = join(a[s], b[s]);
  return out;
}

ScalarFunction::Test ScalarFunction::test_of(const ScalarValue& x) {
  Test t;
  if (!within(x.kinds, kNumber)) {
    if ((x.kinds & kNumber) == 0) throw Refused();
    const ScalarValue given = boxed(x);
    t.yes_a = t.no_a = result(Kind::boolean, Operation::truth, given.reg).reg;
    return t;
  }
  t.yes_a = t.no_a = is_one(x.kinds) && x.kinds != kReal ? number(x).reg : to_bool(x).reg;
  return t;
}

// A comparison of numbers as the jump itself.
ScalarFunction::Test ScalarFunction::comparison(const Operator& o) {
  const ScalarValue x = expression(*o.operands[0]), y = expression(*o.operands[1]);
  const bool numeric = within(x.kinds, kNumber) && within(y.kinds, kNumber);
  const bool real = x.kinds == kReal || y.kinds == kReal;
  if (!numeric || (!real && !(is_one(x.kinds) && is_one(y.kinds)))) return test_of(infix(*o.op, x, y));
  int32_t a = real ? to_real(x).reg : number(x).reg, b = real ? to_real(y).reg : number(y).reg;
  const std::string_view name = o.op->name;
  if (name.front() == '>') std::swap(a, b);
  Test t{Operation::jump, Operation::jump, a, b, a, b};
  if (name == "==" || name == "!=") {
    t.yes = real ? Operation::jump_equal_real : Operation::jump_equal_int;
    t.no = real ? Operation::jump_not_equal_real : Operation::jump_not_equal_int;
    if (name == "!=") std::swap(t.yes, t.no);
    return t;
  }
  const bool less = name == "<" || name == ">";
  if (real) {  // with a NaN neither a < b nor b <= a holds
    t.yes = less ? Operation::jump_less_real : Operation::jump_less_equal_real;
    t.no = less ? Operation::jump_not_less_real : Operation::jump_not_less_equal_real;
    return t;
  }
  t.yes = less ? Operation::jump_less_int : Operation::jump_less_equal_int;
  t.no = less ? Operation::jump_less_equal_int : Operation::jump_less_int;
  std::swap(t.no_a, t.no_b);
  return t;
}

ScalarFunction::Test ScalarFunction::test(const NodeList& before, int32_t predicate, const Node& n) {
  const auto* last = before.empty() || !std::holds_alternative<Step>(before.back().what)
                         ? nullptr
                         : static_cast<const Stmt*>(before.back().statement);
  const auto* step = last == nullptr ? nullptr : std::get_if<Assign>(&last->node);
  const bool own = step != nullptr && step->target.variable.slot == predicate && !step->target.indexed &&
                   !step->accumulate && routine_.slots[static_cast<size_t>(predicate)] == "%predicate";
  if (!own) {
    sequence(before);
    const ScalarValue x = read(predicate, n.span);
    at(n.span);
    return test_of(x);
  }
  for (size_t k = 0; k + 1 < before.size(); ++k) node(before[k]);
  statement_ = last;
  const auto* o = std::get_if<Operator>(&step->value->node);
  const BinaryRow* row = o == nullptr || o->operands.size() != 2 ? nullptr : binary_row(*o->op);
  Test t;
  if (row != nullptr && row->result == BinaryResult::compare) {
    at(step->value->span);
    t = comparison(*o);
  } else {
    const ScalarValue x = expression(*step->value);
    at(n.span);
    t = test_of(x);
  }
  statement_ = nullptr;
  kill(before.back().dies);
  return t;
}

void ScalarFunction::branch(const Node& n, const Branch& b) {
  const Test t = test(b.before, b.predicate, n);
  at(n.span);
  const size_t unless = jump_unless(t);
  end_statement();
  const Variables entry = variables_;
  sequence(b.then);
  const Variables then = variables_;
  if (b.otherwise.empty()) {
    variables_ = meet(then, entry);
    convert(then, variables_);
    if (!differs(entry, variables_)) return land(unless);
    const size_t end = emit(Operation::jump);
    land(unless);
    convert(entry, variables_);
    return land(end);
  }
  const size_t after_then = emit(Operation::jump);
  land(unless);
  variables_ = entry;
  sequence(b.otherwise);
  const Variables otherwise = variables_;
  variables_ = meet(then, otherwise);
  convert(otherwise, variables_);
  if (!differs(then, variables_)) return land(after_then);
  const size_t end = emit(Operation::jump);
  land(after_then);
  convert(then, variables_);
  land(end);
}

// The predicate stands before the body and again after it, so that an iteration takes one jump. The kinds at the begin
// are found by trying: when the body makes more of them, the loop is compiled again.
void ScalarFunction::loop(const Node& n, const Loop& l) {
  const Variables entry = variables_;
  const size_t start = here();
  Variables header = headers_.count(&n) > 0 ? meet(headers_[&n], entry) : entry;
  for (;;) {
    convert(entry, header);
    variables_ = header;
    const Test first = test(l.before, l.predicate, n);
    at(n.span);
    const size_t unless = jump_unless(first);
    end_statement();
    const Variables tested = variables_;
    const size_t body = here();
    sequence(l.body);
    const Variables joined = meet(header, variables_);
    if (joined == header) {
      convert(variables_, header);
      variables_ = header;
      const Test again = test(l.before, l.predicate, n);
      at(n.span);
      emit(again.yes, again.yes_a, again.yes_b, static_cast<int32_t>(body));
      end_statement();
      land(unless);
      variables_ = tested;
      break;
    }
    header = joined;
    truncate(start);
  }
  headers_[&n] = std::move(header);
}

// The bounds into the registers of the loop; kinds of the temporaries that hold them end here.
void ScalarFunction::count_bounds(const Node& n, const Count& c, int32_t base) {
  constexpr int32_t kPlace[] = {1, 3, 2};  // of start, end and increment (register_instructions.def)
  emit(Operation::move, base + 4, flag_constant(true));
  const int32_t slots[] = {c.from, c.to, c.step};
  for (size_t k = 0; k < 3; ++k) {
    if (slots[k] < 0) continue;
    if ((variables_[static_cast<size_t>(slots[k])] & kNone) != 0) throw Refused();
    const ScalarValue x = read(slots[k], n.span);
    at(n.span);
    if (x.kinds == kInteger || x.kinds == kBoolean)
      emit(Operation::move, base + kPlace[k], number(x).reg);
    else
      emit(Operation::bound, base + kPlace[k], boxed(x).reg, base + 4, k);
  }
  for (const int32_t s : slots)
    if (s >= 0) {
      const std::string& name = routine_.slots[static_cast<size_t>(s)];
      if (name == "%from" || name == "%to" || name == "%step") kill({s});
    }
  end_statement();
}

void ScalarFunction::count(const Node& n, const Count& c) {
  if (c.parallel) throw Refused();
  if (counters_.count(&n) == 0) counters_[&n] = lasting_numbers(5);
  const int32_t base = counters_[&n];
  sequence(c.before);
  statement_ = nullptr;
  count_bounds(n, c, base);
  touch(c.variable);
  assigned_[c.variable] = true;
  const auto variable = static_cast<size_t>(c.variable);
  const Variables entry = variables_;
  const size_t start = here();
  Variables header = headers_.count(&n) > 0 ? meet(headers_[&n], entry) : entry;
  const int32_t reg = home(c.variable, false);
  for (;;) {
    header[variable] = entry[variable];
    convert(entry, header);
    at(n.span);
    const size_t none = emit(Operation::count_begin, base, reg, 0, c.step >= 0 ? 1 : 0);
    variables_ = header;
    variables_[variable] = kInteger;
    const size_t body = here();
    sequence(c.body);
    const Kinds last = variables_[variable];  // what the last iteration leaves in the loop's variable
    variables_[variable] = entry[variable];
    const Variables joined = meet(header, variables_);
    if (joined != header) {
      header = joined;
      truncate(start);
      continue;
    }
    convert(variables_, header);
    at(n.span);
    emit(Operation::count_next, base, reg, static_cast<int32_t>(body));
    Variables done = header;
    done[variable] = last;
    variables_ = meet(done, header);
    convert(done, variables_);
    if (differs(header, variables_)) {
      const size_t end = emit(Operation::jump);
      land(none);
      convert(header, variables_);
      land(end);
    } else {
      land(none);
    }
    break;
  }
  headers_[&n] = std::move(header);
}

ScalarValue ScalarFunction::convert_to(const ScalarValue& x, Kind declared, bool output, const std::string& name,
                                       const Routine& routine) {
  if (declared == Kind::unknown || x.kinds == kinds(declared)) return x;
  if (declared == Kind::matrix || declared == Kind::frame) throw Refused();
  if (within(x.kinds, kNumber)) {
    if (declared == Kind::real) return to_real(x);
    if (declared == Kind::boolean) return to_bool(x);
    if (declared == Kind::integer && is_one(x.kinds)) return to_int(x);
  }
  if (declared == Kind::string && within(x.kinds, kScalar)) return owned_text(x);
  if ((x.kinds & (is_scalar(declared) ? kScalar : kinds(declared))) == 0) throw Refused();
  const ScalarValue given = boxed(x);
  const int32_t out = temporary(true);
  emit(Operation::convert, out, given.reg, conversion(declared, output, name, routine));
  return {kinds(declared), true, out, true};
}

int32_t ScalarFunction::conversion(Kind declared, bool output, const std::string& name, const Routine& routine) {
  program_.conversions.push_back({declared, output, name, routine.name});
  return static_cast<int32_t>(program_.conversions.size() - 1);
}

void ScalarFunction::invoke(const Node& n, const Invoke& call) {
  if (call.routine == nullptr || call.results.size() > call.routine->outputs.size()) throw Refused();
  const Routine& routine = *call.routine;
  statement_ = nullptr;
  at(n.span);
  std::vector<ScalarValue> given;
  std::vector<Kinds> given_kinds;
  for (const int32_t s : call.arguments) {
    given.push_back(read(s, n.span));
    given.back().movable =
        given.back().boxed && contains(n.dies, s) && std::count(call.arguments.begin(), call.arguments.end(), s) == 1;
  }
  at(n.span);
  for (size_t k = 0; k < given.size(); ++k) {
    given[k] = convert_to(given[k], routine.input_kinds[k], false, routine.input_names[k], routine);
    given_kinds.push_back(given[k].kinds);
  }
  ScalarFunction& callee = whole_.function(routine, given_kinds);
  FunctionCall out;
  out.function = callee.index_;
  for (size_t k = 0; k < given.size(); ++k) {
    const bool value = !is_raw(given[k].kinds);
    const ScalarValue x = value ? given[k] : number(given[k]);
    out.arguments.push_back({x.reg, callee.home(routine.inputs[k], value), value, value && x.movable});
  }
  std::vector<ScalarValue> results;
  for (size_t k = 0; k < call.results.size(); ++k) {
    const Output& o = callee.outputs_[k];
    if (!callee.complete_) callee.assumed_ = true;
    if ((o.kinds & ~kNone) == 0) throw Refused();
    const bool value = (o.kinds & kNone) != 0 || !is_raw(o.kinds);
    results.push_back({o.kinds, value, temporary(value), true});
    out.results.push_back({value ? o.value : o.number, results[k].reg, value, true});
  }
  program_.calls.push_back(std::move(out));
  emit(Operation::call, static_cast<int32_t>(program_.calls.size() - 1));
  take_results(n, call, results);
  end_statement();
}

void ScalarFunction::take_results(const Node& n, const Invoke& call, std::vector<ScalarValue>& results) {
  const Routine& routine = *call.routine;
  for (size_t k = 0; k < results.size(); ++k) {
    ScalarValue& x = results[k];
    const std::string& name = routine.output_names[k];
    at(n.span);
    if ((x.kinds & kNone) != 0) {
      x.kinds &= ~kNone;
      emit(Operation::check_result, x.reg, 0, conversion(routine.output_kinds[k], true, name, routine));
    }
    x = convert_to(x, routine.output_kinds[k], true, name, routine);
  }
  for (size_t k = 0; k < results.size(); ++k)
    if (call.results[k] >= 0) set(call.results[k], results[k]);
}

}  // namespace hopline
