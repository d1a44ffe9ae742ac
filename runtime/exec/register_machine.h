// Runs register programs. One per executor; its stacks of registers are reused.
#pragma once
#include <vector>

#include "runtime/exec/register_program.h"
#include "runtime/exec/scope.h"
#include "runtime/ops/call.h"

namespace hopline {

class RegisterMachine {
 public:
  explicit RegisterMachine(Context& context) : context_(context) {}

  // Runs the program, whose guards hold, on the variables of the scope. `depth`: calls that are active around it.
  void run(const RegisterProgram& program, Scope& scope, int depth);

 private:
  struct Frame {
    const RegisterFunction* function;
    const FunctionCall* call;          // null: the node itself
    const RegisterInstruction* back;   // instruction of the caller to go on with
    size_t first_number, first_value;  // of its registers
  };

  void load(Scope& scope);
  void store(Scope& scope, const std::vector<int32_t>& dead);
  void loop();
  void push(const RegisterFunction& function, const FunctionCall* call);
  void enter(const FunctionCall& call);
  void leave();
  void reset();
  void poll();
  [[noreturn]] void rethrow(const Error& error);
  Span span() const;
  Number* numbers() { return numbers_.data() + frames_.back().first_number; }
  Value* values() { return values_.data() + frames_.back().first_value; }
  const Value& value(const Value* v, int32_t operand) const {
    return operand >= 0 ? v[operand] : program_->constants[static_cast<size_t>(~operand)];
  }

  void whole(const RegisterInstruction& i);
  void bound(const RegisterInstruction& i);
  void truth(const RegisterInstruction& i);
  void convert(const RegisterInstruction& i);
  void list_entry(const RegisterInstruction& i);
  void apply_binary(const Application& a);
  void apply_row(const Application& a);
  [[noreturn]] void not_assigned(const RegisterInstruction& i);
  [[noreturn]] void no_result(const RegisterInstruction& i);

  Context& context_;
  const RegisterProgram* program_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<Number> numbers_;
  std::vector<Value> values_;
  const RegisterInstruction* at_ = nullptr;    // the instruction that may fail
  const RegisterInstruction* next_ = nullptr;  // where the loop goes on after a call or its end
  int depth_ = 0;
};

}  // namespace hopline
