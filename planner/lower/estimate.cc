#include "planner/lower/estimate.h"

#include <bit>

#include "runtime/ops/call.h"
#include "runtime/ops/cost.h"

namespace hopline {

namespace {

std::span<const Meta> outputs_of(const Hop& hop) {
  if (hop.outputs.empty()) return {&hop.meta, hop.op->outputs};
  return hop.outputs;
}

Cost cost(const Hop& hop) {
  std::vector<Meta> in;
  std::vector<Value> values;
  for (const Hop* h : hop.in) {
    in.push_back(h->meta);
    values.push_back(hops::is_literal(*h) ? h->literal : Value());
  }
  return cost_of(*hop.op, in, outputs_of(hop), values, hop.names);
}

bool sizes_known(const Hop& hop) {
  for (const Hop* in : hop.in)
    if (!bytes_of(in->meta).known) return false;
  return true;
}

// What each register holds, and until when.
class Alive {
 public:
  explicit Alive(const Lowered& lowered) : held_(lowered.plan->code.num_registers()) {
    for (size_t r = 0; r < lowered.inputs.size(); ++r) add(static_cast<uint32_t>(r), bytes_of(lowered.inputs[r]->meta));
  }
  void add(uint32_t r, const Bytes& bytes) {
    held_[r] = bytes;
    sum_ += bytes.bytes;
    unknown_ += bytes.known ? 0 : 1;
  }
  void remove(uint32_t r) {
    sum_ -= held_[r].bytes;
    unknown_ -= held_[r].known ? 0 : 1;
    held_[r] = {};
  }
  Bytes now() const { return {sum_, unknown_ == 0}; }

 private:
  std::vector<Bytes> held_;
  double sum_ = 0;
  int64_t unknown_ = 0;
};

}  // namespace

bool is_stored_sparse(const Meta& m) {
  if (m.kind != Kind::matrix || !m.sizes_known() || m.cols <= 1) return false;
  const double cells = static_cast<double>(m.rows) * static_cast<double>(m.cols);
  if (m.nnz >= 0) return static_cast<double>(m.nnz) < kSparse * cells;
  return m.density >= 0 && m.density < kSparse;
}

bool is_virtual(const Hop& hop) {
  return hop.meta.kind == Kind::matrix && hop.meta.sizes_known() && hop.meta.rows > 0 && hop.meta.cols > 0 &&
         hop.op->cost != nullptr && sizes_known(hop) && cost(hop).bytes_written == 0;
}

Bytes bytes_of(const Meta& m) {
  if (m.kind == Kind::unknown || m.kind == Kind::list || m.kind == Kind::frame) return {0, false};
  if (m.kind != Kind::matrix) return {};
  if (m.nnz == 0) return {};
  if (!m.sizes_known()) return {0, false};
  return {stored_bytes(m), true};
}

MemoryEstimate estimate_memory(const Lowered& lowered) {
  const Code& code = lowered.plan->code;
  MemoryEstimate out;
  for (const Hop* in : lowered.inputs) out.inputs += bytes_of(in->meta);
  Alive alive(lowered);
  for (size_t k = 0; k < code.instructions.size(); ++k) {
    const Instruction& i = code.instructions[k];
    const Hop& hop = *lowered.hops[k];
    MemoryStep step;
    step.scratch = {cost(hop).scratch, sizes_known(hop)};
    for (uint32_t n = 0; n < i.num_out; ++n) {
      const Bytes one = is_virtual(hop) ? Bytes{} : bytes_of(outputs_of(hop)[n]);
      alive.add(code.first_temporary() + i.first_out + n, one);
      step.result += one;
    }
    step.alive = alive.now();
    step.alive += step.scratch;
    for (uint32_t mask = i.last_use; mask != 0; mask &= mask - 1)
      alive.remove(code.operands[i.first_in + static_cast<uint32_t>(std::countr_zero(mask))]);
    out.steps.push_back(step);
    if (step.alive.bytes > out.steps[out.highest].alive.bytes) out.highest = k;
  }
  return out;
}

}  // namespace hopline
