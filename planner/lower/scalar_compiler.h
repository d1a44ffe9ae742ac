// The compiler of register programs: statements and expressions of one function, for certain kinds of its arguments.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "frontend/syntax/ast.h"
#include "planner/lower/scalar_emitter.h"
#include "runtime/exec/scope.h"

namespace hopline {

class ScalarFunction;

// What all functions of one program share.
struct ScalarCompiler {
  explicit ScalarCompiler(RegisterProgram& p) : program(p) {}
  ~ScalarCompiler();
  RegisterProgram& program;
  // By routine and the kinds of the arguments.
  std::map<std::pair<const Routine*, std::vector<Kinds>>, ScalarFunction*> by_routine;
  std::deque<std::unique_ptr<ScalarFunction>> functions;
  int depth = 0;  // of nodes and expressions that are being compiled
  int calls = 0;  // of functions that are being compiled
  ScalarFunction& function(const Routine& routine, const std::vector<Kinds>& arguments);
};

class ScalarFunction : private ScalarEmitter {
 public:
  ScalarFunction(ScalarCompiler& whole, const Routine& routine, size_t index);

  // The node with the variables of a scope.
  void compile_node(const Node& node, const Scope& scope);

 private:
  friend struct ScalarCompiler;
  using Variables = std::vector<Kinds>;  // by slot
  // A predicate as the jump that is taken when it holds, or when it does not.
  struct Test {
    Operation yes = Operation::jump_if, no = Operation::jump_if_not;
    int32_t yes_a = 0, yes_b = 0, no_a = 0, no_b = 0;
  };
  struct Output {
    Kinds kinds = 0;  // of what the caller gets; converted already when it is of the declared kind alone
    int32_t number = -1, value = -1;
  };

  void compile_routine(const std::vector<Kinds>& arguments);
  void return_outputs();

  // scalar_control.cc
  void sequence(const NodeList& nodes);
  void node(const Node& node);
  void branch(const Node& node, const Branch& branch);
  void loop(const Node& node, const Loop& loop);
  void count(const Node& node, const Count& count);
  void count_bounds(const Node& node, const Count& count, int32_t base);
  void invoke(const Node& node, const Invoke& call);
  void take_results(const Node& node, const Invoke& call, std::vector<ScalarValue>& results);
  ScalarValue convert_to(const ScalarValue& x, Kind declared, bool output, const std::string& name,
                         const Routine& routine);
  int32_t conversion(Kind declared, bool output, const std::string& name, const Routine& routine);
  Test test(const NodeList& before, int32_t predicate, const Node& node);
  Test test_of(const ScalarValue& x);
  Test comparison(const Operator& o);
  size_t jump_unless(const Test& t) { return emit(t.no, t.no_a, t.no_b); }
  Variables meet(const Variables& a, const Variables& b) const;
  void kill(const std::vector<int32_t>& slots);

  // scalar_expression.cc
  void statement(const Stmt& stmt);
  void assign(const Assign& a);
  void assign_several(const MultiAssign& m);
  void set(int32_t slot, const ScalarValue& x);
  ScalarValue read(int32_t slot, const Span& span);
  ScalarValue expression(const Expr& e);
  ScalarValue call(const CallExpr& c, const Span& span);
  ScalarValue index(const Index& x, const Span& span);
  std::vector<ScalarValue> bounds(const IndexRange& rows, const IndexRange& cols);
  ScalarValue entry(const Index& x, const Span& span);
  ScalarValue infix(const Op& op, const ScalarValue& x, const ScalarValue& y);
  ScalarValue numbers(const Op& op, const ScalarValue& x, const ScalarValue& y);
  ScalarValue whole_numbers(const Op& op, const ScalarValue& x, const ScalarValue& y);
  ScalarValue compare(const Op& op, const ScalarValue& x, const ScalarValue& y);
  ScalarValue one(const Op& op, const ScalarValue& x);
  ScalarValue concatenate(const ScalarValue& x, const ScalarValue& y);
  std::vector<ScalarValue> apply(const Op& op, const std::vector<ScalarValue>& in, std::vector<std::string> names,
                                 const Span& span);
  bool read_once(int32_t slot) const;
  void touch(int32_t slot);

  ScalarCompiler& whole_;
  const Routine& routine_;
  size_t index_;
  const Scope* scope_ = nullptr;  // of the node's own function
  Variables variables_;
  std::map<int32_t, bool> touched_;  // of the node's own function: loaded slots
  std::map<int32_t, bool> assigned_;
  std::map<const Node*, Variables> headers_;  // kinds at the begin of each loop
  std::map<const Node*, int32_t> counters_;
  const Stmt* statement_ = nullptr;  // that is being compiled
  std::vector<Output> outputs_;
  bool complete_ = false;  // outputs_ is what the code gives
  bool assumed_ = false;   // a call within the function relied on the declared kinds of outputs_
};

}  // namespace hopline
