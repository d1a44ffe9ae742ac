#include "frontend/check/bind.h"

#include "frontend/check/nearest.h"
#include "frontend/syntax/print.h"
#include "runtime/ops/apply.h"

namespace hopline {

namespace {

struct Problem {
  Span span;
  std::string message;
  bool wrong_count = false;  // another row may take that many
};

size_t index_of(const Params& params, std::string_view name) {
  for (size_t i = 0; i < params.count; ++i)
    if (params.list[i].name == name) return i;
  return params.count;
}

std::string shown_name(const CallExpr& call) { return call.scope.empty() ? call.name : call.scope + "::" + call.name; }

// The arguments in the order of the row's parameters, null where one is absent; or the first problem.
class RowBinding {
 public:
  RowBinding(const CallExpr& call, const Op& row, const Span& span) : call_(call), row_(row), span_(span) {}

  bool bind() {
    const Params& params = row_.params;
    const size_t given = call_.arguments.size();
    if (given < params.required() || (!params.variadic && given > params.count)) {
      problem_ = {span_, "", true};
      return false;
    }
    if (params.variadic) {
      for (const Argument& a : call_.arguments) placed_.push_back(&a);
      return true;
    }
    placed_.assign(params.count, nullptr);
    if (params.naming == Naming::positional) ignore_names_ = has_unknown_name();
    for (size_t i = 0; i < given; ++i)
      if (!place(call_.arguments[i], i)) return false;
    for (size_t i = 0; i < params.count; ++i)
      if (placed_[i] == nullptr && params.list[i].required())
        return refuse(span_, fmt::format("missing argument '{}' of {}: expected {}", params.list[i].name, call_.name,
                                         signature(call_.name, params)));
    return true;
  }
  const std::vector<const Argument*>& placed() const { return placed_; }
  const Problem& problem() const { return problem_; }
  bool ignore_names() const { return ignore_names_; }

 private:
  bool refuse(const Span& span, std::string message) {
    problem_ = {span, std::move(message), false};
    return false;
  }
  bool has_unknown_name() const {
    for (const Argument& a : call_.arguments)
      if (!a.name.empty() && index_of(row_.params, a.name) == row_.params.count) return true;
    return false;
  }
  bool place(const Argument& a, size_t position) {
    const Params& params = row_.params;
    size_t at = position;
    if (!a.name.empty() && !ignore_names_) {
      at = index_of(params, a.name);
      if (at == params.count) return refuse_unknown(a);
    } else if (params.naming == Naming::named && (position > 0 || !params.list[0].required())) {
      return refuse(a.span, fmt::format("{} takes its arguments by name: expected {}", call_.name,
                                        signature(call_.name, params)));
    }
    if (placed_[at] != nullptr)
      return refuse(a.span, fmt::format("argument '{}' of {} is given twice", params.list[at].name, call_.name));
    placed_[at] = &a;
    return true;
  }
  bool refuse_unknown(const Argument& a) {
    Nearest nearest(a.name);
    for (const Param& p : row_.params.span()) nearest.offer(p.name);
    return refuse(a.span, fmt::format("{} has no parameter '{}': expected {}{}", call_.name, a.name,
                                      signature(call_.name, row_.params), nearest.hint()));
  }

  const CallExpr& call_;
  const Op& row_;
  Span span_;
  std::vector<const Argument*> placed_;
  bool ignore_names_ = false;
  Problem problem_;
};

std::string all_signatures(const CallExpr& call, std::span<const Op* const> rows) {
  std::string out;
  for (const Op* row : rows) {
    if (row->hidden) continue;
    const std::string text = signature(call.name, row->params);
    if (out.find(text) != std::string::npos) continue;
    if (!out.empty()) out += " or ";
    out += text;
  }
  return out;
}

}  // namespace

std::string signature(std::string_view name, const Params& params) {
  std::string out(name);
  out += '(';
  for (size_t i = 0; i < params.count; ++i) {
    const Param& p = params.list[i];
    if (i > 0) out += ", ";
    const bool repeated = params.variadic && i + 1 == params.count;
    if (repeated && !p.required()) break;
    if (p.required())
      out += p.name;
    else if (p.default_text == "none")
      out.append("[").append(p.name).append("]");
    else
      out.append(p.name).append("=").append(p.default_text);
    if (repeated) out += ", ";
  }
  if (params.variadic) out += "...";
  return out + ")";
}

std::string signature(const Function& function) {
  std::string out = function.name + "(";
  for (size_t i = 0; i < function.def->inputs.size(); ++i) {
    const ParameterDecl& p = function.def->inputs[i];
    if (i > 0) out += ", ";
    if (p.kind != Kind::unknown) out.append(name(p.kind)).append(" ");
    out += p.name;
    if (p.fallback != nullptr) out += "=" + print(*p.fallback);
  }
  return out + ")";
}

Expr* default_expr(Ast& ast, const Span& span, const Param& param) {
  const Value value = default_value(param);
  switch (kind_of(value)) {
    case Kind::boolean:
      return ast.expr(span, Literal{std::get<bool>(value)});
    case Kind::integer:
      return ast.expr(span, Literal{std::get<int64_t>(value)});
    case Kind::real:
      return ast.expr(span, Literal{std::get<double>(value)});
    case Kind::string:
      return ast.expr(span, Literal{std::get<std::string>(value)});
    default:
      return nullptr;
  }
}

void bind_operator(FunctionCheck& check, const Span& span, CallExpr& call, std::span<const Op* const> rows) {
  std::optional<Problem> first;
  for (const Op* row : rows) {
    if (row->hidden) continue;
    RowBinding binding(call, *row, span);
    if (!binding.bind()) {
      if (!first || (first->wrong_count && !binding.problem().wrong_count)) first = binding.problem();
      continue;
    }
    if (binding.ignore_names())
      check.warn(span, fmt::format("{} takes its arguments by position: their names are ignored", call.name));
    Ast& ast = check.checker.program().ast;
    std::vector<Argument> ordered;
    ordered.reserve(binding.placed().size());
    for (size_t i = 0; i < binding.placed().size(); ++i) {
      const Argument* a = binding.placed()[i];
      if (row->params.variadic)
        ordered.push_back(*a);
      else if (a != nullptr)
        ordered.push_back({std::string(), a->value, a->span});
      else
        ordered.push_back({std::string(), default_expr(ast, span, row->params.list[i]), span});
    }
    call.arguments = std::move(ordered);
    call.op = row;
    return;
  }
  if (!first || first->wrong_count)
    check.error(span, "wrong number of arguments: expected {}, found {}", all_signatures(call, rows),
                call.arguments.size());
  else
    check.error(first->span, "{}", first->message);
}

bool bind_function(FunctionCheck& check, const Span& span, CallExpr& call, const Function& function) {
  const std::vector<ParameterDecl>& inputs = function.def->inputs;
  std::vector<Argument> ordered(inputs.size());
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    Argument& a = call.arguments[i];
    size_t at = i;
    if (!a.name.empty()) {
      at = 0;
      while (at < inputs.size() && inputs[at].name != a.name) ++at;
      if (at == inputs.size()) {
        Nearest nearest(a.name);
        for (const ParameterDecl& p : inputs) nearest.offer(p.name);
        check.error(a.span, "function '{}' has no parameter '{}': expected {}{}", shown_name(call), a.name,
                    signature(function), nearest.hint());
        return false;
      }
    } else if (at >= inputs.size()) {
      check.error(a.span, "too many arguments for function '{}': expected {}, found {}", shown_name(call),
                  signature(function), call.arguments.size());
      return false;
    }
    if (ordered[at].value != nullptr) {
      check.error(a.span, "argument '{}' of function '{}' is given twice", inputs[at].name, shown_name(call));
      return false;
    }
    ordered[at] = {std::string(), a.value, a.span};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (ordered[i].value != nullptr || inputs[i].fallback != nullptr) continue;
    check.error(span, "missing argument '{}' of function '{}': expected {}", inputs[i].name, shown_name(call),
                signature(function));
    return false;
  }
  call.arguments = std::move(ordered);
  return true;
}

}  // namespace hopline
