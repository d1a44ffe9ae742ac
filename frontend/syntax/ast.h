// The syntax tree: closed sets of expressions and statements. Nodes live in an Ast, are walked by pointer and freed
// together, without recursion. The checker fills in the fields marked [check].
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/data/kind.h"

namespace hopline {

struct Op;
struct Function;
struct Expr;
struct Stmt;

struct Literal {
  std::variant<bool, int64_t, double, std::string> value;
};
struct Name {
  std::string name;
  int32_t slot = -1;  // [check] of the function's scope
};
struct Parameter {  // $name, $1; [check] replaces it by a Literal
  std::string name;
};
struct Operator {  // unary or infix, symbol as written: "+", "%*%", "!"
  std::string symbol;
  std::vector<Expr*> operands;
  const Op* op = nullptr;  // [check]
};
struct Argument {
  std::string name;       // empty when positional
  Expr* value = nullptr;  // [check] in canonical order of the row's parameters; null where an optional one is absent
  Span span;
};
struct CallExpr {
  std::string scope, name;  // scope::name; scope is empty when unqualified
  std::vector<Argument> arguments;
  const Op* op = nullptr;              // [check] exactly one of op and function is set, except for eval
  const Function* function = nullptr;  // [check]
};
struct IndexRange {
  bool given = false;  // false: all rows / columns
  Expr* low = nullptr;
  Expr* high = nullptr;  // null: a single index
};
struct Index {
  Name base;
  IndexRange rows, cols;
  bool single = false;  // X[i]: a row of a matrix or an entry of a list
};
struct ExprList {  // [e1, e2]
  std::vector<Expr*> items;
};

struct Expr {
  Span span;
  std::variant<Literal, Name, Parameter, Operator, CallExpr, Index, ExprList> node;
};

struct Target {  // what an assignment writes
  Name variable;
  bool indexed = false;
  IndexRange rows, cols;
  bool single = false;
  Span span;
};

using Body = std::vector<Stmt*>;

struct Assign {
  Target target;
  Expr* value = nullptr;
  bool accumulate = false;  // +=
};
struct IfdefAssign {  // x = ifdef($p, default); [check] replaces it by an Assign
  Target target;
  std::string parameter;
  Expr* fallback = nullptr;
};
struct MultiAssign {  // [a, b] = f(...); after [check] also every call of a user function (see normal form in check.h)
  std::vector<Target> targets;
  Expr* call = nullptr;
};
struct CallStmt {  // print(...), write(...), f(x)
  Expr* call = nullptr;
};
struct If {
  Expr* predicate = nullptr;
  Body then, otherwise;
  Body before;  // [check] statements that compute what the predicate needs
};
struct While {
  Expr* predicate = nullptr;
  Body body;
  Body before;  // [check] run before every evaluation of the predicate
};
struct For {
  Name variable;
  Expr *from = nullptr, *to = nullptr, *step = nullptr;  // step may be null
  bool parallel = false;                                 // parfor
  std::vector<Argument> options;                         // of a parfor: check=0, par=4
  Body body;
  Body before;  // [check] run once, computes what the bounds need
};
struct ParameterDecl {
  std::string name;
  Kind kind = Kind::unknown;  // declared type; unknown when left open
  Expr* fallback = nullptr;   // default value, or null
  Span span;
};
struct FunctionDef {
  std::string name;
  std::vector<ParameterDecl> inputs, outputs;
  Body body;
  bool external = false;  // externalFunction ... implemented in (...)
  std::vector<Argument> implementation;
};
struct Source {
  Expr* path = nullptr;  // Literal string or Parameter
  std::string alias;
};
struct SetWorkingDirectory {
  Expr* path = nullptr;
};

struct Stmt {
  Span span;
  std::variant<Assign, IfdefAssign, MultiAssign, CallStmt, If, While, For, FunctionDef, Source, SetWorkingDirectory>
      node;
  std::vector<int32_t> dies;  // [check] slots that nothing reads after this statement
};

// Owns the nodes of one or more files.
class Ast {
 public:
  Expr* expr(Span span, decltype(Expr::node) node) { return &exprs_.emplace_back(Expr{span, std::move(node)}); }
  Stmt* stmt(Span span, decltype(Stmt::node) node) { return &stmts_.emplace_back(Stmt{span, std::move(node), {}}); }

 private:
  std::deque<Expr> exprs_;
  std::deque<Stmt> stmts_;
};

}  // namespace hopline
