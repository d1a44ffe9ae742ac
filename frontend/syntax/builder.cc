#include "frontend/syntax/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "frontend/syntax/precedence.h"

namespace hopline {

using Type = grammar::DmlParser;

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_qualified(std::string_view name) { return name.find("::") != std::string_view::npos; }

Kind scalar_kind(std::string_view word) {
  if (word == "int" || word == "integer") return Kind::integer;
  if (word == "double") return Kind::real;
  if (word == "boolean") return Kind::boolean;
  if (word == "string") return Kind::string;
  return Kind::unknown;
}

bool is_number(const antlr4::Token* literal) {
  return literal != nullptr && (literal->getType() == Type::INTEGER || literal->getType() == Type::REAL);
}

}  // namespace

Builder::Levels::Levels(Builder& b, const Token& at) : builder(b) {
  if (++builder.levels_ > kDeepestTree) builder.refuse_depth(at);
}

void Builder::refuse_depth(const Token& at) const {
  fail(tokens_.span(at), "expression is too deep: expected at most {} operators within operators", kDeepestTree);
}

std::string unescape(std::string_view quoted) {
  constexpr std::string_view kLetters = "btnfr\"'", kValues = "\b\t\n\f\r\"'";
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t letter = text[i] == '\\' && i + 1 < text.size() ? kLetters.find(text[i + 1]) : std::string_view::npos;
    if (letter != std::string_view::npos) {
      out += kValues[letter];
      ++i;
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      out += text.substr(i++, 2);
    } else {
      out += text[i];
    }
  }
  return out;
}

Span Builder::through(Span begin, Span end) const {
  begin.length = end.begin + end.length - begin.begin;
  return begin;
}

Span Builder::span(const antlr4::ParserRuleContext& tree) const {
  return through(tokens_.span(*tree.start), tokens_.span(*tree.stop));
}

// The text of a token that names something new, which is never qualified.
std::string Builder::plain_name(const Token& token, const char* what) {
  const std::string_view text = tokens_.text(token);
  if (is_qualified(text)) report(tokens_.span(token), fmt::format("{} cannot be qualified: found '{}'", what, text));
  return std::string(text);
}

// --- expressions

Expr* Builder::expression(Parser::ExpressionContext& tree) {
  const Built built = build(tree);
  children_depth_ = std::max(children_depth_, built.depth);
  return built.expr;
}

Builder::Built Builder::build(Parser::ExpressionContext& tree) {
  Flat flat{tree.items, tree.ops};
  Built built = climb(flat, kLoosest);
  built.span = span(tree);
  return built;
}

// Reads operands joined by operators that bind at least as tightly as `least`.
Builder::Built Builder::climb(Flat& flat, int least) {
  const Levels levels(*this, *flat.operands[flat.operand]->start);
  Built left = prefixed(flat);
  while (flat.operand <= flat.operators.size()) {
    Token& op = *flat.operators[flat.operand - 1];
    const Infix& row = infix(tokens_.text(op));
    if (row.binding < least) break;
    const Built right = climb(flat, right_binding(row));
    const Span whole = through(left.span, right.span);
    const int depth = std::max(left.depth, right.depth) + 1;
    if (depth > kDeepestTree) refuse_depth(op);
    left = {ast_.expr(whole, Operator{std::string(row.symbol), {left.expr, right.expr}}), whole, depth};
  }
  return left;
}

Builder::Built Builder::prefixed(Flat& flat) {
  Parser::OperandContext& operand = *flat.operands[flat.operand];
  if (flat.sign == operand.signs.size()) {
    flat.sign = 0;
    ++flat.operand;
    return atom(operand);
  }
  Token& sign = *operand.signs[flat.sign++];
  const std::string_view symbol = tokens_.text(sign);
  const bool power_follows =
      flat.operand < flat.operators.size() && flat.operators[flat.operand]->getType() == Type::POWER;
  if (symbol == "-" && flat.sign == operand.signs.size() && is_number(operand.literal) && !power_follows) {
    flat.sign = 0;
    ++flat.operand;
    const Span whole = through(tokens_.span(sign), tokens_.span(*operand.literal));
    return {number(*operand.literal, whole, true), whole, 1};
  }
  Built inner = climb(flat, prefix_binding(symbol));
  inner.span = through(tokens_.span(sign), inner.span);
  if (symbol == "+") return inner;
  return {ast_.expr(inner.span, Operator{std::string(symbol), {inner.expr}}), inner.span, inner.depth + 1};
}

// What stands between operators, without the signs before it.
Builder::Built Builder::atom(Parser::OperandContext& tree) {
  Built built;
  Token* first = tree.open;
  for (Token* other : {tree.name, tree.literal, tree.parameter})
    if (first == nullptr) first = other;
  built.span = through(tokens_.span(*first), tokens_.span(*tree.stop));
  const int outer = children_depth_;
  children_depth_ = 0;
  if (tree.inner != nullptr) {
    built.expr = expression(*tree.inner);
  } else if (tree.name != nullptr) {
    built.expr = named(tree, built.span);
  } else if (tree.literal != nullptr) {
    built.expr = literal(*tree.literal, built.span);
  } else if (tree.parameter != nullptr) {
    built.expr = ast_.expr(built.span, Parameter{std::string(tokens_.text(*tree.parameter).substr(1))});
  } else {
    ExprList list;
    for (Parser::ExpressionContext* item : tree.list) list.items.push_back(expression(*item));
    built.expr = ast_.expr(built.span, std::move(list));
  }
  built.depth = children_depth_ + 1;
  children_depth_ = outer;
  return built;
}

Expr* Builder::named(Parser::OperandContext& tree, Span span) {
  if (tree.call != nullptr) return call(*tree.name, *tree.call, span);
  Name name{plain_name(*tree.name, "a variable"), -1};
  if (tree.index == nullptr) return ast_.expr(span, std::move(name));
  Index index;
  index.base = std::move(name);
  subscripts(*tree.index, index.rows, index.cols, index.single);
  return ast_.expr(span, std::move(index));
}

Expr* Builder::call(Token& function, Parser::ArgumentsContext& tree, Span span) {
  const std::string_view name = tokens_.text(function);
  const size_t colons = name.find("::");
  CallExpr call;
  if (colons != std::string_view::npos) call.scope = name.substr(0, colons);
  call.name = colons == std::string_view::npos ? name : name.substr(colons + 2);
  call.arguments = arguments(tree);
  return ast_.expr(span, std::move(call));
}

std::vector<Argument> Builder::arguments(Parser::ArgumentsContext& tree) {
  std::vector<Argument> out;
  for (Parser::ArgumentContext* item : tree.argument()) out.push_back(argument(*item));
  return out;
}

Argument Builder::argument(Parser::ArgumentContext& tree) {
  Argument out;
  out.span = span(tree);
  if (tree.named == nullptr) {
    out.value = expression(*tree.value);
    return out;
  }
  const Parser::ExpressionContext& left = *tree.value;
  const Parser::OperandContext& operand = *left.items[0];
  if (left.items.size() > 1 || !operand.signs.empty() || operand.name == nullptr || operand.call != nullptr ||
      operand.index != nullptr)
    report(span(left), "expected a name before '=' in an argument; '==' compares");
  else
    out.name = plain_name(*operand.name, "an argument's name");
  out.value = expression(*tree.named);
  return out;
}

Expr* Builder::literal(Token& token, Span span) {
  switch (token.getType()) {
    case Type::STRING:
      return ast_.expr(span, Literal{unescape(tokens_.text(token))});
    case Type::TRUE:
      return ast_.expr(span, Literal{true});
    case Type::FALSE:
      return ast_.expr(span, Literal{false});
    default:
      return number(token, span, false);
  }
}

Expr* Builder::number(Token& token, Span span, bool negative) {
  const std::string_view digits = tokens_.text(token);
  if (token.getType() == Type::REAL) {
    double value = 0;  // from_chars leaves it alone out of range: 1e999 is infinite, 1e-999 is zero
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc::result_out_of_range)
      value = std::strtod(std::string(digits).c_str(), nullptr);
    return ast_.expr(span, Literal{negative ? -value : value});
  }
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr uint64_t kLargest = INT64_MAX;
  if (value > kLargest + (negative ? 1 : 0))
    report(span, fmt::format("integer out of range: expected at most {}, found {}", kLargest, digits));
  return ast_.expr(span, Literal{static_cast<int64_t>(negative ? 0 - value : value)});
}

void Builder::subscripts(Parser::SubscriptsContext& tree, IndexRange& rows, IndexRange& cols, bool& single) {
  if (tree.rows != nullptr) rows = range(*tree.rows);
  if (tree.cols != nullptr) cols = range(*tree.cols);
  single = tree.comma == nullptr && tree.rows != nullptr;
}

IndexRange Builder::range(Parser::RangeContext& tree) {
  IndexRange out;
  out.given = true;
  out.low = expression(*tree.low);
  if (tree.high != nullptr) out.high = expression(*tree.high);
  return out;
}

// --- declarations

Kind Builder::type(Parser::TypeContext& tree) {
  const std::string word = lower(tokens_.text(*tree.word));
  const std::string element = tree.element == nullptr ? "" : lower(tokens_.text(*tree.element));
  const bool is_value_type = tree.word->getType() == Type::VALUE_TYPE;
  if (is_value_type && element.empty()) return scalar_kind(word);
  if (word == "scalar") return scalar_kind(element);
  if (word == "frame") return Kind::frame;
  if (word == "list") return Kind::list;
  if (word == "tensor" || word == "object") return Kind::unknown;
  if (word != "matrix") {
    report(span(tree),
           fmt::format("expected a type (matrix[double], frame[string], list[unknown], double, int, boolean, "
                       "string), found '{}'",
                       tokens_.text(*tree.word)));
    return Kind::unknown;
  }
  if (!element.empty() && element != "double" && element != "unknown")
    report(span(tree), fmt::format("a matrix holds doubles: expected matrix[double], found matrix[{}]", element));
  return Kind::matrix;
}

std::vector<ParameterDecl> Builder::parameters(Parser::ParametersContext* tree, bool outputs) {
  std::vector<ParameterDecl> out;
  if (tree == nullptr) return out;
  for (Parser::DeclarationContext* d : tree->declaration()) {
    ParameterDecl& parameter = out.emplace_back();
    parameter.name = plain_name(*d->name, outputs ? "an output" : "a parameter");
    parameter.kind = type(*d->type());
    parameter.span = span(*d);
    if (d->fallback == nullptr) continue;
    parameter.fallback = expression(*d->fallback);
    if (outputs)
      report(parameter.span, fmt::format("an output has no default value: found one for '{}'", parameter.name));
  }
  return out;
}

Stmt* Builder::definition(Parser::SimpleContext& tree, Parser::DefinitionContext& definition) {
  FunctionDef function;
  function.name = plain_name(*tree.name, "a function that is defined");
  function.external = definition.EXTERNAL() != nullptr;
  const Span head = tokens_.span(*tree.name);
  if (tree.index != nullptr) report(head, "expected a plain name before '= function'");
  if (blocks_ > 0)
    report(head, fmt::format("functions are defined at the top level only: found '{}' in a block", function.name));
  const std::vector<Parser::ParametersContext*> lists = definition.parameters();
  for (Parser::ParametersContext* list : lists) {
    const bool is_output = list == definition.outputs;
    (is_output ? function.outputs : function.inputs) = parameters(list, is_output);
  }
  if (function.external) {
    function.implementation = arguments(*definition.implementation);
  } else {
    function.body = nested(definition.statement());
    if (function.body.empty()) report(head, fmt::format("the body of function '{}' is empty", function.name));
  }
  return ast_.stmt(span(tree), std::move(function));
}

}  // namespace hopline
