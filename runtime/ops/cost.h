// What an operator costs, by its row.
#pragma once
#include <span>
#include <string>

#include "runtime/data/value.h"
#include "runtime/ops/op.h"

namespace hopline {

// Bytes of a value in memory: without a count or an estimate of its non-zeros a matrix is dense. A scalar has 8.
double stored_bytes(const Meta& meta);

// For rows: so many operations for each stored cell of the first input, the inputs read and the outputs written once.
Cost stored_cells_cost(const InferCall& call, double flops);
template <int kFlops>
Cost cost_per_cell(const InferCall& call) {
  return stored_cells_cost(call, kFlops);
}

// The row's cost; where it has none: reads its inputs and writes its outputs once. All sizes are known. `values` holds
// the scalar inputs, monostate elsewhere.
Cost cost_of(const Op& op, std::span<const Meta> in, std::span<const Meta> out, std::span<const Value> values,
             std::span<const std::string> names);

}  // namespace hopline
