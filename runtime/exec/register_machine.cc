#include "runtime/exec/register_machine.h"

#include <algorithm>
#include <new>

#include "runtime/base/config.h"
#include "runtime/exec/conversion.h"
#include "runtime/exec/program.h"
#include "runtime/exec/session.h"
#include "runtime/ops/apply.h"
#include "runtime/ops/cellwise.h"
#include "runtime/ops/list.h"
#include "runtime/ops/text.h"

namespace hopline {

namespace {

constexpr int kJumpsBetweenPolls = 4096;
constexpr size_t kKeptCallSites = 64;  // of the chain of an error: the innermost ones

// Ints whose way through a double changes nothing.
bool exact(int64_t x) { return static_cast<uint64_t>(x) + (uint64_t{1} << 53) <= uint64_t{1} << 54; }

int64_t negated(int64_t x) {
  return to_integer(static_cast<double>(static_cast<int64_t>(0 - static_cast<uint64_t>(x))));
}

double number(const Value& v) {
  if (const auto* d = std::get_if<double>(&v)) return *d;
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  return std::get<bool>(v) ? 1 : 0;
}

int64_t list_length(const Value& v) { return static_cast<int64_t>(std::get<ListRef>(v)->entries.size()); }

void begin_count(const RegisterInstruction& i, Number* r) {
  r[0].i = loop_trips(r[1].i, r[3].i, r[2].i, i.n != 0, r[4].i != 0);
}

}  // namespace

const RegisterProgram* ProgramCache::find(const Scope& scope) const {
  const auto holds = [&scope](const RegisterProgram::Guard& g) {
    return kind_of(scope.slots[static_cast<size_t>(g.slot)]) == g.kind;
  };
  for (uint32_t k = count.load(std::memory_order_acquire); k-- > 0;)
    if (std::all_of(programs[k]->guards.begin(), programs[k]->guards.end(), holds)) return programs[k].get();
  return nullptr;
}

void RegisterMachine::run(const RegisterProgram& program, Scope& scope, int depth) {
  program_ = &program;
  depth_ = depth;
  at_ = nullptr;
  push(program.functions.front(), nullptr);
  load(scope);
  try {
    loop();
  } catch (Error& error) {
    error.locate(span());
    rethrow(error);
  } catch (const std::bad_alloc&) {
    rethrow(Error(ErrorKind::resource, span(), "out of memory in scalar code"));
  }
  store(scope, program.dead);
  reset();
}

void RegisterMachine::load(Scope& scope) {
  Number* r = numbers();
  for (const RegisterProgram::Variable& in : program_->inputs) {
    Value& from = scope.slots[static_cast<size_t>(in.slot)];
    if (in.kind == Kind::unknown)
      values()[in.reg] = std::move(from), from = Value();  // moved, so that a list can grow in place
    else if (in.kind == Kind::real)
      r[in.reg].d = std::get<double>(from);
    else
      r[in.reg].i = in.kind == Kind::integer ? std::get<int64_t>(from) : std::get<bool>(from);
  }
}

void RegisterMachine::store(Scope& scope, const std::vector<int32_t>& dead) {
  const Number* r = numbers();
  for (const RegisterProgram::Variable& out : program_->outputs) {
    Value& to = scope.slots[static_cast<size_t>(out.slot)];
    if (out.flag >= 0 && r[out.flag].i == 0)
      to = Value();
    else if (out.kind == Kind::unknown)
      to = std::move(values()[out.reg]);
    else if (out.kind == Kind::real)
      to = r[out.reg].d;
    else if (out.kind == Kind::integer)
      to = r[out.reg].i;
    else
      to = r[out.reg].i != 0;
  }
  for (const int32_t slot : dead) scope.slots[static_cast<size_t>(slot)] = Value();
}

void RegisterMachine::reset() {
  if (!frames_.empty()) {
    const size_t end = frames_.back().first_value + frames_.back().function->num_values;
    for (size_t k = 0; k < end; ++k) values_[k] = Value();
  }
  frames_.clear();
}

void RegisterMachine::push(const RegisterFunction& function, const FunctionCall* call) {
  Frame frame{&function, call, nullptr, 0, 0};
  if (!frames_.empty()) {
    const Frame& top = frames_.back();
    frame.first_number = top.first_number + top.function->num_numbers;
    frame.first_value = top.first_value + top.function->num_values;
    frame.back = at_ + 1;
  }
  const size_t numbers = frame.first_number + function.num_numbers, values = frame.first_value + function.num_values;
  if (numbers_.size() < numbers) numbers_.resize(2 * numbers + 64);
  if (values_.size() < values) values_.resize(2 * values + 16);
  Number* r = numbers_.data() + frame.first_number;
  for (const auto& [reg, number] : function.constants) r[reg] = number;
  frames_.push_back(frame);
  next_ = function.code.data();
}

void RegisterMachine::enter(const FunctionCall& call) {
  const RegisterFunction& function = program_->functions[call.function];
  const int limit = context_.config.recursion_limit;
  if (depth_ + static_cast<int>(frames_.size()) > limit)
    fail(ErrorKind::resource, span(), "more than {} nested calls (recursion.limit), in function {}", limit,
         function.name);
  poll();
  push(function, &call);
  const Frame &callee = frames_.back(), &caller = frames_[frames_.size() - 2];
  Number *r = numbers_.data() + callee.first_number, *from = numbers_.data() + caller.first_number;
  Value* v = values_.data() + callee.first_value;
  Value* given = values_.data() + caller.first_value;
  for (const FunctionCall::Move& m : call.arguments) {
    if (!m.value)
      r[m.to] = from[m.from];
    else if (m.last)
      v[m.to] = std::move(given[m.from]), given[m.from] = Value();
    else
      v[m.to] = value(given, m.from);
  }
}

void RegisterMachine::leave() {
  const Frame callee = frames_.back(), &caller = frames_[frames_.size() - 2];
  const Number* r = numbers_.data() + callee.first_number;
  Number* to = numbers_.data() + caller.first_number;
  Value *v = values_.data() + callee.first_value, *taken = values_.data() + caller.first_value;
  for (const FunctionCall::Move& m : callee.call->results) {
    if (m.value)
      taken[m.to] = std::move(v[m.from]);
    else
      to[m.to] = r[m.from];
  }
  for (uint32_t k = 0; k < callee.function->num_values; ++k)
    if (v[k].index() != 0) v[k] = Value();
  next_ = callee.back;
  frames_.pop_back();
}

void RegisterMachine::poll() {
  if (context_.session != nullptr) context_.session->poll(span());
}

Span RegisterMachine::span() const {
  if (at_ == nullptr) return {};
  const RegisterFunction& f = *frames_.back().function;
  return f.spans[static_cast<size_t>(at_ - f.code.data())];
}

// The error with the chain of calls that led to its place.
void RegisterMachine::rethrow(const Error& error) {
  std::vector<Diagnostic> diagnostics = error.diagnostics();
  const CallSite* via = nullptr;
  const size_t calls = frames_.size() - 1;
  {
    const std::lock_guard lock(program_->mutex);
    for (size_t k = calls > kKeptCallSites ? calls - kKeptCallSites + 1 : 1; k <= calls; ++k) {
      const RegisterFunction& caller = *frames_[k - 1].function;
      Span at = caller.spans[static_cast<size_t>(frames_[k].back - 1 - caller.code.data())];
      at.via = via;
      via = &program_->call_sites.emplace_back(CallSite{at, frames_[k].function->name});
    }
  }
  if (diagnostics.front().span.via == nullptr) diagnostics.front().span.via = via;
  reset();
  throw Error(error.kind(), std::move(diagnostics));
}

void RegisterMachine::whole(const RegisterInstruction& i) {
  Number* r = numbers();
  r[i.a].i = std::get<int64_t>(binary_scalar(*program_->whole[i.n], r[i.b].i, r[i.c].i, span()));
}

void RegisterMachine::bound(const RegisterInstruction& i) {
  constexpr const char* kNames[] = {"start", "end", "increment"};
  bool finite = true;
  numbers()[i.a].i = loop_bound(value(values(), i.b), kNames[i.n], span(), finite);
  if (!finite) numbers()[i.c].i = 0;
}

void RegisterMachine::truth(const RegisterInstruction& i) {
  numbers()[i.a].i = truth_value(value(values(), i.b), span());
}

void RegisterMachine::convert(const RegisterInstruction& i) {
  const Conversion& c = program_->conversions[static_cast<size_t>(i.c)];
  values()[i.a] = convert_value(context_, value(values(), i.b), c.declared, c.output, c.name, c.routine, span());
}

// Entry i.c, counted from 1; what is no such entry gets the error of the operator.
void RegisterMachine::list_entry(const RegisterInstruction& i) {
  Value* v = values();
  const auto& list = std::get<ListRef>(v[i.b]);
  const int64_t at = numbers()[i.c].i;
  if (at < 1 || at > static_cast<int64_t>(list->entries.size())) index_list(list, at, at, span());
  v[i.a] = Value(list->entries[static_cast<size_t>(at - 1)]);
}

void RegisterMachine::apply_binary(const Application& a) {
  Value* v = values();
  const Value &x = value(v, a.in[0]), &y = value(v, a.in[1]);
  const Kind k = kind_of(x), l = kind_of(y);
  if ((is_number(k) && is_number(l)) ||
      (a.takes_text && is_scalar(k) && is_scalar(l) && k != Kind::boolean && l != Kind::boolean))
    v[a.out] = binary_scalar(*a.op, x, y, span());
  else
    apply_row(a);
}

void RegisterMachine::apply_row(const Application& a) {
  constexpr size_t kFew = 8;
  Value* few[kFew];
  Kind few_kinds[kFew];
  std::vector<Value*> many;
  std::vector<Kind> many_kinds;
  Value** in = few;
  Kind* kinds = few_kinds;
  const size_t n = a.in.size();
  if (n > kFew) many.resize(n), many_kinds.resize(n), in = many.data(), kinds = many_kinds.data();
  Value* v = values();
  for (size_t k = 0; k < n; ++k) in[k] = const_cast<Value*>(&value(v, a.in[k])), kinds[k] = kind_of(*in[k]);
  const Span at = span();
  Call call{context_, *a.op, {in, n}, {v + a.out, a.op->outputs}, a.last_use, at, a.names};
  try {
    if (a.check_kinds) check_kinds(*a.op, {kinds, n}, at);
    if (a.op->infer != nullptr) check_sizes(call);
    run_kernel(call);
  } catch (Error& error) {
    error.locate(at);
    if (error.kind() == ErrorKind::resource) error.prefix(fmt::format("in {}: ", a.op->name));
    throw;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, at, "out of memory in {}", a.op->name);
  }
  for (size_t k = 0; k < n && k < 32; ++k)
    if ((a.last_use >> k & 1) != 0) *in[k] = Value();
}

void RegisterMachine::not_assigned(const RegisterInstruction& i) {
  fail(span(), "variable {} is not assigned", program_->names[static_cast<size_t>(i.b)]);
}

void RegisterMachine::no_result(const RegisterInstruction& i) {
  const Conversion& c = program_->conversions[static_cast<size_t>(i.c)];
  fail(span(), "function {} ends without a value for its output {}", c.routine, c.name);
}

void RegisterMachine::loop() {
  const RegisterInstruction *pc, *code;
  Number* r;
  Value* v;
  int jumps = kJumpsBetweenPolls;
#define RELOAD (pc = next_, code = frames_.back().function->code.data(), r = numbers(), v = values())
#define FAR(...) (at_ = &i, (__VA_ARGS__))
#define JUMP                                                   \
  {                                                            \
    pc = code + i.c;                                           \
    if (--jumps == 0) jumps = kJumpsBetweenPolls, FAR(poll()); \
  }
  // A jump of its own behind every instruction: the CPU then learns what follows which.
  static const void* const kPlaces[] = {
#define HOPLINE_INSTRUCTION(name, ...) &&at_##name,
#include "runtime/exec/register_instructions.def"
#undef HOPLINE_INSTRUCTION
  };
#define NEXT goto* kPlaces[static_cast<size_t>(pc->what)]
  RELOAD;
  NEXT;
#define HOPLINE_INSTRUCTION(name, ...)                     \
  at_##name : {                                            \
    [[maybe_unused]] const RegisterInstruction& i = *pc++; \
    __VA_ARGS__;                                           \
  }                                                        \
  NEXT;
#include "runtime/exec/register_instructions.def"
#undef HOPLINE_INSTRUCTION
#undef NEXT
#undef RELOAD
#undef FAR
#undef JUMP
}

}  // namespace hopline
