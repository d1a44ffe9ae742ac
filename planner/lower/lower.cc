#include "planner/lower/lower.h"

#include <algorithm>
#include <unordered_map>

namespace hopline {

namespace {

constexpr uint32_t kNoRegister = UINT32_MAX;

// Emits the instructions of hops into one Code. Inputs and constants get their final register numbers only when all
// are known, so until then registers are numbered per class.
class Emitter {
 public:
  explicit Emitter(Code& code, size_t num_hops) : code_(code), slot_(num_hops, {Class::none, 0}) {}

  void emit(const Hop* root);
  void number();  // after the last emit: operands become registers
  uint32_t reg(const Hop* hop) const;
  void mark_last_uses(const std::vector<uint32_t>& kept);
  std::vector<const Hop*> hops, inputs;  // of the instructions and inputs that were emitted

 private:
  enum class Class : uint8_t { none, input, constant, temporary };
  struct Place {
    Class what;
    uint32_t number;
  };
  void emit_one(const Hop* hop);
  Code& code_;
  std::vector<Place> slot_;          // of each hop by id
  std::vector<const Hop*> pending_;  // operands in order, as hops
  std::vector<const Hop*> stack_;
};

bool unknown_sizes(const Hop& hop) {
  const auto open = [](const Meta& m) {
    return m.kind == Kind::unknown || ((m.kind == Kind::matrix || m.kind == Kind::frame) && !m.sizes_known()) ||
           (m.kind == Kind::list && m.rows < 0);
  };
  return std::any_of(hop.in.begin(), hop.in.end(), [&](const Hop* h) { return open(h->meta); }) || open(hop.meta);
}

void Emitter::emit_one(const Hop* hop) {
  Place& place = slot_[hop->id];
  if (hops::is_literal(*hop)) {
    place = {Class::constant, static_cast<uint32_t>(code_.constants.size())};
    code_.constants.push_back(hop->literal);
  } else if (hop->is(hops::input())) {
    place = {Class::input, static_cast<uint32_t>(code_.inputs.size())};
    code_.inputs.push_back({static_cast<int32_t>(hop->index), hop->entry, false});
    inputs.push_back(hop);
  } else if (hop->is(hops::get())) {
    place = {Class::temporary, slot_[hop->in[0]->id].number + static_cast<uint32_t>(hop->index)};
  } else {
    Instruction i;
    i.op = hop->op;
    i.first_in = static_cast<uint32_t>(pending_.size());
    i.num_in = static_cast<uint32_t>(hop->in.size());
    i.first_out = code_.num_temporaries;
    i.num_out = hop->op->outputs;
    i.check_sizes = unknown_sizes(*hop);
    i.names = hop->names;
    i.span = hop->span;
    pending_.insert(pending_.end(), hop->in.begin(), hop->in.end());
    code_.most_operands = std::max(code_.most_operands, i.num_in);
    place = {Class::temporary, code_.num_temporaries};
    code_.num_temporaries += i.num_out;
    code_.instructions.push_back(std::move(i));
    hops.push_back(hop);
  }
}

void Emitter::emit(const Hop* root) {
  stack_.push_back(root);
  while (!stack_.empty()) {
    const Hop* hop = stack_.back();
    if (slot_[hop->id].what != Class::none) {
      stack_.pop_back();
      continue;
    }
    bool ready = true;
    for (auto in = hop->in.rbegin(); in != hop->in.rend(); ++in)
      if (slot_[(*in)->id].what == Class::none) stack_.push_back(*in), ready = false;
    if (!ready) continue;
    emit_one(hop);
    stack_.pop_back();
  }
}

uint32_t Emitter::reg(const Hop* hop) const {
  const Place p = slot_[hop->id];
  switch (p.what) {
    case Class::input:
      return p.number;
    case Class::constant:
      return static_cast<uint32_t>(code_.inputs.size()) + p.number;
    case Class::temporary:
      return code_.first_temporary() + p.number;
    case Class::none:
      break;
  }
  return kNoRegister;
}

void Emitter::number() {
  code_.operands.reserve(pending_.size());
  for (const Hop* hop : pending_) code_.operands.push_back(reg(hop));
}

// `kept` registers are read when the region ends. Constants are never dead, inputs only where they die.
void Emitter::mark_last_uses(const std::vector<uint32_t>& kept) {
  std::vector<bool> read(code_.num_registers());
  for (const uint32_t r : kept) read[r] = true;
  for (size_t r = 0; r < code_.inputs.size(); ++r) read[r] = read[r] || !code_.inputs[r].dies;
  for (size_t r = code_.inputs.size(); r < code_.first_temporary(); ++r) read[r] = true;
  for (auto i = code_.instructions.rbegin(); i != code_.instructions.rend(); ++i)
    for (uint32_t k = i->num_in; k-- > 0;) {
      const uint32_t r = code_.operands[i->first_in + k];
      if (read[r]) continue;
      read[r] = true;
      if (k < 32) i->last_use |= 1u << k;
    }
}

// Hops that must be computed: effects, results, and what can fail even though nobody reads it.
class Needed {
 public:
  Needed(const std::vector<Root>& roots, size_t num_hops) : needed_(num_hops), visited_(num_hops) {
    for (const Root& r : roots)
      if (r.effect || r.output >= 0) mark(r.hop, needed_);
    for (const Root& r : roots)
      if (!needed_[r.hop->id] && can_fail(r.hop)) mark(r.hop, needed_);
  }
  bool operator()(const Hop* hop) const { return needed_[hop->id]; }

 private:
  void mark(const Hop* root, std::vector<bool>& seen) {
    std::vector<const Hop*> stack{root};
    while (!stack.empty()) {
      const Hop* hop = stack.back();
      stack.pop_back();
      if (seen[hop->id]) continue;
      seen[hop->id] = true;
      stack.insert(stack.end(), hop->in.begin(), hop->in.end());
    }
  }
  bool can_fail(const Hop* root) {
    std::vector<const Hop*> stack{root};
    while (!stack.empty()) {
      const Hop* hop = stack.back();
      stack.pop_back();
      if (visited_[hop->id] || needed_[hop->id]) continue;
      visited_[hop->id] = true;
      if (hop->op->laws.failure == Failure::by_data || hop->op->laws.purity == Purity::effect || unknown_sizes(*hop))
        return true;
      stack.insert(stack.end(), hop->in.begin(), hop->in.end());
    }
    return false;
  }
  std::vector<bool> needed_, visited_;
};

void add_guards(const Region& region, const Scope& scope, bool generic, Plan& plan) {
  const auto add = [&](int32_t slot, int64_t entry) {
    for (const InputGuard& g : plan.guards)
      if (g.slot == slot && g.entry == entry) return;
    InputGuard g{slot, entry, Kind::none, false, -1, -1, false};
    if (const Value* v = find_value(scope, slot, entry)) {
      const Meta m = meta_of(*v);
      g.kind = m.kind;
      g.sized = !generic && (m.kind == Kind::matrix || m.kind == Kind::frame);
      g.rows = m.rows, g.cols = m.cols, g.empty = m.nnz == 0;
    }
    plan.guards.push_back(g);
  };
  // Every input that planning looked at, needed or not: its kind and size shaped the plan.
  for (size_t i = 0; i < region.dag.size(); ++i)
    if (region.dag[i].is(hops::input())) add(static_cast<int32_t>(region.dag[i].index), region.dag[i].entry);
  for (const int32_t slot : region.absent) add(slot, -1);
}

void add_facts(const Region& region, Plan& plan) {
  if (region.facts.empty()) return;
  Emitter emitter(plan.facts, region.dag.size());
  for (const auto& [hop, value] : region.facts) emitter.emit(hop);
  emitter.number();
  for (const auto& [hop, value] : region.facts) plan.expected.push_back({emitter.reg(hop), value});
}

}  // namespace

Lowered lower_region(const Region& region, const Scope& scope, bool generic) {
  auto plan = std::make_unique<Plan>();
  plan->num_nodes = static_cast<uint32_t>(region.num_nodes);
  plan->generic = generic;
  add_guards(region, scope, generic, *plan);
  add_facts(region, *plan);
  const Needed needed(region.roots, region.dag.size());
  Emitter emitter(plan->code, region.dag.size());
  for (const Root& r : region.roots)
    if (needed(r.hop)) emitter.emit(r.hop);
  emitter.number();
  const auto dies = [&](int32_t slot) {
    return std::find(region.inputs_dying.begin(), region.inputs_dying.end(), slot) != region.inputs_dying.end();
  };
  for (Input& input : plan->code.inputs) input.dies = input.entry < 0 && dies(input.slot);
  // Two inputs of one variable (itself and an entry): the variable must stay whole.
  for (Input& input : plan->code.inputs)
    if (input.entry >= 0)
      for (Input& other : plan->code.inputs)
        if (other.slot == input.slot && other.entry < 0) other.dies = false;
  std::vector<uint32_t> kept;
  for (const Root& r : region.roots)
    if (r.output >= 0) {
      const uint32_t reg = emitter.reg(r.hop);
      const bool temporary = reg >= plan->code.first_temporary();
      const bool again = std::find(kept.begin(), kept.end(), reg) != kept.end();
      plan->outputs.push_back({reg, r.output, temporary});
      if (again)
        for (Plan::Output& o : plan->outputs)
          if (o.reg == reg) o.move = false;
      kept.push_back(reg);
    }
  emitter.mark_last_uses(kept);
  plan->dead = region.dead;
  return {std::move(plan), std::move(emitter.hops), std::move(emitter.inputs)};
}

}  // namespace hopline
