// How much memory a plan takes, from the sizes of its hops and the costs of its rows.
#pragma once
#include <vector>

#include "planner/lower/lower.h"

namespace hopline {

struct Bytes {
  double bytes = 0;
  bool known = true;  // false: something in it has no known size and counts as nothing
  Bytes& operator+=(const Bytes& more) {
    bytes += more.bytes;
    known = known && more.known;
    return *this;
  }
};

struct MemoryStep {
  Bytes result, scratch;  // of the instruction
  Bytes alive;            // while it runs: these, and all inputs and earlier results that are still needed
};

struct MemoryEstimate {
  Bytes inputs;                   // variables that the plan reads
  std::vector<MemoryStep> steps;  // of each instruction
  size_t highest = 0;             // the step with most alive
};

// Results that a kernel writes into its input count twice while it runs.
MemoryEstimate estimate_memory(const Lowered& lowered);

Bytes bytes_of(const Meta& meta);
// Its cells are computed when they are read (a constant, a sequence, a random draw): its row says that it writes none.
bool is_virtual(const Hop& hop);
bool is_stored_sparse(const Meta& meta);

}  // namespace hopline
