#include "planner/lower/program.h"

#include "runtime/base/error.h"

namespace hopline {

namespace {

Node make_node(const Stmt& stmt) {
  Node node;
  node.span = stmt.span;
  node.statement = &stmt;
  node.dies = stmt.dies;
  return node;
}

// The call when the statement is one that the executor makes: of a user function, eval or evalList.
const CallExpr* routine_call(const Expr* call) {
  const auto* c = std::get_if<CallExpr>(&call->node);
  return c != nullptr && (c->op == nullptr || c->name == "eval" || c->name == "evalList") ? c : nullptr;
}

Span call_span(const Stmt& stmt) {
  const auto* multi = std::get_if<MultiAssign>(&stmt.node);
  return multi != nullptr ? multi->call->span : stmt.span;
}

Value literal_value(const Expr* e) {
  Value value;
  if (const auto* literal = e == nullptr ? nullptr : std::get_if<Literal>(&e->node))
    std::visit([&value](const auto& v) { value = v; }, literal->value);
  return value;
}

// Slots that are targets of x += e anywhere in the statements.
void find_accumulated(const Body& body, std::vector<int32_t>& out) {
  for (const Stmt* stmt : body) {
    if (const auto* a = std::get_if<Assign>(&stmt->node); a != nullptr && a->accumulate)
      out.push_back(a->target.variable.slot);
    if (const auto* branch = std::get_if<If>(&stmt->node)) {
      find_accumulated(branch->then, out);
      find_accumulated(branch->otherwise, out);
    }
    if (const auto* loop = std::get_if<While>(&stmt->node)) find_accumulated(loop->body, out);
    if (const auto* count = std::get_if<For>(&stmt->node)) find_accumulated(count->body, out);
  }
}

}  // namespace

Executable::Executable(std::unique_ptr<Program> checked) : checked_(std::move(checked)) {
  main_ = routine(checked_->main);
}

Routine* Executable::routine(const Function& function) {
  if (const auto found = by_function_.find(&function); found != by_function_.end()) return found->second;
  Routine& r = routines_.emplace_back();
  by_function_[&function] = &r;  // before the body: it may call itself
  r.name = function.name;
  r.inputs = function.inputs;
  r.outputs = function.outputs;
  r.input_kinds = function.input_kinds;
  r.output_kinds = function.output_kinds;
  r.slots = function.slots;
  r.recursive = function.recursive;
  r.has_loop = function.has_loop;
  r.num_statements = function.num_statements;
  r.function = &function;
  r.span = function.span;
  for (const int32_t s : function.inputs) r.input_names.push_back(function.slots[static_cast<size_t>(s)]);
  for (const int32_t s : function.outputs) r.output_names.push_back(function.slots[static_cast<size_t>(s)]);
  if (function.def != nullptr)
    for (const ParameterDecl& p : function.def->inputs) r.input_defaults.push_back(literal_value(p.fallback));
  lower(function.body, r, r.body);
  return &r;
}

int32_t Executable::temporary(Routine& r, const char* what) {
  r.slots.emplace_back(what);
  return static_cast<int32_t>(r.slots.size() - 1);
}

// The slot that holds the value of an expression: the variable itself, or a temporary that a step of its own fills.
int32_t Executable::to_slot(Expr* value, const char* what, Routine& r, NodeList& out) {
  if (const auto* name = std::get_if<Name>(&value->node)) return name->slot;
  const int32_t slot = temporary(r, what);
  Target target;
  target.variable = {what, slot};
  target.span = value->span;
  out.push_back(make_node(*checked_->ast.stmt(value->span, Assign{target, value, false})));
  return slot;
}

void Executable::lower_call(const Stmt& stmt, const CallExpr& call, const std::vector<Target>& targets, Routine& r,
                            NodeList& out) {
  Invoke invoke;
  Node node = make_node(stmt);
  node.span = call_span(stmt);
  for (const Argument& a : call.arguments) {
    const int32_t slot = to_slot(a.value, "%argument", r, out);
    invoke.arguments.push_back(slot);
    invoke.argument_names.push_back(a.name);
    if (!std::holds_alternative<Name>(a.value->node)) node.dies.push_back(slot);
  }
  if (call.function != nullptr) invoke.routine = routine(*call.function);
  invoke.eval = call.function == nullptr && call.name == "eval";
  invoke.eval_list = call.function == nullptr && call.name == "evalList";
  std::vector<Node> stores;  // an indexed target takes its result from a temporary
  for (const Target& t : targets) {
    if (!t.indexed) {
      invoke.results.push_back(t.variable.slot);
      continue;
    }
    const int32_t slot = temporary(r, "%result");
    invoke.results.push_back(slot);
    Expr* value = checked_->ast.expr(stmt.span, Name{"%result", slot});
    stores.push_back(make_node(*checked_->ast.stmt(stmt.span, Assign{t, value, false})));
    stores.back().dies.push_back(slot);
  }
  if (invoke.routine != nullptr) node.programs = std::make_unique<ProgramCache>();
  node.what = std::move(invoke);
  out.push_back(std::move(node));
  for (Node& n : stores) out.push_back(std::move(n));
}

void Executable::lower_control(const Stmt& stmt, Routine& r, Node& node) {
  if (const auto* branch = std::get_if<If>(&stmt.node)) {
    Branch b;
    lower(branch->before, r, b.before);
    b.predicate = to_slot(branch->predicate, "%predicate", r, b.before);
    lower(branch->then, r, b.then);
    lower(branch->otherwise, r, b.otherwise);
    node.what = std::move(b);
  } else if (const auto* loop = std::get_if<While>(&stmt.node)) {
    Loop l;
    lower(loop->before, r, l.before);
    l.predicate = to_slot(loop->predicate, "%predicate", r, l.before);
    lower(loop->body, r, l.body);
    node.what = std::move(l);
  } else if (const auto* count = std::get_if<For>(&stmt.node)) {
    Count c;
    lower(count->before, r, c.before);
    c.from = to_slot(count->from, "%from", r, c.before);
    c.to = to_slot(count->to, "%to", r, c.before);
    if (count->step != nullptr) c.step = to_slot(count->step, "%step", r, c.before);
    c.variable = count->variable.slot;
    c.parallel = count->parallel;
    if (c.parallel) find_accumulated(count->body, c.accumulated);
    lower(count->body, r, c.body);
    node.what = std::move(c);
  }
}

void Executable::lower(const Body& body, Routine& r, NodeList& out) {
  for (const Stmt* stmt : body) {
    const auto* multi = std::get_if<MultiAssign>(&stmt->node);
    const auto* bare = std::get_if<CallStmt>(&stmt->node);
    const CallExpr* call = multi != nullptr  ? routine_call(multi->call)
                           : bare != nullptr ? routine_call(bare->call)
                                             : nullptr;
    if (call != nullptr) {
      lower_call(*stmt, *call, multi != nullptr ? multi->targets : std::vector<Target>(), r, out);
      continue;
    }
    Node node = make_node(*stmt);
    lower_control(*stmt, r, node);
    const auto* count = std::get_if<Count>(&node.what);
    if (!std::holds_alternative<Step>(node.what) && (count == nullptr || !count->parallel))
      node.programs = std::make_unique<ProgramCache>();
    out.push_back(std::move(node));
  }
}

const Routine* Executable::find(const Routine& from, const std::string& name, Kind first) {
  const std::lock_guard lock(mutex_);
  const Function* function = find_function(*checked_, *static_cast<const Function*>(from.function), name, first);
  return function == nullptr ? nullptr : routine(*function);
}

const CallSite* Executable::call_site(const Span& at, const std::string& function) {
  const std::lock_guard lock(mutex_);
  return &call_sites_.emplace_back(CallSite{at, function});
}

}  // namespace hopline
