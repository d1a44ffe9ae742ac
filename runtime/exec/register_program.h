// Register programs: a loop, branch or function over scalars as instructions with jumps and calls over typed registers.
// planner/lower makes them, the register machine runs them; no plan is made for such code.
#pragma once
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/data/value.h"
#include "runtime/ops/op.h"

namespace hopline {

// A register for a number whose kind is known when the program is made; a boolean is 0 or 1 in `i`.
union Number {
  int64_t i;
  double d;
};

enum class Operation : uint16_t {
#define HOPLINE_INSTRUCTION(name, ...) name,
#include "runtime/exec/register_instructions.def"
#undef HOPLINE_INSTRUCTION
};

// What a, b, c and n mean: register_instructions.def. A value operand below 0 is constant ~operand of the program.
struct RegisterInstruction {
  Operation what = Operation::finish;
  uint16_t n = 0;
  int32_t a = 0, b = 0, c = 0;
};

// One routine for certain kinds of arguments. Function 0 is the node that the program was made for.
struct RegisterFunction {
  std::string name;
  std::vector<RegisterInstruction> code;
  std::vector<Span> spans;  // of each instruction
  std::vector<std::pair<int32_t, Number>> constants;
  uint32_t num_numbers = 0, num_values = 0;  // registers of a frame
};

// Any operator over value registers, run by its row's kernels.
struct Application {
  const Op* op = nullptr;
  std::vector<int32_t> in;
  int32_t out = -1;  // outputs are the consecutive value registers from here on
  uint32_t last_use = 0;
  bool check_kinds = false;  // the kinds of the inputs were not certain
  bool takes_text = false;   // of a binary row: "+" and comparisons, for which any two scalars are right
  std::vector<std::string> names;
};

struct FunctionCall {
  struct Move {
    int32_t from, to;
    bool value;  // else a number
    bool last;   // nothing reads `from` afterwards
  };
  size_t function = 0;
  std::vector<Move> arguments, results;
};

// A scalar that takes the declared kind of a parameter or an output.
struct Conversion {
  Kind declared;
  bool output;
  std::string name, routine;
};

struct RegisterProgram {
  struct Guard {
    int32_t slot;
    Kind kind;
  };
  // What a variable of the scope is when the node is reached. All must hold, also where the program was refused.
  std::vector<Guard> guards;
  bool refused = false;  // such code is for plans

  struct Variable {
    int32_t slot;
    Kind kind;  // of a number; unknown: a value register
    int32_t reg;
    int32_t flag;  // number register that says whether it is assigned; -1: it is
  };
  std::vector<Variable> inputs, outputs;
  std::vector<int32_t> dead;  // slots cleared in the end

  std::deque<RegisterFunction> functions;
  std::vector<Application> applications;
  std::vector<FunctionCall> calls;
  std::vector<Conversion> conversions;
  std::vector<Value> constants;
  std::vector<std::string> names;  // of variables, for messages
  std::vector<const Op*> whole;    // rows for ints that leave the fast path
  std::vector<double (*)(double)> unary;
  std::vector<double (*)(double, double)> binary;

  // Chains of calls that errors point to; they live as long as the program.
  mutable std::mutex mutex;
  mutable std::deque<CallSite> call_sites;
};

}  // namespace hopline
