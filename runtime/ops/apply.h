// Running one operator on values: what the executor does per instruction, and what constant folding, register programs
// and tests use on their own.
#pragma once
#include <string>
#include <vector>

#include "runtime/ops/call.h"

namespace hopline {

// The first kernel of the row that accepts the call; null when none does.
const Kernel* find_kernel(const Call& call);

// Runs the kernel that find_kernel finds.
void run_kernel(Call& call);

// Do arguments of these kinds fit the row's parameters? Unknown kinds pass. Throws the message for the script's author.
void check_kinds(const Op& op, std::span<const Kind> in, const Span& span);

// infer() with the real sizes and values of the inputs: throws the operator's error when they do not fit.
void check_sizes(const Call& call);

// Kinds and sizes of the outputs for these inputs.
std::vector<Meta> infer_values(const Op& op, std::span<const Value* const> in, std::span<const std::string> names,
                               const Span& span);

// infer, then run. `in` holds one value per parameter of the row (monostate where an optional one is absent; shorter:
// the rest is filled with the row's defaults). Returns op.outputs values.
std::vector<Value> apply(Context& ctx, const Op& op, std::vector<Value> in, std::vector<std::string> names = {},
                         const Span& span = {});

// The value of a parameter's default ("1", "TRUE", "\"rows\"", "none").
Value default_value(const Param& param);

}  // namespace hopline
