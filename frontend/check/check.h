// Syntax tree -> checked program: names, scopes, source(), $arguments, types, arity, definite assignment; in normal
// form.
//
// Normal form (what the planner relies on):
// * Every Name and Index::base has its slot; every Operator and CallExpr its Op row or Function. No Parameter,
// IfdefAssign,
//   Source, SetWorkingDirectory, FunctionDef or ExprList ([a, b] is a call of list) is left in a body. pi, NaN, Inf are
//   Literals.
// * Calls of user functions stand only as MultiAssign{targets, call} (or CallStmt), never nested: inner calls are first
//   given to temporaries, in evaluation order. Arguments are in the order of the function's parameters, defaults filled
//   in (evaluated in the caller's scope, earlier parameters first); each is a Name or a Literal. The same holds for
//   eval and evalList: CallExpr with neither op nor function.
// * The targets of a MultiAssign are plain variables. An operator of several outputs stands only there.
// * An operator whose row says size_from_data, and an entry of a list by index (as.scalar(L[i]), as.matrix(L[i])), is
// the
//   whole value of an Assign to a plain variable (often a temporary), never nested.
// * Arguments of an operator stand in the order of its row's parameters, one per parameter (null where an optional one
// is
//   absent); defaults are filled in as Literals. Variadic operators keep what was given, with names.
// * exists(x) has one argument, the Name of the variable, which need not be defined; where that is decided for every
// path
//   it is a Literal.
// * X[...] = v is Assign with an indexed Target; x += e is Assign{accumulate}.
//
// Stmt::dies: a slot is listed at the statement after which nothing reads it. A compound statement lists, besides what
// its inner statements list, the slots that live into it (or are read by its predicate or bounds) and are read no more
// after it: they are dead when it has ended; a branch may have listed them already.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/syntax/ast.h"
#include "runtime/base/error.h"
#include "runtime/base/source_files.h"

namespace hopline {

// A function of the program, or its main body (`def` null).
struct Function {
  std::string scope, name;  // scope: canonical path of its file, or "" for the main script
  const FunctionDef* def = nullptr;
  Span span;
  std::vector<int32_t> inputs, outputs;  // slots
  std::vector<Kind> input_kinds, output_kinds;
  std::vector<std::string> slots;  // names of all slots; temporaries have names starting with "%"
  Body body;
  bool recursive = false;  // calls itself, directly or through others
  bool has_loop = false;
  int32_t num_statements = 0;
};

class Checker;  // what find_function needs after the check

struct Program {
  std::shared_ptr<SourceFiles> files;
  Ast ast;
  Function main;
  std::deque<Function> functions;
  std::vector<Diagnostic> warnings;
  std::shared_ptr<Checker> checker;
};

struct CheckOptions {
  std::map<std::string, std::string> arguments;  // $name -> text; positional ones are "1", "2", ...
  // Text of a sourced file, or nullopt; the second is its canonical name. `from` is the canonical name of the file that
  // sources it ("" for the main script). Null: the real file system. The library inside the program follows in either
  // case, in the order of design section 1.
  std::function<std::optional<std::pair<std::string, std::string>>(const std::string& path, const std::string& from)>
      load;
  std::vector<std::string> outputs;  // variables of the main script that are read after its end
};

// Throws Error{script} with every error found (at most 20).
std::unique_ptr<Program> check(std::shared_ptr<SourceFiles> files, uint32_t main_file, const CheckOptions& options);

// A function known by its run-time name ("f", "ns::f", a script builtin), for eval; loads a builtin on demand. Null
// when there is none. `first` is the kind of the first argument. Throws Error{script} where the function, or one that
// it calls, has errors. May be called by several threads.
const Function* find_function(Program& program, const Function& from, const std::string& name, Kind first);

}  // namespace hopline
