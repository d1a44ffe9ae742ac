// Liveness: Stmt::dies of every statement, in two passes backward over the statements.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "frontend/check/flow_state.h"
#include "frontend/check/walk.h"

namespace hopline {

namespace {

class LastUses {
 public:
  explicit LastUses(Function& f) : f_(f) { live_.resize(f.slots.size(), 0); }

  void run(const std::vector<int32_t>& live_at_end);

 private:
  using Slots = std::vector<int32_t>;

  // A slot is live at a level when its value is that level. Level 1 is the function; each loop whose needs are found
  // has the next one, at whose end nothing is live.
  bool live(int32_t slot) const { return live_[slot] == level_; }
  void use(int32_t slot) { live_.set(slot, level_); }
  void define(int32_t slot) { live_.set(slot, 0); }
  void join(size_t mark, const FlowState::Changes& other) {
    const uint16_t level = level_;
    live_.join(mark, other, [level](uint16_t a, uint16_t b) { return a == level || b == level ? level : uint16_t{0}; });
  }

  void body(Body& statements) {
    for (size_t i = statements.size(); i-- > 0;) statement(*statements[i]);
  }
  void statement(Stmt& stmt);
  void simple(Stmt& stmt);
  void branch(Stmt& stmt, If& branch);
  void loop(Stmt& stmt, Body& body, Expr* predicate, Body& before, int32_t variable);
  void count(Stmt& stmt, For& loop);
  void predicate(Expr* predicate, Body& before);
  void set_dies(Stmt& stmt, size_t mark, const Slots& also);
  // What the loop's body reads of values from before an iteration: found in the first pass, used in both.
  const Slots& needs(Stmt& stmt, Body& body, int32_t variable);

  static void reads(Expr* root, Slots& out);

  Function& f_;
  FlowState live_;
  uint16_t level_ = 1;
  bool recording_ = true;
  std::unordered_map<const Stmt*, Slots> needs_;
};

void LastUses::reads(Expr* root, Slots& out) {
  if (root == nullptr) return;
  if (const auto* n = std::get_if<Name>(&root->node)) return out.push_back(n->slot);
  if (std::holds_alternative<Literal>(root->node)) return;
  thread_local std::vector<Expr*> nodes;
  nodes.clear();
  post_order(root, nodes);
  for (const Expr* e : nodes) {
    if (const auto* n = std::get_if<Name>(&e->node)) out.push_back(n->slot);
    if (const auto* x = std::get_if<Index>(&e->node)) out.push_back(x->base.slot);
    const auto* call = std::get_if<CallExpr>(&e->node);
    if (call != nullptr && is_exists(*call)) out.push_back(std::get<Name>(call->arguments[0].value->node).slot);
  }
}

void LastUses::run(const std::vector<int32_t>& live_at_end) {
  for (int32_t slot : live_at_end) use(slot);
  // A parameter that nothing reads dies with the first statement, unless that gives it another value.
  Slots live_after_first;
  for (size_t i = f_.body.size(); i-- > 0;) {
    if (i == 0)
      for (int32_t slot : f_.inputs)
        if (live(slot)) live_after_first.push_back(slot);
    statement(*f_.body[i]);
  }
  if (f_.body.empty()) return;
  Slots& dies = f_.body.front()->dies;
  for (int32_t slot : f_.inputs) {
    if (live(slot) || std::count(live_after_first.begin(), live_after_first.end(), slot) != 0) continue;
    const auto place = std::lower_bound(dies.begin(), dies.end(), slot);
    if (place == dies.end() || *place != slot) dies.insert(place, slot);
  }
}

void LastUses::statement(Stmt& stmt) {
  if (auto* b = std::get_if<If>(&stmt.node)) return branch(stmt, *b);
  if (auto* w = std::get_if<While>(&stmt.node)) return loop(stmt, w->body, w->predicate, w->before, -1);
  if (auto* c = std::get_if<For>(&stmt.node)) return count(stmt, *c);
  simple(stmt);
}

void LastUses::simple(Stmt& stmt) {
  Slots read, written;
  const auto target = [&](const Target& t, bool also_read) {
    written.push_back(t.variable.slot);
    if (t.indexed || also_read) read.push_back(t.variable.slot);
    for_each_bound(t.rows, t.cols, [&](Expr* bound) { reads(bound, read); });
  };
  if (auto* a = std::get_if<Assign>(&stmt.node)) {
    reads(a->value, read);
    target(a->target, a->accumulate);
  } else if (auto* m = std::get_if<MultiAssign>(&stmt.node)) {
    reads(m->call, read);
    for (const Target& t : m->targets) target(t, false);
  } else if (auto* c = std::get_if<CallStmt>(&stmt.node)) {
    reads(c->call, read);
  }
  if (recording_) {
    Slots dies;
    for (const Slots* slots : {&read, &written})
      for (int32_t slot : *slots)
        if (!live(slot)) dies.push_back(slot);
    std::sort(dies.begin(), dies.end());
    dies.erase(std::unique(dies.begin(), dies.end()), dies.end());
    stmt.dies = std::move(dies);
  }
  for (int32_t slot : written) define(slot);
  for (int32_t slot : read) use(slot);
}

void LastUses::predicate(Expr* predicate, Body& before) {
  Slots read;
  reads(predicate, read);
  for (int32_t slot : read) use(slot);
  body(before);
}

// Dead after the statement: what became live in the open region since `mark` (from the end backward), and `also`.
void LastUses::set_dies(Stmt& stmt, size_t mark, const Slots& also) {
  if (!recording_) return;
  Slots dies;
  for (const FlowState::Change& c : live_.changed(mark))
    if (c.value != level_ && live(c.slot)) dies.push_back(c.slot);
  dies.insert(dies.end(), also.begin(), also.end());
  std::sort(dies.begin(), dies.end());
  dies.erase(std::unique(dies.begin(), dies.end()), dies.end());
  stmt.dies = std::move(dies);
}

void LastUses::branch(Stmt& stmt, If& branch) {
  Slots read, dead;
  reads(branch.predicate, read);
  for (int32_t slot : read)
    if (!live(slot)) dead.push_back(slot);
  const size_t whole = live_.open();
  const size_t mark = live_.open();
  body(branch.then);
  const FlowState::Changes then = live_.roll_back(mark);
  body(branch.otherwise);
  join(mark, then);
  set_dies(stmt, whole, dead);
  live_.keep(whole);
  predicate(branch.predicate, branch.before);
}

const LastUses::Slots& LastUses::needs(Stmt& stmt, Body& statements, int32_t variable) {
  const auto known = needs_.find(&stmt);
  if (known != needs_.end()) return known->second;
  const bool recorded = std::exchange(recording_, false);
  ++level_;
  const size_t mark = live_.open();
  body(statements);
  if (variable >= 0) define(variable);
  Slots found;
  for (const FlowState::Change& c : live_.roll_back(mark))
    if (c.value == level_) found.push_back(c.slot);
  live_.keep(mark);
  --level_;
  recording_ = recorded;
  return needs_[&stmt] = std::move(found);
}

// A loop from its head on: [before, predicate,] body, back to the head. `variable` of a for loop is set at each
// iteration.
void LastUses::loop(Stmt& stmt, Body& statements, Expr* condition, Body& before, int32_t variable) {
  Slots read, dead;
  reads(condition, read);
  if (variable >= 0) read.push_back(variable);
  for (int32_t slot : read)
    if (!live(slot)) dead.push_back(slot);
  const Slots& needed = needs(stmt, statements, variable);
  const size_t whole = live_.open();
  const size_t mark = live_.open();
  for (int32_t slot : needed) use(slot);
  if (recording_) {
    if (condition != nullptr) {
      recording_ = false;
      predicate(condition, before);
      recording_ = true;
    }
    // What is live at the head is live at the body's end.
    body(statements);
    if (variable >= 0) define(variable);
    join(mark, {});
  } else {
    live_.keep(mark);
  }
  if (condition != nullptr) predicate(condition, before);
  set_dies(stmt, whole, dead);
  live_.keep(whole);
}

void LastUses::count(Stmt& stmt, For& count) {
  Slots read, dead;
  for (Expr* e : {count.from, count.to, count.step}) reads(e, read);
  for (const Argument& option : count.options) reads(option.value, read);
  Body none;
  for (int32_t slot : read)
    if (!live(slot)) dead.push_back(slot);
  loop(stmt, count.body, nullptr, none, count.variable.slot);
  if (recording_) {
    Slots& dies = stmt.dies;
    dies.insert(dies.end(), dead.begin(), dead.end());
    std::sort(dies.begin(), dies.end());
    dies.erase(std::unique(dies.begin(), dies.end()), dies.end());
  }
  for (int32_t slot : read) use(slot);
  body(count.before);
}

}  // namespace

void find_last_uses(FunctionCheck& check) {
  Function& f = check.function();
  std::vector<int32_t> at_end = f.outputs;
  if (f.def == nullptr)
    for (const std::string& name : check.checker.options().outputs)
      if (const int32_t slot = check.find_slot(name); slot >= 0) at_end.push_back(slot);
  LastUses(f).run(at_end);
}

}  // namespace hopline
