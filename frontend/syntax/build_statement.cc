#include <fmt/format.h>

#include "frontend/syntax/builder.h"

namespace hopline {

using Type = grammar::DmlParser;

Body Builder::program(Parser::ProgramContext& tree) {
  Body out;
  for (Parser::StatementContext* s : tree.statement()) out.push_back(statement(*s));
  return out;
}

Stmt* Builder::statement(Parser::StatementContext& tree) {
  if (auto* s = tree.simple()) return simple(*s);
  if (auto* s = tree.ifStatement()) return if_statement(*s);
  if (auto* s = tree.whileStatement()) return while_statement(*s);
  return for_statement(*tree.forStatement());
}

Stmt* Builder::simple(Parser::SimpleContext& tree) {
  if (tree.function != nullptr) return multi_assignment(tree);
  if (tree.name != nullptr && tree.call != nullptr)
    return ast_.stmt(span(tree), CallStmt{call(*tree.name, *tree.call, span(tree))});
  if (tree.name != nullptr) return assignment(tree);
  if (tree.alias != nullptr)
    return ast_.stmt(span(tree), Source{path(*tree.path()), plain_name(*tree.alias, "a name space")});
  return ast_.stmt(span(tree), SetWorkingDirectory{path(*tree.path())});
}

Expr* Builder::path(Parser::PathContext& tree) {
  if (tree.literal != nullptr) return ast_.expr(span(tree), Literal{unescape(tokens_.text(*tree.literal))});
  return ast_.expr(span(tree), Parameter{std::string(tokens_.text(*tree.parameter).substr(1))});
}

Target Builder::target(Token& name, Parser::TargetIndexContext* index) {
  Target out;
  out.variable.name = plain_name(name, "a variable");
  out.span = tokens_.span(name);
  if (index == nullptr) return out;
  out.indexed = true;
  out.span = through(out.span, span(*index));
  subscripts(*index->subscripts(), out.rows, out.cols, out.single);
  return out;
}

Stmt* Builder::assignment(Parser::SimpleContext& tree) {
  Parser::AssignmentContext& right = *tree.assignment();
  if (right.definition() != nullptr) return definition(tree, *right.definition());
  Target left = target(*tree.name, tree.index);
  if (Parser::IfdefContext* ifdef = right.ifdef()) {
    std::string parameter(tokens_.text(*ifdef->parameter).substr(1));
    return ast_.stmt(span(tree), IfdefAssign{std::move(left), std::move(parameter), expression(*ifdef->fallback)});
  }
  const bool accumulate = right.sign->getType() == Type::ADD_ASSIGN;
  return ast_.stmt(span(tree), Assign{std::move(left), expression(*right.value), accumulate});
}

Stmt* Builder::multi_assignment(Parser::SimpleContext& tree) {
  MultiAssign out;
  for (Parser::TargetContext* t : tree.target()) {
    out.targets.push_back(target(*t->name, t->index));
    if (t->index != nullptr)
      report(out.targets.back().span, "expected a plain variable: an indexed one cannot take one of several results");
  }
  out.call = call(*tree.function, *tree.call, through(tokens_.span(*tree.function), span(*tree.call)));
  return ast_.stmt(span(tree), std::move(out));
}

Body Builder::nested(const std::vector<Parser::StatementContext*>& statements) {
  ++blocks_;
  Body out;
  for (Parser::StatementContext* s : statements) out.push_back(statement(*s));
  --blocks_;
  return out;
}

// Both extend `whole` to the end of the body, without the semicolons that follow it.
Body Builder::block(Parser::BlockContext& tree, Span& whole) {
  whole = through(whole, span(tree));
  return nested(tree.statement());
}

Body Builder::body(Parser::BodyContext& tree, Span& whole) {
  if (tree.block() != nullptr) return block(*tree.block(), whole);
  Body out = nested({tree.statement()});
  whole = through(whole, out.front()->span);
  return out;
}

Stmt* Builder::if_statement(Parser::IfStatementContext& tree) {
  If out;
  Span whole = tokens_.span(*tree.start);
  out.predicate = expression(*tree.predicate);
  if (tree.then != nullptr) {
    out.then = nested({tree.then});
    whole = through(whole, out.then.front()->span);
  } else {
    out.then = block(*tree.block(), whole);
  }
  if (tree.otherwise() != nullptr) out.otherwise = body(*tree.otherwise()->body(), whole);
  return ast_.stmt(whole, std::move(out));
}

Stmt* Builder::while_statement(Parser::WhileStatementContext& tree) {
  While out;
  Span whole = tokens_.span(*tree.start);
  out.predicate = expression(*tree.predicate);
  out.body = body(*tree.body(), whole);
  return ast_.stmt(whole, std::move(out));
}

Stmt* Builder::for_statement(Parser::ForStatementContext& tree) {
  For out;
  Span whole = tokens_.span(*tree.start);
  out.variable.name = plain_name(*tree.variable, "a loop variable");
  out.parallel = tree.word->getType() == Type::PARFOR;
  range_of(tree, out);
  for (Parser::ArgumentContext* option : tree.argument()) {
    out.options.push_back(argument(*option));
    if (option->named == nullptr) report(span(*option), "expected an option of the form name = value");
  }
  out.body = body(*tree.body(), whole);
  return ast_.stmt(whole, std::move(out));
}

// from:to, or seq(from, to[, step]) with or without the names from, to, incr.
void Builder::range_of(Parser::ForStatementContext& tree, For& loop) {
  loop.from = expression(*tree.low);
  if (tree.high != nullptr) {
    loop.to = expression(*tree.high);
    return;
  }
  const Span at = loop.from->span;
  auto* const call = std::get_if<CallExpr>(&loop.from->node);
  bool good = call != nullptr && call->scope.empty() && call->name == "seq" && !call->arguments.empty();
  Expr* parts[3] = {};
  if (good) {
    constexpr std::string_view kNames[] = {"from", "to", "incr"};
    for (size_t i = 0; i < call->arguments.size() && good; ++i) {
      const Argument& a = call->arguments[i];
      size_t place = i;
      if (!a.name.empty()) place = static_cast<size_t>(std::find(kNames, kNames + 3, a.name) - kNames);
      good = place < 3 && parts[place] == nullptr;
      if (good) parts[place] = a.value;
    }
  }
  if (!good || parts[0] == nullptr || parts[1] == nullptr) {
    report(at, "expected a range from:to or seq(from, to, step)");
    loop.to = loop.from;
    return;
  }
  loop.from = parts[0];
  loop.to = parts[1];
  loop.step = parts[2];
}

}  // namespace hopline
