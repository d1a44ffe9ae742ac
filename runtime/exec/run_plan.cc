// Plans: look-up by guards, and the loop over instructions.
#include <bit>
#include <new>

#include "runtime/exec/executor.h"
#include "runtime/exec/session.h"
#include "runtime/ops/apply.h"

namespace hopline {

namespace {

bool same(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  if (const auto* d = std::get_if<double>(&a))
    return std::bit_cast<uint64_t>(*d) == std::bit_cast<uint64_t>(std::get<double>(b));
  return a == b;
}

bool guard_holds(const InputGuard& g, const Scope& scope) {
  const Value* v = find_value(scope, g.slot, g.entry);
  if (v == nullptr) return g.kind == Kind::none;
  if (kind_of(*v) != g.kind) return false;
  if (!g.sized || g.kind != Kind::matrix) return true;
  const MatrixBlock& m = *std::get<MatrixRef>(*v);
  return m.rows() == g.rows && m.cols() == g.cols && (m.nnz_if_known() == 0) == g.empty;
}

}  // namespace

bool Executor::holds(const Plan& plan, Scope& scope) {
  for (const InputGuard& g : plan.guards)
    if (!guard_holds(g, scope)) return false;
  if (plan.expected.empty()) return true;
  const Code& code = plan.facts;
  const size_t n = code.num_registers();
  Value* temporaries = stack_.take(code.num_temporaries);
  std::vector<Value*> registers(n);
  bool all = true;
  try {
    run_code(code, scope, temporaries, registers.data());
    for (const Plan::Fact& f : plan.expected) all = all && same(*registers[f.reg], f.value);
  } catch (const Error& e) {
    all = false;  // a fact that cannot be computed now: another plan raises it in its place
  }
  stack_.release(temporaries, code.num_temporaries);
  return all;
}

const Plan& Executor::plan_for(const NodeList& nodes, size_t at, Scope& scope) {
  PlanCache& cache = *nodes[at].cache;
  for (uint32_t k = cache.count.load(std::memory_order_acquire); k-- > 0;)
    if (holds(*cache.plans[k], scope)) {
      if (observer_ != nullptr) observer_->reused(*cache.plans[k]);
      return *cache.plans[k];
    }
  const std::lock_guard lock(cache.mutex);
  const uint32_t count = cache.count.load();
  if (count >= PlanCache::kMost)
    fail(ErrorKind::resource, nodes[at].span, "more than {} plans at one place", PlanCache::kMost);
  const int64_t begin = observer_ == nullptr ? 0 : observer_clock();
  if (context_.session != nullptr) context_.session->now.set(kPlanning, nodes[at].span);
  const bool generic = count >= PlanCache::kExact;
  cache.plans[count] = planner_.plan(planner_.self, nodes, at, scope, context_, generic);
  const Plan& plan = *cache.plans[count];
  cache.count.store(count + 1, std::memory_order_release);
  if (observer_ != nullptr) observer_->planned(plan, nodes[at].span, begin, observer_clock());
  return plan;
}

void Executor::run_instruction(const Code& code, const Instruction& i, Value* temporaries, Value** registers) {
  Value* few[16];
  std::vector<Value*> many;
  Value** in = few;
  if (i.num_in > 16) many.resize(i.num_in), in = many.data();
  for (uint32_t k = 0; k < i.num_in; ++k) in[k] = registers[code.operands[i.first_in + k]];
  Call call{context_, *i.op, {in, i.num_in}, {temporaries + i.first_out, i.num_out}, i.last_use, i.span, i.names};
  if (i.check_sizes) check_sizes(call);
  if (observer_ == nullptr)
    run_kernel(call);
  else
    run_observed(call, *observer_);
  for (uint32_t mask = i.last_use; mask != 0; mask &= mask - 1) {
    Value& v = *in[std::countr_zero(mask)];
    if (v.index() != 0) v = Value();
  }
}

void Executor::run_code(const Code& code, Scope& scope, Value* temporaries, Value** registers) {
  size_t r = 0;
  for (const Input& input : code.inputs)
    registers[r++] = const_cast<Value*>(find_value(scope, input.slot, input.entry));
  for (const Value& c : code.constants) registers[r++] = const_cast<Value*>(&c);
  for (uint32_t t = 0; t < code.num_temporaries; ++t) registers[r++] = temporaries + t;
  for (const Instruction& i : code.instructions) {
    try {
      if (context_.session != nullptr) {
        context_.session->now.set(i.op->name, i.span);
        context_.session->poll(i.span);
      }
      run_instruction(code, i, temporaries, registers);
    } catch (Error& error) {
      error.locate(i.span);
      if (error.kind() == ErrorKind::resource || error.kind() == ErrorKind::interrupted)
        error.prefix(fmt::format("in {}: ", i.op->name));
      throw;
    } catch (const std::bad_alloc&) {
      fail(ErrorKind::resource, i.span, "out of memory in {}", i.op->name);
    }
  }
}

void Executor::run_plan(const Plan& plan, Scope& scope) {
  const Code& code = plan.code;
  Value* few[64];
  std::vector<Value*> many;
  Value** registers = few;
  if (code.num_registers() > 64) many.resize(code.num_registers()), registers = many.data();
  Value* temporaries = stack_.take(code.num_temporaries);
  struct Release {
    ValueStack& stack;
    Value* first;
    size_t n;
    ~Release() { stack.release(first, n); }
  } const release{stack_, temporaries, code.num_temporaries};
  if (context_.session != nullptr) context_.session->path = scope.path;
  run_code(code, scope, temporaries, registers);
  // Copies first: x = y, y = x reads both before either is written.
  const size_t outputs = plan.outputs.size();
  Value* results = stack_.take(outputs);
  const Release release_results{stack_, results, outputs};
  for (size_t k = 0; k < outputs; ++k) {
    const Plan::Output& o = plan.outputs[k];
    results[k] = o.move ? std::move(*registers[o.reg]) : *registers[o.reg];
  }
  for (size_t k = 0; k < outputs; ++k) scope.slots[static_cast<size_t>(plan.outputs[k].slot)] = std::move(results[k]);
  for (const int32_t slot : plan.dead) scope.slots[static_cast<size_t>(slot)] = Value();
}

}  // namespace hopline
