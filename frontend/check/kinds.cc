// Kinds through statements and loops: what is undefined on every path, what no execution can compute.
#include "frontend/check/kind_flow.h"
#include "frontend/check/walk.h"

namespace hopline {

namespace {

constexpr auto kUnion = [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a | b); };

}  // namespace

void KindFlow::run() {
  Function& f = check_.function();
  state_.resize(f.slots.size(), kNone);
  at_head_.resize(f.slots.size(), 0);
  for (size_t i = 0; i < f.inputs.size(); ++i) set(f.inputs[i], declared_kinds(f.input_kinds[i]));
  body(f.body);
  if (f.def != nullptr) check_outputs();
}

void KindFlow::check_outputs() {
  const Function& f = check_.function();
  for (size_t i = 0; i < f.outputs.size(); ++i) {
    const ParameterDecl& declared = f.def->outputs[i];
    const Kinds found = defined(state_[f.outputs[i]]);
    if (found == 0) {
      error(declared.span, "output '{}' of function '{}' is never assigned", declared.name, f.name);
      continue;
    }
    Kinds fits = declared_kinds(declared.kind);
    if (declared.kind == Kind::real) fits |= kinds(Kind::integer);
    if ((found & fits) == 0)
      error(declared.span, "wrong value of output '{}' of function '{}': expected {}, found {}", declared.name, f.name,
            describe(declared_kinds(declared.kind)), describe(found));
  }
}

// --- statements

void KindFlow::statement(Stmt& stmt) {
  if (auto* a = std::get_if<Assign>(&stmt.node))
    assign(*a, stmt.span);
  else if (auto* m = std::get_if<MultiAssign>(&stmt.node))
    multi_assign(*m);
  else if (auto* c = std::get_if<CallStmt>(&stmt.node))
    value(c->call);
  else if (auto* i = std::get_if<If>(&stmt.node))
    branch(*i);
  else if (auto* w = std::get_if<While>(&stmt.node))
    while_loop(stmt, *w);
  else if (auto* l = std::get_if<For>(&stmt.node))
    for_loop(stmt, *l);
}

void KindFlow::assign(const Assign& assign, const Span& span) {
  Kinds kinds = value(assign.value);
  if (assign.accumulate) {
    const Kinds before = variable(assign.target.variable, assign.target.span);
    const Operand operands[] = {{assign.target.indexed ? kMatrix : before, nullptr}, {kinds, nullptr}};
    results_.assign(1, 0);
    if (before != 0 && kinds != 0) {
      const auto problem = operators_.infer(op("+", 2), span, operands, {}, results_);
      if (problem) error(span, "{}", *problem);
      if (problem) results_.assign(1, kAny);
    }
    kinds = results_[0];
  }
  write(assign.target, kinds, assign.value->span);
}

void KindFlow::multi_assign(const MultiAssign& multi) {
  value(multi.call);
  const std::vector<Kinds> results = results_;
  if (results[0] == 0) return;
  for (size_t i = 0; i < multi.targets.size(); ++i)
    write(multi.targets[i], i < results.size() ? results[i] : kAny, multi.call->span);
}

void KindFlow::write(const Target& target, Kinds value_kinds, const Span& value_span) {
  const int32_t slot = target.variable.slot;
  if (!target.indexed) {
    if (value_kinds != 0) set(slot, reporting_ ? value_kinds : static_cast<Kinds>(state_[slot] | value_kinds));
    return;
  }
  const Kinds base = variable(target.variable, target.span);
  std::vector<Operand> in;
  for_each_bound(target.rows, target.cols, [&](Expr* b) { in.push_back({value(b), nullptr}); });
  if (base == 0) return;
  if ((base & kIndexable) == 0) {
    error(target.span, "cannot index '{}': expected {}, found {}", target.variable.name, describe(kIndexable),
          describe(base));
    return;
  }
  bounds(target.rows, target.cols, base & kIndexable, in);
  Kinds fits = (base & kMatrix) != 0 ? kMatrix | kNumber : 0;
  if ((base & kFrame) != 0) fits |= kFrame | kMatrix | kScalar;
  if ((base & kList) != 0) fits = kAny;
  if (value_kinds != 0 && (value_kinds & fits) == 0)
    error(value_span, "wrong value for a part of '{}': expected {}, found {}", target.variable.name, describe(fits),
          describe(value_kinds));
  if (reporting_) set(slot, base & kIndexable);
}

void KindFlow::branch(If& branch) {
  predicate(branch.predicate, "if");
  const size_t mark = state_.open();
  body(branch.then);
  const FlowState::Changes then = state_.roll_back(mark);
  body(branch.otherwise);
  state_.join(mark, then, kUnion);
}

void KindFlow::while_loop(Stmt& stmt, While& loop) {
  const size_t mark = state_.open();
  enter_loop(stmt);
  predicate(loop.predicate, "while");
  body(loop.body);
  leave_loop();
  state_.join(mark, {}, kUnion);
}

void KindFlow::for_loop(Stmt& stmt, For& loop) {
  bound(loop.from, "from");
  bound(loop.to, "to");
  if (loop.step != nullptr) bound(loop.step, "step");
  for (const Argument& option : loop.options) value(option.value);
  const size_t mark = state_.open();
  enter_loop(stmt);
  set(loop.variable.slot, kinds(Kind::integer));
  body(loop.body);
  leave_loop();
  if (loop.parallel) forget_locals(mark);
  state_.join(mark, {}, kUnion);
}

// What a parfor body defines first is not defined after it.
void KindFlow::forget_locals(size_t mark) {
  for (const FlowState::Change& c : state_.changed(mark))
    if (defined(c.value) == 0) set(c.slot, c.value);
}

void KindFlow::predicate(Expr* e, const char* what) {
  const Kinds found = value(e);
  if (found != 0 && (found & kNumber) == 0)
    error(e->span, "wrong condition of {}: expected boolean or number, found {}{}", what, describe(found),
          found == kMatrix ? "; as.scalar takes the cell of a 1x1 matrix" : "");
}

void KindFlow::bound(Expr* e, const char* what) {
  const Kinds found = value(e);
  if (found != 0 && (found & kNumber) == 0)
    error(e->span, "wrong bound '{}' of for: expected number, found {}", what, describe(found));
}

// --- loops

void KindFlow::enter_loop(Stmt& stmt) {
  if (loops_++ == 0) {
    writes_.clear();
    writers_.clear();
    ranges_.clear();
    next_range_ = 0;
    collect(stmt);
    find_fixed_point();
  }
  const Range range = ranges_[next_range_++];
  for (size_t i = range.begin; i < range.end; ++i) {
    const int32_t slot = writes_[i];
    set(slot, at_head_[static_cast<size_t>(slot)]);
  }
}

void KindFlow::collect(Stmt& stmt) {
  if (auto* a = std::get_if<Assign>(&stmt.node)) {
    writes_.push_back(a->target.variable.slot);
    writers_.push_back(&stmt);
  } else if (auto* m = std::get_if<MultiAssign>(&stmt.node)) {
    for (const Target& t : m->targets) writes_.push_back(t.variable.slot);
    writers_.push_back(&stmt);
  } else if (auto* b = std::get_if<If>(&stmt.node)) {
    collect(b->then);
    collect(b->otherwise);
  } else if (auto* w = std::get_if<While>(&stmt.node)) {
    const size_t range = ranges_.size();
    ranges_.push_back({writes_.size(), 0});
    collect(w->body);
    ranges_[range].end = writes_.size();
  } else if (auto* l = std::get_if<For>(&stmt.node)) {
    const size_t range = ranges_.size();
    ranges_.push_back({writes_.size(), 0});
    writes_.push_back(l->variable.slot);
    writers_.push_back(&stmt);
    collect(l->body);
    ranges_[range].end = writes_.size();
  }
}

// Kinds grow only, so a few rounds over the writing statements settle them; what still changes then may be anything.
void KindFlow::find_fixed_point() {
  constexpr int kRounds = 6;
  reporting_ = false;
  bool changed = true;
  for (int round = 0; round < kRounds && changed; ++round) {
    changed = false;
    for (Stmt* s : writers_) {
      const auto weight = [&] {
        unsigned sum = 0;
        if (auto* a = std::get_if<Assign>(&s->node)) sum = state_[a->target.variable.slot];
        if (auto* m = std::get_if<MultiAssign>(&s->node))
          for (const Target& t : m->targets) sum += state_[t.variable.slot];
        if (auto* l = std::get_if<For>(&s->node)) sum = state_[l->variable.slot];
        return sum;
      };
      const unsigned before = weight();
      transfer(*s);
      changed = changed || weight() != before;
    }
  }
  reporting_ = true;
  for (int32_t slot : writes_) {
    if (changed) set(slot, static_cast<Kinds>(state_[slot] | kAny));
    at_head_[static_cast<size_t>(slot)] = state_[slot];
  }
}

void KindFlow::transfer(Stmt& stmt) {
  if (auto* a = std::get_if<Assign>(&stmt.node))
    assign(*a, stmt.span);
  else if (auto* m = std::get_if<MultiAssign>(&stmt.node))
    multi_assign(*m);
  else if (auto* l = std::get_if<For>(&stmt.node))
    set(l->variable.slot, static_cast<Kinds>(state_[l->variable.slot] | kinds(Kind::integer)));
}

void infer_kinds(FunctionCheck& check) { KindFlow(check).run(); }

}  // namespace hopline
