// A plan: linear instructions over registers, for one region of a script under stated guards.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/data/value.h"
#include "runtime/ops/op.h"
#include "runtime/base/span.h"

namespace hopline {

struct Instruction {
  const Op* op = nullptr;
  uint32_t first_in = 0;     // into Plan::operands: `num_in` registers, then `num_out`
  uint16_t num_in = 0, num_out = 0;
  uint32_t last_use = 0;     // bit i: input i is dead afterwards (operands beyond 32 are never marked)
  bool check_sizes = false;  // sizes were unknown when planning: infer() runs again with the real ones
  std::vector<std::string> names;
  Span span;
};

// What must hold for a plan to be reused.
struct Guard {
  enum class What : uint8_t { kind, size, empty, scalar, entry };
  What what = What::kind;
  int32_t slot = -1;
  int64_t entry = -1;  // of a list: the guard is about this entry; -1: about the variable itself
  std::string entry_name;
  Meta meta;     // kind; rows and cols (size); nnz == 0 or not (empty)
  Value scalar;  // scalar: the value, bit for bit
};

// Registers: [0, inputs) are bound to variables, then constants, then temporaries.
struct Plan {
  std::vector<Guard> guards;
  std::vector<int32_t> inputs;        // slot of each input register
  std::vector<bool> input_dies;       // the variable is dead, or overwritten, after the region
  std::vector<Value> constants;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> operands;     // registers
  uint32_t num_registers = 0;
  struct Output {
    uint32_t reg;
    int32_t slot;
    bool last;  // the register is read no more: its value is moved
  };
  std::vector<Output> outputs;        // bound when the region ends
  std::vector<int32_t> dead;          // slots cleared when the region ends
  uint32_t statements = 1;            // how many nodes of the sequence the plan covers
  bool generic = false;
};

}  // namespace hopline
