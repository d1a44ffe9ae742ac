// Names: variables get slots, calls get rows or functions, $ parameters and constants become literals.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/calls.h"
#include "frontend/check/constants.h"
#include "frontend/check/nearest.h"
#include "frontend/check/walk.h"
#include "runtime/ops/op.h"

namespace hopline {

int32_t FunctionCheck::slot(const std::string& name) {
  std::vector<std::string>& names = info.function->slots;
  const auto [place, added] = slots_by_name.emplace(name, static_cast<int32_t>(names.size()));
  if (added) names.push_back(name);
  return place->second;
}

int32_t FunctionCheck::find_slot(const std::string& name) const {
  const auto found = slots_by_name.find(name);
  return found == slots_by_name.end() ? -1 : found->second;
}

int32_t FunctionCheck::new_temporary() {
  std::vector<std::string>& names = info.function->slots;
  names.push_back("%" + std::to_string(++temporaries));
  return static_cast<int32_t>(names.size()) - 1;
}

namespace {

class Resolver {
 public:
  explicit Resolver(FunctionCheck& check) : check_(check), calls_(check) {}

  void body(Body& statements) {
    for (Stmt* s : statements) statement(*s);
  }

 private:
  void value(Expr* e) { calls_.expression(e, Use::value); }
  void value_if_any(Expr* e) {
    if (e != nullptr) value(e);
  }

  void statement(Stmt& stmt) {
    if (auto* assign = std::get_if<Assign>(&stmt.node)) {
      value(assign->value);
      target(assign->target);
    } else if (auto* ifdef = std::get_if<IfdefAssign>(&stmt.node)) {
      replace_ifdef(stmt, *ifdef);
    } else if (auto* multi = std::get_if<MultiAssign>(&stmt.node)) {
      multi_assign(stmt, *multi);
    } else if (auto* call = std::get_if<CallStmt>(&stmt.node)) {
      calls_.expression(call->call, Use::statement);
    } else if (auto* branch = std::get_if<If>(&stmt.node)) {
      value(branch->predicate);
      body(branch->then);
      body(branch->otherwise);
    } else if (auto* loop = std::get_if<While>(&stmt.node)) {
      value(loop->predicate);
      body(loop->body);
    } else if (auto* count = std::get_if<For>(&stmt.node)) {
      for_loop(*count);
    } else {
      const bool is_source = std::holds_alternative<Source>(stmt.node);
      check_.error(stmt.span, "{} must stand at the top level of a file, not in a block",
                   is_source ? "source" : "setwd");
    }
  }

  void for_loop(For& loop) {
    value(loop.from);
    if (loop.to != loop.from) value(loop.to);
    value_if_any(loop.step);
    variable(loop.variable, loop.from->span);
    for (Argument& option : loop.options) {
      check_option(loop, option);
      // mode=LOCAL: a bare word is a word, unless it is a variable (par=k).
      const auto* word = std::get_if<Name>(&option.value->node);
      if (word != nullptr && check_.find_slot(word->name) < 0)
        option.value->node = Literal{word->name};
      else
        value(option.value);
    }
    body(loop.body);
  }

  void check_option(const For& loop, const Argument& option) {
    constexpr std::string_view kOptions[] = {"check",           "par",         "mode", "taskpartitioner", "tasksize",
                                             "datapartitioner", "resultmerge", "opt",  "profile",         "log"};
    if (!loop.parallel) check_.error(option.span, "a for loop takes no options: found '{}'; parfor does", option.name);
    if (!loop.parallel || std::find(std::begin(kOptions), std::end(kOptions), option.name) != std::end(kOptions))
      return;
    Nearest nearest(option.name);
    for (std::string_view name : kOptions) nearest.offer(name);
    check_.error(option.span, "parfor has no option '{}': expected {}{}", option.name, fmt::join(kOptions, ", "),
                 nearest.hint());
  }

  void replace_ifdef(Stmt& stmt, IfdefAssign& ifdef) {
    const auto& arguments = check_.checker.options().arguments;
    const auto given = arguments.find(ifdef.parameter);
    Assign assign;
    assign.target = std::move(ifdef.target);
    assign.value = ifdef.fallback;
    if (given != arguments.end() && !given->second.empty())
      assign.value = check_.checker.program().ast.expr(ifdef.fallback->span, parameter_value(given->second));
    value(assign.value);
    target(assign.target);
    stmt.node = std::move(assign);
  }

  void multi_assign(Stmt& stmt, MultiAssign& multi) {
    calls_.expression(multi.call, Use::several, multi.targets.size());
    for (Target& t : multi.targets) target(t);
    // [a] = sum(X) is a = sum(X).
    const auto* call = std::get_if<CallExpr>(&multi.call->node);
    if (call == nullptr || call->op == nullptr || call->op->outputs != 1) return;
    Assign assign{std::move(multi.targets.front()), multi.call, false};
    stmt.node = std::move(assign);
  }

  void target(Target& t) {
    variable(t.variable, t.span);
    for_each_bound(t.rows, t.cols, [this](Expr* bound) { value(bound); });
  }

  void variable(Name& name, const Span& span) {
    if (is_constant(name.name)) check_.error(span, "cannot assign a value to the builtin constant '{}'", name.name);
    name.slot = check_.slot(name.name);
    check_.first_writes.emplace(name.slot, span);
  }

  FunctionCheck& check_;
  CallResolver calls_;
};

}  // namespace

void resolve_names(FunctionCheck& check) {
  Function& f = check.function();
  for (size_t i = 0; i < f.slots.size(); ++i) check.slots_by_name.emplace(f.slots[i], static_cast<int32_t>(i));
  Resolver(check).body(f.body);
}

}  // namespace hopline
