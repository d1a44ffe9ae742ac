// A plan: linear instructions over registers, for one region of a script, with the guards under which it holds.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/data/value.h"
#include "runtime/ops/op.h"

namespace hopline {

struct Instruction {
  const Op* op = nullptr;
  uint32_t first_in = 0;  // into Code::operands
  uint32_t num_in = 0;
  uint32_t first_out = 0;  // outputs are the consecutive temporaries [first_out, first_out + num_out)
  uint32_t num_out = 0;
  uint32_t last_use = 0;     // bit i: input i is dead afterwards (inputs beyond 32 are never marked)
  bool check_sizes = false;  // sizes were unknown when planning: infer() runs again with the real ones
  std::vector<std::string> names;
  Span span;
};

// A variable of the region's scope, or one entry of a list variable.
struct Input {
  int32_t slot = -1;
  int64_t entry = -1;
  bool dies = false;  // the variable is dead, or overwritten, when the region ends
};

// Registers: inputs, then constants, then temporaries.
struct Code {
  std::vector<Input> inputs;
  std::vector<Value> constants;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> operands;
  uint32_t num_temporaries = 0;
  uint32_t most_operands = 0;  // of one instruction
  uint32_t first_temporary() const { return static_cast<uint32_t>(inputs.size() + constants.size()); }
  uint32_t num_registers() const { return first_temporary() + num_temporaries; }
};

// What an input must look like for a plan to be reused.
struct InputGuard {
  int32_t slot = -1;
  int64_t entry = -1;
  Kind kind = Kind::none;
  bool sized = false;  // rows, cols (of a list: rows) and empty must agree too
  int64_t rows = -1, cols = -1;
  bool empty = false;  // known to hold no non-zero
};

struct Plan {
  std::vector<InputGuard> guards;
  // Scalar facts that the plan rests on: `facts` computes them, each must equal the value (bit for bit).
  Code facts;
  struct Fact {
    uint32_t reg;
    Value value;
  };
  std::vector<Fact> expected;

  Code code;
  struct Output {
    uint32_t reg;
    int32_t slot;
    bool move;  // nothing else needs the register
  };
  std::vector<Output> outputs;  // bound when the region ends
  std::vector<int32_t> dead;    // slots cleared when the region ends
  uint32_t num_nodes = 1;       // how many nodes of the sequence the plan covers; 0: the node is for the executor
  bool generic = false;
};

}  // namespace hopline
