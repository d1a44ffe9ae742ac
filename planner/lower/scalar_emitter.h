// Emits the instructions of one function of a register program: registers, constants, where each variable lives.
#pragma once
#include <map>
#include <vector>

#include "planner/lower/scalar_kinds.h"
#include "runtime/exec/program.h"
#include "runtime/exec/register_program.h"

namespace hopline {

struct Refused {};  // thrown: no register program for this code

// A value that an expression gave.
struct ScalarValue {
  Kinds kinds = 0;     // never kNone or kDead
  bool boxed = false;  // in a value register, or constant ~reg of the program; else in a number register
  int32_t reg = -1;
  bool movable = false;  // nothing else reads the register
  Kind kind() const { return only(kinds); }
};

class ScalarEmitter {
 public:
  ScalarEmitter(RegisterProgram& program, RegisterFunction& function) : program_(program), function_(function) {}

  // --- instructions
  size_t here() const { return function_.code.size(); }
  size_t emit(Operation what, int32_t a = 0, int32_t b = 0, int32_t c = 0, size_t n = 0);
  // An instruction whose first operand is a new number register with its result.
  ScalarValue result(Kind kind, Operation what, int32_t b = 0, int32_t c = 0, size_t n = 0);
  void land(size_t jump) { function_.code[jump].c = static_cast<int32_t>(here()); }
  void land(const std::vector<size_t>& jumps) {
    for (const size_t j : jumps) land(j);
  }
  void truncate(size_t size) { function_.code.resize(size), function_.spans.resize(size); }
  void at(const Span& span) { span_ = span; }
  const Span& span() const { return span_; }

  // --- registers. Temporaries last until end_statement().
  int32_t temporary(bool boxed);
  int32_t temporary_values(size_t n);  // consecutive value registers
  int32_t lasting_numbers(size_t n);   // consecutive number registers
  int32_t home(int32_t slot, bool boxed);
  int32_t flag(int32_t slot);  // number register: is the variable assigned?
  void end_statement();

  // --- operands
  ScalarValue constant(const Value& value);
  int32_t number_constant(Number value);
  int32_t flag_constant(bool set) { return number_constant({.i = set}); }
  ScalarValue boxed(const ScalarValue& x);       // in a value register or a constant
  ScalarValue owned_text(const ScalarValue& x);  // as text in a value register that may be changed
  void append_to(const ScalarValue& text, const ScalarValue& x);
  ScalarValue number(const ScalarValue& x);                     // in a number register; x is of one numeric kind
  ScalarValue to_real(const ScalarValue& x);                    // of numeric kinds
  ScalarValue to_int(const ScalarValue& x);                     // of one numeric kind
  ScalarValue to_bool(const ScalarValue& x);                    // of numeric kinds
  void move_to(bool boxed, int32_t reg, const ScalarValue& x);  // a register for good

  // --- where paths meet: brings the variables from one set of kinds to another. True when that takes instructions.
  bool convert(const std::vector<Kinds>& from, const std::vector<Kinds>& to);
  bool differs(const std::vector<Kinds>& from, const std::vector<Kinds>& to);

  size_t unary_function(double (*f)(double));
  size_t binary_function(double (*f)(double, double));
  size_t whole_row(const Op& op);
  size_t name_index(const std::string& name);

 protected:
  RegisterProgram& program_;
  RegisterFunction& function_;

 private:
  bool convert_one(int32_t slot, Kinds from, Kinds to, bool dry);
  Span span_;
  std::map<int64_t, int32_t> number_constants_;
  std::map<int32_t, int32_t> homes_[2], flags_;
  std::vector<int32_t> free_[2], used_[2];
  size_t producer_ = SIZE_MAX;  // the instruction whose result may still be redirected
};

}  // namespace hopline
