#include "frontend/syntax/print.h"

#include <fmt/format.h>

#include <cmath>

#include "frontend/syntax/precedence.h"

namespace hopline {
namespace {

bool is_negative(const Literal& literal) {
  if (const auto* i = std::get_if<int64_t>(&literal.value)) return *i < 0;
  if (const auto* d = std::get_if<double>(&literal.value)) return std::signbit(*d) && !std::isnan(*d);
  return false;
}

bool is_number(const Expr& expr) {
  const auto* literal = std::get_if<Literal>(&expr.node);
  return literal != nullptr && (literal->value.index() == 1 || literal->value.index() == 2);
}

Binding binding(const Expr& expr) {
  if (const auto* literal = std::get_if<Literal>(&expr.node)) return is_negative(*literal) ? kSign : kAtom;
  const auto* op = std::get_if<Operator>(&expr.node);
  if (op == nullptr) return kAtom;
  if (op->operands.size() == 1) return prefix_binding(op->symbol);
  return infix(op->symbol).binding;
}

void append(std::string& out, const Expr& expr);

void append_within(std::string& out, const Expr& expr, Binding least) {
  const bool parentheses = binding(expr) < least;
  if (parentheses) out += '(';
  append(out, expr);
  if (parentheses) out += ')';
}

// What a left operand binds at least.
Binding left_binding(const Infix& infix) { return infix.binding == kPower ? kAtom : infix.binding; }

void append_string(std::string& out, const std::string& text) {
  constexpr std::string_view kValues = "\b\t\n\f\r\"", kLetters = "btnfr\"";
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t escaped = kValues.find(text[i]);
    if (escaped != std::string_view::npos) {
      out += '\\';
      out += kLetters[escaped];
    } else if (text[i] == '\\') {
      out += "\\\\";  // the only way to write one; two in a row are one escape
      if (i + 1 < text.size() && text[i + 1] == '\\') ++i;
    } else {
      out += text[i];
    }
  }
  out += '"';
}

void append_real(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-1e999" : "1e999";
  } else {
    const std::string digits = fmt::format("{}", value);
    out += digits;
    if (digits.find_first_of(".e") == std::string::npos) out += ".0";
  }
}

void append_literal(std::string& out, const Literal& literal) {
  if (const auto* b = std::get_if<bool>(&literal.value))
    out += *b ? "TRUE" : "FALSE";
  else if (const auto* i = std::get_if<int64_t>(&literal.value))
    out += fmt::format("{}", *i);
  else if (const auto* d = std::get_if<double>(&literal.value))
    append_real(out, *d);
  else
    append_string(out, std::get<std::string>(literal.value));
}

void append_prefix(std::string& out, const Operator& op) {
  out += op.symbol;
  const Expr& operand = *op.operands[0];
  // A number right after the sign would become part of the literal.
  if (op.symbol == "-" && is_number(operand) && binding(operand) == kAtom) {
    out += '(';
    append(out, operand);
    out += ')';
  } else {
    append_within(out, operand, prefix_binding(op.symbol));
  }
}

// A chain a + b + c + ... leans to the left and may be long: a loop, not recursion.
void append_infix(std::string& out, const Expr& expr) {
  std::vector<const Operator*> chain;
  const Expr* at = &expr;
  while (true) {
    const auto* op = std::get_if<Operator>(&at->node);
    if (op == nullptr || op->operands.size() != 2) break;
    chain.push_back(op);
    at = op->operands[0];
    if (binding(*at) < left_binding(infix(op->symbol))) break;
  }
  append_within(out, *at, left_binding(infix(chain.back()->symbol)));
  for (size_t i = chain.size(); i-- > 0;) {
    out += ' ';
    out += chain[i]->symbol;
    out += ' ';
    append_within(out, *chain[i]->operands[1], right_binding(infix(chain[i]->symbol)));
  }
}

void append_arguments(std::string& out, const std::vector<Argument>& arguments) {
  const char* separator = "";
  out += '(';
  for (const Argument& a : arguments) {
    if (a.value == nullptr) continue;
    out += separator;
    separator = ", ";
    if (!a.name.empty()) out += a.name + "=";
    append(out, *a.value);
  }
  out += ')';
}

void append_range(std::string& out, const IndexRange& range) {
  if (!range.given) return;
  append(out, *range.low);
  if (range.high == nullptr) return;
  out += ':';
  append(out, *range.high);
}

void append_subscripts(std::string& out, const IndexRange& rows, const IndexRange& cols, bool single) {
  out += '[';
  append_range(out, rows);
  if (!single) out += ',';
  if (!single && cols.given) out += ' ';
  append_range(out, cols);
  out += ']';
}

struct ExprPrinter {
  std::string& out;
  const Expr& expr;
  void operator()(const Literal& e) { append_literal(out, e); }
  void operator()(const Name& e) { out += e.name; }
  void operator()(const Parameter& e) { out += "$" + e.name; }
  void operator()(const Operator& e) { e.operands.size() == 1 ? append_prefix(out, e) : append_infix(out, expr); }
  void operator()(const CallExpr& e) {
    if (!e.scope.empty()) out += e.scope + "::";
    out += e.name;
    append_arguments(out, e.arguments);
  }
  void operator()(const Index& e) {
    out += e.base.name;
    append_subscripts(out, e.rows, e.cols, e.single);
  }
  void operator()(const ExprList& e) {
    const char* separator = "[";
    for (const Expr* item : e.items) {
      out += separator;
      append(out, *item);
      separator = ", ";
    }
    out += ']';
  }
};

void append(std::string& out, const Expr& expr) { std::visit(ExprPrinter{out, expr}, expr.node); }

void append_target(std::string& out, const Target& target) {
  out += target.variable.name;
  if (target.indexed) append_subscripts(out, target.rows, target.cols, target.single);
}

const char* type_word(Kind kind) {
  switch (kind) {
    case Kind::boolean:
      return "boolean";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "double";
    case Kind::string:
      return "string";
    case Kind::matrix:
      return "matrix[double]";
    case Kind::frame:
      return "frame[unknown]";
    case Kind::list:
      return "list[unknown]";
    default:
      return "unknown";
  }
}

void append_parameters(std::string& out, const std::vector<ParameterDecl>& parameters) {
  const char* separator = "";
  out += '(';
  for (const ParameterDecl& p : parameters) {
    out += fmt::format("{}{} {}", separator, type_word(p.kind), p.name);
    separator = ", ";
    if (p.fallback == nullptr) continue;
    out += " = ";
    append(out, *p.fallback);
  }
  out += ')';
}

void append(std::string& out, const Body& body, int indent);

// " {", the statements, "}" without a line end.
void append_block(std::string& out, const Body& body, int indent) {
  out += " {\n";
  append(out, body, indent + 1);
  out.append(static_cast<size_t>(indent) * 2, ' ');
  out += '}';
}

struct StmtPrinter {
  std::string& out;
  int indent;
  void operator()(const Assign& s) {
    append_target(out, s.target);
    out += s.accumulate ? " += " : " = ";
    append(out, *s.value);
  }
  void operator()(const IfdefAssign& s) {
    append_target(out, s.target);
    out += " = ifdef($" + s.parameter + ", ";
    append(out, *s.fallback);
    out += ')';
  }
  void operator()(const MultiAssign& s) {
    const char* separator = "[";
    for (const Target& t : s.targets) {
      out += separator;
      append_target(out, t);
      separator = ", ";
    }
    out += "] = ";
    append(out, *s.call);
  }
  void operator()(const CallStmt& s) { append(out, *s.call); }
  void operator()(const If& s) {
    out += "if (";
    append(out, *s.predicate);
    out += ')';
    append_block(out, s.then, indent);
    if (s.otherwise.empty()) return;
    out += " else";
    const auto* chained = s.otherwise.size() == 1 ? std::get_if<If>(&s.otherwise[0]->node) : nullptr;
    if (chained == nullptr) return append_block(out, s.otherwise, indent);
    out += ' ';
    (*this)(*chained);
  }
  void operator()(const While& s) {
    out += "while (";
    append(out, *s.predicate);
    out += ')';
    append_block(out, s.body, indent);
  }
  void operator()(const For& s) {
    out += fmt::format("{} ({} in ", s.parallel ? "parfor" : "for", s.variable.name);
    if (s.step != nullptr) out += "seq(";
    append(out, *s.from);
    out += s.step != nullptr ? ", " : ":";
    append(out, *s.to);
    if (s.step != nullptr) {
      out += ", ";
      append(out, *s.step);
      out += ')';
    }
    for (const Argument& option : s.options) {
      out += fmt::format(", {}=", option.name);
      append(out, *option.value);
    }
    out += ')';
    append_block(out, s.body, indent);
  }
  void operator()(const FunctionDef& s) {
    out += s.name + (s.external ? " = externalFunction" : " = function");
    append_parameters(out, s.inputs);
    if (!s.outputs.empty()) {
      out += " return ";
      append_parameters(out, s.outputs);
    }
    if (!s.external) return append_block(out, s.body, indent);
    out += " implemented in ";
    append_arguments(out, s.implementation);
  }
  void operator()(const Source& s) {
    out += "source(";
    append(out, *s.path);
    out += ") as " + s.alias;
  }
  void operator()(const SetWorkingDirectory& s) {
    out += "setwd(";
    append(out, *s.path);
    out += ')';
  }
};

void append(std::string& out, const Body& body, int indent) {
  for (const Stmt* statement : body) {
    out.append(static_cast<size_t>(indent) * 2, ' ');
    std::visit(StmtPrinter{out, indent}, statement->node);
    out += '\n';
  }
}

}  // namespace

std::string print(const Expr& expr) {
  std::string out;
  append(out, expr);
  return out;
}

std::string print(const Body& body, int indent) {
  std::string out;
  append(out, body, indent);
  return out;
}

}  // namespace hopline
