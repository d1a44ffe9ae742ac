// What an expression's names mean. Private to frontend/check.
#pragma once
#include <span>
#include <string>

#include "frontend/check/checker.h"

namespace hopline {

// value: one result is needed. statement: the call stands alone. several: [a, b] = f(...).
enum class Use : uint8_t { value, statement, several };

class CallResolver {
 public:
  explicit CallResolver(FunctionCheck& check) : check_(check), file_(check.info.file) {}

  // Resolves the expression in place; `targets` is how many results a call with Use::several needs.
  void expression(Expr* root, Use use, size_t targets = 1);
  // Gives a call its function, chosen among the variants of a script builtin, and its arguments.
  void bind(Expr& e, CallExpr& call, FunctionInfo& callee, Use use, size_t targets);

 private:
  // Where the default value of a parameter is resolved: names mean the call's parameters first.
  struct Defaults {
    const Function* function;
    std::vector<Argument>* arguments;
  };

  void node(Expr& e, Use use, size_t targets);
  void name(Expr& e, const Name& name);
  bool parameter_name(Expr& e, const std::string& name);
  void call(Expr& e, Use use, size_t targets);
  bool call_function(Expr& e, CallExpr& call, Use use, size_t targets);
  bool call_builtin(Expr& e, CallExpr& call, Use use, size_t targets);
  void call_operator(Expr& e, CallExpr& call, std::span<const Op* const> rows, Use use, size_t targets);
  void call_exists(Expr& e, CallExpr& call);
  void call_eval(Expr& e, CallExpr& call, size_t targets);
  void undefined(const Expr& e, const CallExpr& call);
  std::string hint_for(const CallExpr& call) const;
  bool fill_defaults(Expr& e, CallExpr& call, const Function& function, FileScope* file);
  Expr* clone(const Expr* e);

  FunctionCheck& check_;
  FileScope* file_;  // whose functions a call means: the caller's, or that of a default value
  const Defaults* defaults_ = nullptr;
  int default_depth_ = 0;
  std::vector<Expr*> nodes_;  // of the expressions at work: those of default values lie behind the outer ones
};

}  // namespace hopline
