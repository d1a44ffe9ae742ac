// Kinds through expressions.
#include "frontend/check/calls.h"
#include "frontend/check/kind_flow.h"
#include "frontend/check/nearest.h"
#include "frontend/check/walk.h"

namespace hopline {

namespace {

bool takes_list_entry(std::string_view name) {
  return name == "as.scalar" || name == "as.matrix" || name == "as.list" || name == "as.frame";
}

}  // namespace

// Kinds of the expression's (first) value; 0 only in the fixed point of a loop, where an operand has no value yet.
Kinds KindFlow::value(Expr* root) {
  if (const auto* literal = std::get_if<Literal>(&root->node)) {
    results_.assign(1, kinds(kind_of(*literal)));
    return results_[0];
  }
  const size_t first = values_.size(), first_node = nodes_.size();
  post_order(root, nodes_);
  for (size_t i = first_node; i < nodes_.size(); ++i) {
    Expr* const e = nodes_[i];
    size_t children = 0;
    const auto* c = std::get_if<CallExpr>(&e->node);
    if (c == nullptr || !is_exists(*c)) for_each_child(*e, [&children](Expr*&) { ++children; });
    const size_t below = values_.size() - children;
    node(*e, {values_.data() + below, children});
    values_.resize(below);
    if (!check_.shared_arguments.empty()) {
      const auto shared = check_.shared_arguments.find(e);
      state_.resize(check_.function().slots.size(), kNone);
      if (shared != check_.shared_arguments.end()) set(shared->second, results_[0]);
    }
    values_.push_back({results_[0], std::get_if<Literal>(&e->node)});
  }
  const Kinds out = values_.back().kinds;
  values_.resize(first);
  nodes_.resize(first_node);
  return out;
}

void KindFlow::node(Expr& e, std::span<const Operand> in) {
  for (const Operand& operand : in)
    if (operand.kinds == 0) {
      results_.assign(1, 0);
      return;
    }
  if (const auto* literal = std::get_if<Literal>(&e.node)) {
    results_.assign(1, kinds(kind_of(*literal)));
  } else if (const auto* n = std::get_if<Name>(&e.node)) {
    results_.assign(1, variable(*n, e.span));
  } else if (const auto* o = std::get_if<Operator>(&e.node)) {
    const auto problem = operators_.infer(*o->op, e.span, in, {}, results_);
    if (problem) error(e.span, "{}", *problem);
    if (problem) results_.assign(1, kAny);
  } else if (const auto* x = std::get_if<Index>(&e.node)) {
    index(e, *x, in);
  } else if (auto* c = std::get_if<CallExpr>(&e.node)) {
    call(e, *c, in);
  } else {
    results_.assign(1, kAny);  // a $ parameter without a value
  }
}

Kinds KindFlow::variable(const Name& name, const Span& span) {
  const Kinds found = defined(state_[name.slot]);
  if (found != 0 || !reporting_) return found;
  undefined_reported_.resize(check_.function().slots.size());
  auto reported = undefined_reported_[static_cast<size_t>(name.slot)];
  if (!reported) error(span, "undefined variable '{}'{}", name.name, why_undefined(name, span));
  undefined_reported_[static_cast<size_t>(name.slot)] = true;
  return kAny;
}

std::string KindFlow::why_undefined(const Name& name, const Span& span) const {
  const Program& program = check_.checker.program();
  const auto later = check_.first_writes.find(name.slot);
  if (later != check_.first_writes.end() && later->second.file == span.file && later->second.begin > span.begin)
    return fmt::format("; it gets a value later, in line {}", program.files->position(later->second).line);
  if (!check_.wants_hint()) return {};
  Nearest nearest(name.name);
  const std::vector<std::string>& slots = check_.info.function->slots;
  for (size_t s = 0; s < slots.size(); ++s)
    if (defined(state_[static_cast<int32_t>(s)]) != 0) nearest.offer(slots[s]);
  if (!nearest.found().empty() || check_.info.def == nullptr) return nearest.hint();
  const std::vector<std::string>& outer = program.main.slots;
  const bool is_global = std::find(outer.begin(), outer.end(), name.name) != outer.end();
  return is_global ? "; a function sees its parameters and its own variables only" : "";
}

void KindFlow::index(Expr& e, const Index& x, std::span<const Operand> in) {
  const Kinds base = variable(x.base, e.span);
  results_.assign(1, base & kIndexable);
  if (base == 0) return;
  if ((base & kIndexable) == 0) {
    error(e.span, "cannot index '{}': expected {}, found {}", x.base.name, describe(kIndexable), describe(base));
    results_.assign(1, kAny);
    return;
  }
  bounds(x.rows, x.cols, base & kIndexable, in);
}

void KindFlow::bounds(const IndexRange& rows, const IndexRange& cols, Kinds base, std::span<const Operand> in) {
  const Kinds fits = (base & (kList | kFrame)) != 0 ? kScalar : kNumber;
  size_t i = 0;
  for_each_bound(rows, cols, [&](Expr* b) {
    const Kinds found = in[i++].kinds;
    if (found != 0 && (found & fits) == 0)
      error(b->span, "wrong index bound: expected {}, found {}", describe(fits), describe(found));
  });
}

void KindFlow::call(Expr& e, CallExpr& call, std::span<const Operand> in) {
  if (reporting_ && call.op == nullptr && call.function == nullptr) {
    decide(e, call, in);
    if (call.function != nullptr) return;
  }
  if (is_exists(call)) {
    exists(e, call);
  } else if (call.op != nullptr) {
    call_operator(e, call, in);
  } else if (call.function != nullptr) {
    call_function(call, in);
  } else if (is_eval(call) && !in.empty()) {
    if ((in[0].kinds & kString) == 0)
      error(call.arguments[0].span, "wrong first argument of {}: expected the name of a function, found {}", call.name,
            describe(in[0].kinds));
    results_.assign(1, call.name == "eval" ? kMatrix : kList);
  } else {
    const auto undecided = check_.undecided.find(&e);
    results_.assign(undecided == check_.undecided.end() ? 1 : undecided->second.targets, kAny);
  }
}

void KindFlow::exists(Expr& e, const CallExpr& call) {
  results_.assign(1, kinds(Kind::boolean));
  const auto* name = call.arguments.size() == 1 ? std::get_if<Name>(&call.arguments[0].value->node) : nullptr;
  if (name == nullptr || !reporting_) return;
  const uint16_t state = state_[name->slot];
  if ((state & kNone) == 0)
    e.node = Literal{true};
  else if (defined(state) == 0)
    e.node = Literal{false};
}

void KindFlow::call_operator(Expr& e, const CallExpr& call, std::span<const Operand> in) {
  // Absent optional arguments are no operands: put them back.
  std::vector<Operand> operands;
  std::vector<std::string> names;
  size_t next = 0;
  for (const Argument& a : call.arguments) {
    operands.push_back(a.value == nullptr ? Operand{kNone, nullptr} : in[next++]);
    if (!a.name.empty() || !names.empty()) {
      names.resize(operands.size() - 1);
      names.push_back(a.name);
    }
  }
  const auto problem = operators_.infer(*call.op, e.span, operands, names, results_);
  if (problem) {
    error(e.span, "{}", *problem);
    results_.assign(results_.size(), kAny);
  }
  if (!reporting_ || !takes_list_entry(call.op->name)) return;
  const auto* entry = std::get_if<Index>(&call.arguments[0].value->node);
  if (entry != nullptr && entry->single && entry->rows.high == nullptr && (operands[0].kinds & kList) != 0)
    check_.list_entries.insert(&e);
}

void KindFlow::call_function(const CallExpr& call, std::span<const Operand> in) {
  const Function& f = *call.function;
  for (size_t i = 0; i < f.inputs.size(); ++i) {
    const Kinds declared = declared_kinds(f.input_kinds[i]);
    const Kinds fits = (declared & kScalar) != 0 ? declared | kScalar : declared;
    if ((in[i].kinds & fits) == 0)
      error(call.arguments[i].value->span, "wrong argument '{}' of function '{}': expected {}, found {}",
            f.def->inputs[i].name, f.name, describe(declared), describe(in[i].kinds));
  }
  results_.clear();
  for (Kind k : f.output_kinds) results_.push_back(declared_kinds(k));
  if (results_.empty()) results_.push_back(kAny);
}

// Chooses the variant of a script builtin by its first argument.
void KindFlow::decide(Expr& e, CallExpr& call, std::span<const Operand> operands) {
  const auto found = check_.undecided.find(&e);
  if (found == check_.undecided.end()) return;
  const std::vector<Operand> in(operands.begin(), operands.end());  // the stack they lie on may move
  const Undecided undecided = found->second;
  check_.undecided.erase(found);
  const Kinds first = in.empty() ? kAny : in[0].kinds;
  FunctionInfo* callee = nullptr;
  if (first == kMatrix || (first & kMatrix) != 0)
    callee = undecided.variants.matrix;
  else
    callee = undecided.variants.for_kind((first & kFrame) != 0 ? Kind::frame : Kind::unknown, false);
  if (callee == nullptr) callee = undecided.variants.any();
  std::unordered_map<const Expr*, Operand> known;
  for (size_t i = 0; i < in.size(); ++i) known.emplace(call.arguments[i].value, in[i]);
  const Use use = undecided.statement ? Use::statement : undecided.targets > 1 ? Use::several : Use::value;
  CallResolver(check_).bind(e, call, *callee, use, undecided.targets);
  const size_t slots = check_.function().slots.size();
  state_.resize(slots, kNone);
  if (at_head_.size() < slots) at_head_.resize(slots, 0);
  if (call.function == nullptr) return;
  std::vector<Operand> ordered;
  for (const Argument& a : call.arguments) {
    const auto given = known.find(a.value);
    if (given == known.end()) {
      ordered.push_back({value(a.value), nullptr});
      continue;
    }
    ordered.push_back(given->second);
    const auto shared = check_.shared_arguments.find(a.value);
    if (shared != check_.shared_arguments.end()) set(shared->second, given->second.kinds);
  }
  call_function(call, ordered);
}

}  // namespace hopline
