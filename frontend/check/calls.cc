#include "frontend/check/calls.h"

#include <utility>

#include "frontend/check/bind.h"
#include "frontend/check/constants.h"
#include "frontend/check/nearest.h"
#include "frontend/check/walk.h"

namespace hopline {

bool is_eval(const CallExpr& call) {
  return call.op == nullptr && call.function == nullptr && call.scope.empty() &&
         (call.name == "eval" || call.name == "evalList");
}

bool is_exists(const CallExpr& call) { return call.function == nullptr && call.scope.empty() && call.name == "exists"; }

namespace {

std::string qualified(const CallExpr& call) { return call.scope.empty() ? call.name : call.scope + "::" + call.name; }

// rand is the one name whose case does not matter.
std::string operator_name(const std::string& name) {
  if (name.size() != 4 || (name[0] != 'r' && name[0] != 'R')) return name;
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  return lower == "rand" ? lower : name;
}

std::span<const Op* const> visible_rows(const std::string& name) {
  const std::span<const Op* const> rows = find_ops(operator_name(name));
  for (const Op* row : rows)
    if (!row->hidden) return rows;
  return {};
}

bool is_statement_name(const std::string& name) {
  return name == "print" || name == "stop" || name == "assert" || name == "write";
}

}  // namespace

void CallResolver::expression(Expr* root, Use use, size_t targets) {
  const size_t first = nodes_.size();
  post_order(root, nodes_);
  for (size_t i = first; i < nodes_.size(); ++i) node(*nodes_[i], nodes_[i] == root ? use : Use::value, targets);
  nodes_.resize(first);
}

void CallResolver::node(Expr& e, Use use, size_t targets) {
  if (const auto* n = std::get_if<Name>(&e.node)) {
    name(e, Name(*n));
  } else if (const auto* parameter = std::get_if<Parameter>(&e.node)) {
    const auto& arguments = check_.checker.options().arguments;
    const auto given = arguments.find(parameter->name);
    if (given == arguments.end() || given->second.empty())
      check_.error(e.span, "{}", unsupplied(parameter->name));
    else
      e.node = parameter_value(given->second);
  } else if (auto* o = std::get_if<Operator>(&e.node)) {
    o->op = find_op(o->symbol, o->operands.size());
    HOPLINE_CHECK(o->op != nullptr);
  } else if (auto* index = std::get_if<Index>(&e.node)) {
    index->base.slot = check_.slot(index->base.name);
  } else if (auto* list = std::get_if<ExprList>(&e.node)) {
    CallExpr made;
    made.name = "list";
    for (Expr* item : list->items) made.arguments.push_back({std::string(), item, item->span});
    made.op = find_op("list", made.arguments.size());
    e.node = std::move(made);
  } else if (std::holds_alternative<CallExpr>(e.node)) {
    call(e, use, targets);
  }
}

void CallResolver::name(Expr& e, const Name& name) {
  if (is_constant(name.name)) {
    e.node = Literal{constant_value(name.name)};
    return;
  }
  if (defaults_ != nullptr && parameter_name(e, name.name)) return;
  std::get<Name>(e.node).slot = check_.slot(name.name);
}

// In a default value: the name of a parameter stands for its argument.
bool CallResolver::parameter_name(Expr& e, const std::string& name) {
  const std::vector<ParameterDecl>& inputs = defaults_->function->def->inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name != name) continue;
    Expr* argument = (*defaults_->arguments)[i].value;
    if (argument == nullptr) return false;
    if (std::holds_alternative<Literal>(argument->node) || std::holds_alternative<Name>(argument->node)) {
      e.node = argument->node;
    } else {
      const auto [shared, added] = check_.shared_arguments.emplace(argument, -1);
      if (added) shared->second = check_.new_temporary();
      e.node = Name{check_.slot_name(shared->second), shared->second};
    }
    return true;
  }
  return false;
}

void CallResolver::call(Expr& e, Use use, size_t targets) {
  auto& call = std::get<CallExpr>(e.node);
  if (call.scope.empty() && is_statement_name(call.name))
    if (const auto rows = visible_rows(call.name); !rows.empty()) return call_operator(e, call, rows, use, targets);
  if (call_function(e, call, use, targets)) return;
  if (call.scope.empty()) {
    if (is_exists(call)) return call_exists(e, call);
    if (is_eval(call)) return call_eval(e, call, targets);
  }
  if (const auto rows = visible_rows(call.name); !rows.empty()) {
    call.name = operator_name(call.name);
    return call_operator(e, call, rows, use, targets);
  }
  if (!call_builtin(e, call, use, targets)) undefined(e, call);
}

// A function of this file, or of the file behind the name space. True also where the file could not be loaded, which
// has been reported.
bool CallResolver::call_function(Expr& e, CallExpr& call, Use use, size_t targets) {
  const FileScope* file = file_;
  if (!call.scope.empty()) {
    const auto alias = file_->aliases.find(call.scope);
    if (alias == file_->aliases.end()) {
      Nearest nearest(call.scope);
      for (const auto& [name, scope] : file_->aliases) nearest.offer(name);
      check_.error(e.span, "unknown name space '{}': expected one that source(...) as {} declares{}", call.scope,
                   call.scope, nearest.hint());
      return true;
    }
    if (alias->second == nullptr) return true;
    file = alias->second;
  }
  FunctionInfo* callee = check_.checker.function_of(*file, call.name);
  if (callee == nullptr) return false;
  if (is_exists(call))
    for (Argument& a : call.arguments) expression(a.value, Use::value);
  bind(e, call, *callee, use, targets);
  return true;
}

bool CallResolver::call_builtin(Expr& e, CallExpr& call, Use use, size_t targets) {
  const Variants& variants = check_.checker.builtin(call.name);
  if (variants.count() == 0) return false;
  if (variants.count() == 1)
    bind(e, call, *variants.any(), use, targets);
  else
    check_.undecided.emplace(&e, Undecided{variants, use == Use::statement, targets});
  return true;
}

void CallResolver::bind(Expr& e, CallExpr& call, FunctionInfo& callee, Use use, size_t targets) {
  const Function& f = *callee.function;
  check_.info.calls.push_back(&callee);
  check_.checker.reach(&callee);
  if (f.def->external) {
    check_.error(e.span, "external function '{}' cannot run: it is written in Java", qualified(call));
    return;
  }
  if (use == Use::value && f.outputs.empty())
    check_.error(e.span, "function '{}' returns nothing: expected a function with an output", qualified(call));
  if (use == Use::several && targets > f.outputs.size())
    check_.error(e.span, "too many results for function '{}': expected at most {}, found {}", qualified(call),
                 f.outputs.size(), targets);
  if (!bind_function(check_, e.span, call, f)) return;
  if (fill_defaults(e, call, f, callee.file)) call.function = &f;
}

bool CallResolver::fill_defaults(Expr& e, CallExpr& call, const Function& function, FileScope* file) {
  constexpr int kDeepest = 50;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.arguments[i].value != nullptr) continue;
    if (default_depth_ == kDeepest) {
      check_.error(e.span, "default values of function '{}' call it without end", qualified(call));
      return false;
    }
    Expr* value = clone(function.def->inputs[i].fallback);
    const Defaults here{&function, &call.arguments};
    const Defaults* outer_defaults = std::exchange(defaults_, &here);
    FileScope* outer_file = std::exchange(file_, file);
    ++default_depth_;
    expression(value, Use::value);
    --default_depth_;
    defaults_ = outer_defaults;
    file_ = outer_file;
    call.arguments[i] = {std::string(), value, e.span};
  }
  return true;
}

Expr* CallResolver::clone(const Expr* e) {
  Ast& ast = check_.checker.program().ast;
  Expr* root = ast.expr(e->span, e->node);
  std::vector<Expr*> stack{root};
  while (!stack.empty()) {
    Expr* copy = stack.back();
    stack.pop_back();
    for_each_child(*copy, [&](Expr*& child) {
      child = ast.expr(child->span, child->node);
      stack.push_back(child);
    });
  }
  return root;
}

void CallResolver::call_operator(Expr& e, CallExpr& call, std::span<const Op* const> rows, Use use, size_t targets) {
  bind_operator(check_, e.span, call, rows);
  if (call.op == nullptr) return;
  const int outputs = call.op->outputs;
  if (use == Use::statement && outputs > 0)
    check_.error(e.span, "the result of {} is not used: expected an assignment", call.name);
  else if (use == Use::value && outputs == 0)
    check_.error(e.span, "{} gives no value: expected a statement of its own", call.name);
  else if (use == Use::value && outputs > 1)
    check_.error(e.span, "{} gives {} results: expected [a, b{}] = {}(...)", call.name, outputs,
                 outputs > 2 ? ", ..." : "", call.name);
  else if (use == Use::several && static_cast<size_t>(outputs) != targets)
    check_.error(e.span, "wrong number of variables in the brackets: expected {} for {}, found {}", outputs, call.name,
                 targets);
}

// exists(x) and exists("x"): the variable itself, which is not read.
void CallResolver::call_exists(Expr& e, CallExpr& call) {
  Expr* variable = call.arguments.size() == 1 ? call.arguments[0].value : nullptr;
  std::string name;
  if (variable != nullptr) {
    if (const auto* n = std::get_if<Name>(&variable->node)) name = n->name;
    if (const auto* literal = std::get_if<Literal>(&variable->node))
      if (const auto* text = std::get_if<std::string>(&literal->value)) name = *text;
  }
  if (name.empty()) {
    check_.error(e.span, "exists takes one variable: expected exists(x) or exists(\"x\")");
    return;
  }
  call.op = find_op("exists", 1);
  variable->node = Name{name, check_.slot(name)};
  call.arguments[0].name.clear();
}

// The function is found when the call is reached; a name that is known now is looked up now.
void CallResolver::call_eval(Expr& e, CallExpr& call, size_t targets) {
  if (call.arguments.empty()) {
    check_.error(e.span, "{} takes the name of a function and its arguments: found no argument", call.name);
    return;
  }
  if (targets > 1) check_.error(e.span, "{} gives one result: found {} variables", call.name, targets);
  const auto* literal = std::get_if<Literal>(&call.arguments[0].value->node);
  const auto* text = literal == nullptr ? nullptr : std::get_if<std::string>(&literal->value);
  if (text == nullptr) return;
  CallExpr named;
  const size_t colons = text->find("::");
  if (colons != std::string::npos) named.scope = text->substr(0, colons);
  named.name = colons == std::string::npos ? *text : text->substr(colons + 2);
  const FileScope* file = file_;
  if (!named.scope.empty()) {
    const auto alias = file_->aliases.find(named.scope);
    file = alias == file_->aliases.end() ? nullptr : alias->second;
    if (alias != file_->aliases.end() && file == nullptr) return;
  }
  FunctionInfo* callee = file == nullptr ? nullptr : check_.checker.function_of(*file, named.name);
  if (callee == nullptr && named.scope.empty()) {
    const Variants& variants = check_.checker.builtin(named.name);
    if (variants.count() > 1) return;
    callee = variants.any();
  }
  if (callee == nullptr) return undefined(e, named);
  check_.info.calls.push_back(callee);
  check_.checker.reach(callee);
}

void CallResolver::undefined(const Expr& e, const CallExpr& call) {
  check_.error(e.span, "undefined function '{}'{}", qualified(call), check_.wants_hint() ? hint_for(call) : "");
}

std::string CallResolver::hint_for(const CallExpr& call) const {
  if (call.scope.empty() && check_.find_slot(call.name) >= 0)
    return fmt::format("; '{0}' is a variable: {0}[...] takes a part of it", call.name);
  Nearest nearest(call.name);
  const FileScope* file = file_;
  if (!call.scope.empty())
    if (const auto alias = file_->aliases.find(call.scope); alias != file_->aliases.end()) file = alias->second;
  for (const FunctionInfo* f : file->in_order) nearest.offer(f->function->name);
  if (!call.scope.empty()) return nearest.hint();
  for (const OpFamily& family : op_families())
    for (const Op& row : family) {
      if (row.hidden) continue;
      nearest.offer(row.name);
      for (std::string_view alias : row.aliases) nearest.offer(alias);
    }
  for (const std::string& builtin : check_.checker.builtin_names()) nearest.offer(builtin);
  return nearest.hint();
}

}  // namespace hopline
