// Follows the kinds of variables through a function. Private to frontend/check.
#pragma once
#include <span>
#include <vector>

#include "frontend/check/checker.h"
#include "frontend/check/flow_state.h"
#include "frontend/check/operator_kinds.h"

namespace hopline {

constexpr Kinds kIndexable = kMatrix | kFrame | kList;

// A set of kinds per variable; the bit of Kind::none says that it may be undefined.
inline Kinds defined(uint16_t state) { return state & static_cast<Kinds>(~kNone); }

class KindFlow {
 public:
  explicit KindFlow(FunctionCheck& check) : check_(check) {}
  void run();

 private:
  // Statements
  void body(const Body& statements) {
    for (Stmt* s : statements) statement(*s);
  }
  void statement(Stmt& stmt);
  void assign(const Assign& assign, const Span& span);
  void multi_assign(const MultiAssign& multi);
  void branch(If& branch);
  void while_loop(Stmt& stmt, While& loop);
  void for_loop(Stmt& stmt, For& loop);
  void forget_locals(size_t mark);
  void check_outputs();

  // Loops: what a variable may be at the head of the outermost loop or of any loop within.
  struct Range {
    size_t begin, end;  // in writes_
  };
  void enter_loop(Stmt& stmt);
  void leave_loop() { --loops_; }
  void collect(Stmt& stmt);
  void collect(const Body& statements) {
    for (Stmt* s : statements) collect(*s);
  }
  void find_fixed_point();
  void transfer(Stmt& stmt);

  // Expressions
  Kinds value(Expr* root);
  void node(Expr& e, std::span<const Operand> in);
  void index(Expr& e, const Index& x, std::span<const Operand> in);
  void bounds(const IndexRange& rows, const IndexRange& cols, Kinds base, std::span<const Operand> in);
  void call(Expr& e, CallExpr& call, std::span<const Operand> in);
  void call_operator(Expr& e, const CallExpr& call, std::span<const Operand> in);
  void call_function(const CallExpr& call, std::span<const Operand> in);
  void decide(Expr& e, CallExpr& call, std::span<const Operand> operands);
  void exists(Expr& e, const CallExpr& call);
  Kinds variable(const Name& name, const Span& span);
  std::string why_undefined(const Name& name, const Span& span) const;
  void predicate(Expr* e, const char* what);
  void bound(Expr* e, const char* what);
  void write(const Target& target, Kinds value, const Span& value_span);

  template <class... Args>
  void error(const Span& span, fmt::format_string<Args...> text, Args&&... args) {
    if (reporting_) check_.error(span, text, std::forward<Args>(args)...);
  }
  void set(int32_t slot, Kinds value) { state_.set(slot, value); }

  FunctionCheck& check_;
  FlowState state_;
  OperatorKinds operators_;
  std::vector<Expr*> nodes_;     // of the expressions at work
  std::vector<Operand> values_;  // of the expression at work
  std::vector<Kinds> results_;   // of the node evaluated last
  std::vector<bool> undefined_reported_;
  bool reporting_ = true;
  int loops_ = 0;
  std::vector<int32_t> writes_;  // slots written in the outermost loop, in program order
  std::vector<Stmt*> writers_;
  std::vector<Range> ranges_;  // of its loops, in program order
  size_t next_range_ = 0;
  std::vector<Kinds> at_head_;  // by slot
};

}  // namespace hopline
