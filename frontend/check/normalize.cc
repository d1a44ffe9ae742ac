// Normal form: calls and operators that must stand alone get statements of their own.
#include <utility>

#include "frontend/check/walk.h"
#include "runtime/ops/op.h"

namespace hopline {

namespace {

bool is_user_call(const Expr& e) {
  const auto* call = std::get_if<CallExpr>(&e.node);
  return call != nullptr && (call->function != nullptr || is_eval(*call));
}

const Op* row_of(const Expr& e) {
  if (const auto* call = std::get_if<CallExpr>(&e.node)) return call->op;
  const auto* o = std::get_if<Operator>(&e.node);
  return o == nullptr ? nullptr : o->op;
}

bool is_plain(const Expr& e) { return std::holds_alternative<Name>(e.node) || std::holds_alternative<Literal>(e.node); }

class Normalizer {
 public:
  explicit Normalizer(FunctionCheck& check) : check_(check) {}

  Body body(Body statements) {
    Body out;
    out.reserve(statements.size());
    Body* const outer = std::exchange(out_, &out);
    for (Stmt* s : statements) statement(s);
    out_ = outer;
    return out;
  }

 private:
  void statement(Stmt* stmt);
  void assign(Stmt* stmt, Assign& assign);
  void target(Target& target);
  // Gives what must stand alone within the expression to temporaries, written before it. May the root itself stay?
  void operands(Expr* root) { hoist(root, true); }
  void whole(Expr* root) { hoist(root, false); }
  void hoist(Expr* root, bool root_stays);
  bool stands_alone(const Expr& e) const;
  void give_to_temporary(Expr* e);
  void sort_as_written(Expr* root, std::vector<Expr*>& nodes);
  // The statements that the expressions handled by f need.
  template <class F>
  Body before(F f) {
    Body out;
    Body* const outer = std::exchange(out_, &out);
    f();
    out_ = outer;
    return out;
  }
  Ast& ast() { return check_.checker.program().ast; }

  FunctionCheck& check_;
  Body* out_ = nullptr;
  std::vector<Expr*> nodes_;
};

// Arguments of a function are evaluated as they are written, which named ones need not be in order.
bool written_in_order(const CallExpr& call) {
  for (size_t i = 1; i < call.arguments.size(); ++i)
    if (call.arguments[i].span.begin < call.arguments[i - 1].span.begin) return false;
  return true;
}

// Replaces post_order for expressions with such a call: the same, but for the order of their arguments.
void Normalizer::sort_as_written(Expr* root, std::vector<Expr*>& nodes) {
  nodes.clear();
  std::vector<Expr*> stack{root};
  while (!stack.empty()) {
    Expr* e = stack.back();
    stack.pop_back();
    nodes.push_back(e);
    const auto* call = std::get_if<CallExpr>(&e->node);
    if (call == nullptr || call->function == nullptr) {
      if (call == nullptr || !is_exists(*call)) for_each_child(*e, [&stack](Expr*& child) { stack.push_back(child); });
      continue;
    }
    std::vector<const Argument*> arguments;
    for (const Argument& a : call->arguments) arguments.push_back(&a);
    // Defaults carry the span of the call, which begins before its arguments; they may read those and come last.
    const auto place = [e](const Argument* a) { return a->span.begin == e->span.begin ? UINT32_MAX : a->span.begin; };
    std::stable_sort(arguments.begin(), arguments.end(),
                     [&](const Argument* a, const Argument* b) { return place(a) < place(b); });
    for (const Argument* a : arguments) stack.push_back(a->value);
  }
  std::reverse(nodes.begin(), nodes.end());
}

bool Normalizer::stands_alone(const Expr& e) const {
  if (is_user_call(e)) return true;
  const Op* row = row_of(e);
  if (row != nullptr && row->laws.size_from_data) return true;
  return !check_.list_entries.empty() && check_.list_entries.count(&e) != 0;
}

void Normalizer::hoist(Expr* root, bool root_stays) {
  if (is_plain(*root)) return;
  nodes_.clear();
  post_order(root, nodes_);
  size_t last_call = 0;  // one past it; an operator whose time matters may not be passed by a later call
  bool any = false, permuted = false;
  std::unordered_set<const Expr*> arguments;  // of calls, which take variables and literals only
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Expr& e = *nodes_[i];
    if (is_user_call(e))
      for_each_child(e, [&](const Expr* child) {
        if (is_plain(*child)) return;
        arguments.insert(child);
        any = true;
      });
    if (&e == root && root_stays) break;
    if (is_user_call(e)) last_call = i + 1;
    any = any || stands_alone(e) || check_.shared_arguments.count(&e) != 0;
  }
  if (!any) return;
  for (const Expr* e : nodes_) {
    const auto* call = std::get_if<CallExpr>(&e->node);
    permuted = permuted || (call != nullptr && call->function != nullptr && !written_in_order(*call));
  }
  if (permuted) sort_as_written(root, nodes_);
  const std::vector<Expr*> nodes = std::move(nodes_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    Expr* e = nodes[i];
    if (e == root && root_stays) continue;
    const Op* row = row_of(*e);
    const bool fence = i + 1 < last_call && row != nullptr && row->laws.purity == Purity::effect;
    if (fence || stands_alone(*e) || arguments.count(e) != 0 || check_.shared_arguments.count(e) != 0)
      give_to_temporary(e);
  }
}

// Writes "%n = e" and leaves the name in the expression.
void Normalizer::give_to_temporary(Expr* e) {
  const auto shared = check_.shared_arguments.find(e);
  const int32_t slot = shared != check_.shared_arguments.end() ? shared->second : check_.new_temporary();
  Target target;
  target.variable = Name{check_.slot_name(slot), slot};
  target.span = e->span;
  Expr* value = ast().expr(e->span, std::move(e->node));
  e->node = target.variable;
  if (is_user_call(*value)) {
    MultiAssign call;
    call.targets.push_back(std::move(target));
    call.call = value;
    out_->push_back(ast().stmt(e->span, std::move(call)));
  } else {
    out_->push_back(ast().stmt(e->span, Assign{std::move(target), value, false}));
  }
}

void Normalizer::target(Target& target) {
  for_each_bound(target.rows, target.cols, [this](Expr* bound) { whole(bound); });
}

void Normalizer::assign(Stmt* stmt, Assign& assign) {
  const bool plain = !assign.target.indexed && !assign.accumulate;
  if (plain)
    operands(assign.value);
  else
    whole(assign.value);
  target(assign.target);
  if (plain && is_user_call(*assign.value)) {
    MultiAssign call;
    call.targets.push_back(std::move(assign.target));
    call.call = assign.value;
    stmt->node = std::move(call);
  }
  out_->push_back(stmt);
}

void Normalizer::statement(Stmt* stmt) {
  if (auto* a = std::get_if<Assign>(&stmt->node)) return assign(stmt, *a);
  if (auto* m = std::get_if<MultiAssign>(&stmt->node)) {
    operands(m->call);
  } else if (auto* c = std::get_if<CallStmt>(&stmt->node)) {
    operands(c->call);
  } else if (auto* branch = std::get_if<If>(&stmt->node)) {
    branch->before = before([&] { whole(branch->predicate); });
    branch->then = body(std::move(branch->then));
    branch->otherwise = body(std::move(branch->otherwise));
  } else if (auto* loop = std::get_if<While>(&stmt->node)) {
    loop->before = before([&] { whole(loop->predicate); });
    loop->body = body(std::move(loop->body));
  } else if (auto* count = std::get_if<For>(&stmt->node)) {
    count->before = before([&] {
      whole(count->from);
      if (count->to != count->from) whole(count->to);
      if (count->step != nullptr) whole(count->step);
      for (Argument& option : count->options) whole(option.value);
    });
    count->body = body(std::move(count->body));
  }
  out_->push_back(stmt);
}

}  // namespace

void normalize(FunctionCheck& check) {
  Function& f = check.function();
  f.body = Normalizer(check).body(std::move(f.body));
}

}  // namespace hopline
