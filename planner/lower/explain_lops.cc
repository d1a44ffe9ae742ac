// Physical operators and estimates of their memory, as text.
#include <fmt/format.h>

#include "planner/lower/estimate.h"
#include "planner/lower/explain.h"
#include "runtime/exec/statistics.h"

namespace hopline {

namespace {

std::string format_text(const Meta& m, bool virtual_cells) {
  if (m.kind != Kind::matrix) return size_text(m);
  const char* format = "dense";
  if (virtual_cells)
    format = "virtual";
  else if (m.nnz == 0)
    format = "empty";
  else if (!m.sizes_known())
    format = "?";
  else if (is_stored_sparse(m))
    format = "sparse";
  return fmt::format("{}, {}", size_text(m), format);
}

std::string outputs_text(const Hop& hop) {
  if (hop.op->outputs == 0) return {};
  if (hop.outputs.empty()) return fmt::format(" [{}]", format_text(hop.meta, is_virtual(hop)));
  std::string out;
  for (const Meta& m : hop.outputs) out += (out.empty() ? "" : "; ") + format_text(m, false);
  return fmt::format(" [{}]", out);
}

// "12 bytes", "1.5 MB", "at least 1.5 MB"
std::string text(const Bytes& b) {
  if (!b.known && b.bytes == 0) return "? bytes";
  return (b.known ? "" : "at least ") + bytes_text(b.bytes);
}

std::string line(const Lowered& lowered, size_t k, const Scope& scope, const SourceFiles& files) {
  const Code& code = lowered.plan->code;
  const Instruction& i = code.instructions[k];
  std::string out = "  ";
  for (uint32_t n = 0; n < i.num_out; ++n) out += fmt::format("{}%{}", n == 0 ? "" : ", ", i.first_out + n);
  out += fmt::format("{}{}", i.num_out > 0 ? " = " : "", i.op->name);
  if (lowered.hops[k]->is(hops::fail())) out += fmt::format(" \"{}\"", i.names.front());
  add_operands(out, *lowered.hops[k],
               [&](size_t n) { return register_text(code, code.operands[i.first_in + n], scope); });
  return out + outputs_text(*lowered.hops[k]) + " cpu" + place_text(i.span, files);
}

}  // namespace

std::string explain_lops(const Lowered& lowered, const Scope& scope, const SourceFiles& files, bool bytes) {
  const Code& code = lowered.plan->code;
  if (code.instructions.empty()) return {};
  std::string out = bytes ? "memory" : "lops";
  out += lowered.plan->generic ? " (generic):\n" : ":\n";
  if (!bytes) {
    for (size_t k = 0; k < code.instructions.size(); ++k) out += line(lowered, k, scope, files) + "\n";
    return out;
  }
  const MemoryEstimate estimate = estimate_memory(lowered);
  if (!code.inputs.empty()) out += fmt::format("  inputs: {}\n", text(estimate.inputs));
  for (size_t k = 0; k < code.instructions.size(); ++k) {
    const MemoryStep& step = estimate.steps[k];
    out += fmt::format("{}: result {}, scratch {}, alive {}\n", line(lowered, k, scope, files), text(step.result),
                       text(step.scratch), text(step.alive));
  }
  return out + fmt::format("  at most: {}{}\n", text(estimate.steps[estimate.highest].alive),
                           place_text(code.instructions[estimate.highest].span, files));
}

}  // namespace hopline
