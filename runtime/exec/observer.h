// What watches a run: statistics, traces. Called from every executing thread.
#pragma once
#include <cstdint>

#include "runtime/exec/plan.h"

namespace hopline {

class Observer {
 public:
  virtual ~Observer() = default;
  // After an instruction; times are nanoseconds of a steady clock. `in` and `out` are its operands.
  virtual void instruction(const Instruction& i, int64_t begin, int64_t end) = 0;
  virtual void planned(const Plan& plan, int64_t begin, int64_t end) = 0;
  virtual void reused(const Plan& plan) = 0;
};

}  // namespace hopline
