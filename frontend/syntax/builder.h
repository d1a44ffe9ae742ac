// ANTLR tree -> syntax tree. Private to frontend/syntax.
#pragma once
#include "DmlParser.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/tokens.h"

namespace hopline {

// Operators within operators, to either side: whoever walks trees by recursion on a large stack has room for it.
constexpr int kDeepestTree = 50000;

// Builds from a tree without syntax errors; what the grammar is too wide for goes to `errors`.
class Builder {
 public:
  Builder(Ast& ast, const Tokens& tokens, std::vector<Diagnostic>& errors)
      : ast_(ast), tokens_(tokens), errors_(errors) {}
  Stmt* statement(grammar::DmlParser::StatementContext& tree);
  Body program(grammar::DmlParser::ProgramContext& tree);
  Expr* expression(grammar::DmlParser::ExpressionContext& tree);

 private:
  using Parser = grammar::DmlParser;
  using Token = antlr4::Token;

  Stmt* simple(Parser::SimpleContext& tree);
  Stmt* assignment(Parser::SimpleContext& tree);
  Stmt* multi_assignment(Parser::SimpleContext& tree);
  Stmt* definition(Parser::SimpleContext& tree, Parser::DefinitionContext& definition);
  Stmt* if_statement(Parser::IfStatementContext& tree);
  Stmt* while_statement(Parser::WhileStatementContext& tree);
  Stmt* for_statement(Parser::ForStatementContext& tree);
  void range_of(Parser::ForStatementContext& tree, For& loop);
  Body nested(const std::vector<Parser::StatementContext*>& statements);
  Body body(Parser::BodyContext& tree, Span& whole);
  Body block(Parser::BlockContext& tree, Span& whole);

  Target target(Token& name, Parser::TargetIndexContext* index);
  void subscripts(Parser::SubscriptsContext& tree, IndexRange& rows, IndexRange& cols, bool& single);
  IndexRange range(Parser::RangeContext& tree);
  std::vector<Argument> arguments(Parser::ArgumentsContext& tree);
  Argument argument(Parser::ArgumentContext& tree);
  std::vector<ParameterDecl> parameters(Parser::ParametersContext* tree, bool outputs);
  Kind type(Parser::TypeContext& tree);

  // An expression with what its brackets hide: the tokens it stands on and its depth as a tree.
  struct Built {
    Expr* expr = nullptr;
    Span span;
    int depth = 0;
  };
  // A flat list of operands and operators, and how far it has been read.
  struct Flat {
    const std::vector<Parser::OperandContext*>& operands;
    const std::vector<Token*>& operators;
    size_t operand = 0, sign = 0;  // sign: of the operand's prefix signs
  };
  struct Levels {
    Levels(Builder& builder, const Token& at);
    ~Levels() { --builder.levels_; }
    Builder& builder;
  };
  [[noreturn]] void refuse_depth(const Token& at) const;
  Built build(Parser::ExpressionContext& tree);
  Built climb(Flat& flat, int least_binding);
  Built prefixed(Flat& flat);
  Built atom(Parser::OperandContext& tree);
  Expr* named(Parser::OperandContext& tree, Span span);
  Expr* literal(Token& token, Span span);
  Expr* number(Token& token, Span span, bool negative);
  Expr* call(Token& function, Parser::ArgumentsContext& arguments, Span span);
  Expr* path(Parser::PathContext& tree);

  Span span(const antlr4::ParserRuleContext& tree) const;
  Span through(Span begin, Span end) const;
  std::string plain_name(const Token& token, const char* what);
  void report(Span span, std::string message) { errors_.push_back({span, std::move(message)}); }

  Ast& ast_;
  const Tokens& tokens_;
  std::vector<Diagnostic>& errors_;
  int children_depth_ = 0;  // of the deepest expression() of the operand that is being built
  int levels_ = 0;          // of climb() that are active
  int blocks_ = 0;          // that enclose the current statement
};

// The value of a string literal with its quotes. The six letters, both quotes are replaced; "\\" stays two characters,
// as in SystemML and SystemDS (specifications inside strings rely on it).
std::string unescape(std::string_view quoted);

}  // namespace hopline
