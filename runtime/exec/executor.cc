#include "runtime/exec/executor.h"

#include <algorithm>

#include "runtime/base/config.h"
#include "runtime/exec/conversion.h"
#include "runtime/exec/session.h"
#include "runtime/ops/apply.h"

namespace hopline {

// One sequence of nodes that is being run. What happens at its end depends on why it runs.
struct Executor::Activation {
  enum class Why : uint8_t {
    body,
    branch_predicate,
    branch_body,
    loop_predicate,
    loop_body,
    bounds,
    count_body,
    routine
  };
  Why why = Why::body;
  const NodeList* nodes = nullptr;
  size_t at = 0;
  const Node* node = nullptr;  // the control node that it belongs to
  Scope* scope = nullptr;
  int64_t value = 0, remaining = 0, step = 1, trip = 0;  // of a counting loop
  uint64_t path = 0;                                     // of the scope when the loop began
  bool outermost = false;                                // of the loops that run
  std::unique_ptr<Scope> own;                            // of a routine
  const Routine* routine = nullptr;
};

namespace {

uint64_t extend(uint64_t path, uint64_t with) {
  return (path ^ (with + 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u + (path >> 31);
}

int64_t bound(const Scope& scope, int32_t slot, const char* what, const Span& span, bool& finite) {
  return loop_bound(scope.slots[static_cast<size_t>(slot)], what, span, finite);
}

}  // namespace

Executor::Executor(const Planner& planner, Context context, Observer* observer)
    : planner_(planner), context_(context), observer_(observer) {}

Executor::~Executor() = default;

bool Executor::predicate(const Scope& scope, int32_t slot, const Node& node) const {
  return truth_value(scope.slots[static_cast<size_t>(slot)], node.span);
}

void Executor::run(const NodeList& nodes, Scope& scope) {
  const size_t base = activations_.size();
  auto first = std::make_unique<Activation>();
  first->nodes = &nodes;
  first->scope = &scope;
  activations_.push_back(std::move(first));
  try {
    while (activations_.size() > base) {
      Activation& a = *activations_.back();
      if (a.at < a.nodes->size())
        step(a);
      else
        finish(a);
    }
  } catch (...) {
    activations_.resize(base);
    throw;
  }
}

void Executor::step(Activation& a) {
  const Node& node = (*a.nodes)[a.at];
  if (!std::holds_alternative<Loop>(node.what) && !std::holds_alternative<Count>(node.what)) {
    const Plan& plan = plan_for(*a.nodes, a.at, *a.scope);
    if (plan.num_nodes > 0) {
      a.at += plan.num_nodes;
      return run_plan(plan, *a.scope);
    }
  }
  ++a.at;
  if (!run_registers(node, *a.scope)) enter_control(node, a);
}

// Runs the node as a register program when it is scalar code.
bool Executor::run_registers(const Node& node, Scope& scope) {
  if (node.programs == nullptr || !context_.config.scalar_programs) return false;
  ProgramCache& cache = *node.programs;
  const RegisterProgram* program = cache.find(scope);
  if (program == nullptr) {
    if (cache.count.load() == ProgramCache::kMost) return false;
    const std::lock_guard lock(cache.mutex);
    const uint32_t count = cache.count.load();
    if (count == ProgramCache::kMost) return false;
    cache.programs[count] = planner_.compile_scalar(planner_.self, node, scope);
    program = cache.programs[count].get();
    cache.count.store(count + 1, std::memory_order_release);
  }
  if (program->refused) return false;
  if (!machine_) machine_ = std::make_unique<RegisterMachine>(context_);
  if (context_.session != nullptr) context_.session->now.set(kScalarCode, node.span);
  const int64_t begin = observer_ == nullptr ? 0 : observer_clock();
  machine_->run(*program, scope, depth_);
  if (observer_ != nullptr) observer_->scalar_code(node.span, begin, observer_clock());
  return true;
}

void Executor::enter_control(const Node& node, Activation& a) {
  Scope& scope = *a.scope;
  if (const auto* call = std::get_if<Invoke>(&node.what)) return invoke(node, *call, scope);
  auto next = std::make_unique<Activation>();
  next->node = &node;
  next->scope = &scope;
  next->path = scope.path;
  if (const auto* branch = std::get_if<Branch>(&node.what)) {
    next->why = Activation::Why::branch_predicate;
    next->nodes = &branch->before;
  } else if (const auto* loop = std::get_if<Loop>(&node.what)) {
    next->why = Activation::Why::loop_predicate;
    next->nodes = &loop->before;
  } else {
    next->why = Activation::Why::bounds;
    next->nodes = &std::get<Count>(node.what).before;
  }
  if (next->why != Activation::Why::branch_predicate) next->outermost = loops_++ == 0;
  activations_.push_back(std::move(next));
}

void Executor::finish(Activation& a) {
  using Why = Activation::Why;
  Scope& scope = *a.scope;
  const auto pop = [&] {
    for (const int32_t s : a.node->dies) scope.slots[static_cast<size_t>(s)] = Value();
    scope.path = a.path;
    if (!std::holds_alternative<Branch>(a.node->what)) --loops_;
    if (a.outermost && context_.session != nullptr) context_.session->now.loop = nullptr;
    activations_.pop_back();
  };
  switch (a.why) {
    case Why::body:
      activations_.pop_back();
      return;
    case Why::branch_body:
      return pop();
    case Why::branch_predicate: {
      const auto& branch = std::get<Branch>(a.node->what);
      a.nodes = predicate(scope, branch.predicate, *a.node) ? &branch.then : &branch.otherwise;
      a.at = 0;
      a.why = Why::branch_body;
      return;
    }
    case Why::loop_predicate: {
      const auto& loop = std::get<Loop>(a.node->what);
      if (context_.session != nullptr) context_.session->poll(a.node->span);  // a body of constants has no instruction
      if (!predicate(scope, loop.predicate, *a.node)) return pop();
      scope.path = extend(a.path, static_cast<uint64_t>(a.trip++));
      if (a.outermost) show_iteration(a);
      a.nodes = &loop.body;
      a.at = 0;
      a.why = Why::loop_body;
      return;
    }
    case Why::loop_body:
      a.nodes = &std::get<Loop>(a.node->what).before;
      a.at = 0;
      a.why = Why::loop_predicate;
      return;
    case Why::bounds: {
      const Node& node = *a.node;
      const auto& count = std::get<Count>(node.what);
      bool finite = true;
      const int64_t from = bound(scope, count.from, "start", node.span, finite);
      const int64_t to = bound(scope, count.to, "end", node.span, finite);
      if (count.step >= 0) a.step = bound(scope, count.step, "increment", node.span, finite);
      a.remaining = loop_trips(from, to, a.step, count.step >= 0, finite);
      if (count.parallel) {
        if (a.outermost) show_iteration(a);
        if (a.remaining > 0) run_parfor(node, count, scope, from, a.remaining, a.step);
        return pop();
      }
      a.value = from;
      if (!next_iteration(a)) pop();
      return;
    }
    case Why::count_body:
      if (!next_iteration(a)) pop();
      return;
    case Why::routine: {
      const std::unique_ptr<Activation> done = std::move(activations_.back());
      activations_.pop_back();
      --depth_;
      bind_results(*done->node, std::get<Invoke>(done->node->what), *done->routine, *done->own,
                   *activations_.back()->scope);
      return;
    }
  }
}

// For whoever watches the run.
void Executor::show_iteration(const Activation& a) {
  if (context_.session == nullptr) return;
  RunningNow& now = context_.session->now;
  const bool counted = a.why != Activation::Why::loop_predicate;
  now.iteration.store(a.trip, std::memory_order_relaxed);
  if (a.trip > 1) return;
  now.iterations = counted ? a.remaining : -1;
  now.loop = &a.node->span;
}

bool Executor::next_iteration(Activation& a) {
  if (a.remaining == 0) return false;
  if (context_.session != nullptr) context_.session->poll(a.node->span);
  const auto& count = std::get<Count>(a.node->what);
  a.scope->slots[static_cast<size_t>(count.variable)] = a.value;
  a.scope->path = extend(a.path, static_cast<uint64_t>(a.trip++));
  if (a.outermost) show_iteration(a);
  a.nodes = &count.body;
  a.at = 0;
  a.why = Activation::Why::count_body;
  if (--a.remaining > 0) a.value += a.step;
  return true;
}

void Executor::invoke(const Node& node, const Invoke& call, Scope& scope) {
  const Routine* routine = call.routine;
  std::vector<Value> arguments;
  for (const int32_t s : call.arguments) {
    const Value& v = scope.slots[static_cast<size_t>(s)];
    if (v.index() == 0) fail(node.span, "variable {} is not assigned", scope.routine->slots[static_cast<size_t>(s)]);
    const bool dies = std::find(node.dies.begin(), node.dies.end(), s) != node.dies.end() &&
                      std::count(call.arguments.begin(), call.arguments.end(), s) == 1;
    arguments.push_back(dies ? std::move(scope.slots[static_cast<size_t>(s)]) : v);
  }
  if (routine == nullptr) {
    const auto* name = std::get_if<std::string>(&arguments.front());
    if (name == nullptr) fail(node.span, "eval: the name of the function must be a string");
    const std::string function = *name;
    arguments.erase(arguments.begin());
    routine = planner_.find_routine(planner_.self, *scope.routine, function,
                                    arguments.empty() ? Kind::none : kind_of(arguments.front()));
    if (routine == nullptr) fail(node.span, "eval: function {} is not defined", function);
    // A single list stands for the arguments of a function that does not itself take one list.
    const auto* list = arguments.size() == 1 ? std::get_if<ListRef>(&arguments.front()) : nullptr;
    if (list != nullptr && !(routine->inputs.size() == 1 && routine->input_kinds[0] == Kind::list)) {
      const ListRef all = *list;
      arguments.assign(routine->inputs.size(), Value());
      for (size_t k = 0; k < all->entries.size(); ++k) {
        size_t at = k;
        if (!all->names.empty()) {
          at = static_cast<size_t>(std::find(routine->input_names.begin(), routine->input_names.end(), all->names[k]) -
                                   routine->input_names.begin());
        }
        if (at >= arguments.size())
          fail(node.span, "eval: function {} has no parameter for entry {} of the list", function, k + 1);
        arguments[at] = all->entries[k];
      }
    }
    if (arguments.size() > routine->inputs.size())
      fail(node.span, "eval: function {} expected {} arguments, found {}", function, routine->inputs.size(),
           arguments.size());
    arguments.resize(routine->inputs.size());
    for (size_t k = 0; k < arguments.size(); ++k)
      if (arguments[k].index() == 0) arguments[k] = routine->input_defaults[k];
  }
  if (++depth_ > context_.config.recursion_limit)
    fail(ErrorKind::resource, node.span, "more than {} nested calls (recursion.limit), in function {}",
         context_.config.recursion_limit, routine->name);
  auto next = std::make_unique<Activation>();
  next->why = Activation::Why::routine;
  next->node = &node;
  next->routine = routine;
  next->nodes = &routine->body;
  next->own = std::make_unique<Scope>();
  next->own->routine = routine;
  next->own->slots.resize(routine->slots.size());
  next->own->path = extend(scope.path, node.span.begin);
  next->scope = next->own.get();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].index() == 0)
      fail(node.span, "argument {} of {} is missing", routine->input_names[i], routine->name);
    next->own->slots[static_cast<size_t>(routine->inputs[i])] =
        convert_value(context_, std::move(arguments[i]), routine->input_kinds[i], false, routine->input_names[i],
                      routine->name, node.span);
  }
  activations_.push_back(std::move(next));
}

void Executor::bind_results(const Node& node, const Invoke& call, const Routine& routine, Scope& inner, Scope& outer) {
  std::vector<Value> results;
  const size_t wanted = call.eval_list ? routine.outputs.size() : std::min(call.results.size(), routine.outputs.size());
  for (size_t i = 0; i < wanted; ++i) {
    Value& v = inner.slots[static_cast<size_t>(routine.outputs[i])];
    if (v.index() == 0)
      fail(node.span, "function {} ends without a value for its output {}", routine.name, routine.output_names[i]);
    results.push_back(convert_value(context_, std::move(v), routine.output_kinds[i], true, routine.output_names[i],
                                    routine.name, node.span));
  }
  if (call.eval && !results.empty() && kind_of(results[0]) != Kind::matrix) {  // eval gives a matrix
    if (kind_of(results[0]) == Kind::list)
      fail(node.span, "eval: function {} returns a list: expected a matrix or scalar; evalList takes it", routine.name);
    results[0] = apply(context_, op("as.matrix", 1), {std::move(results[0])}, {}, node.span)[0];
  }
  if (call.eval_list) {
    auto list = std::make_shared<List>();
    list->entries = std::move(results);
    list->names = routine.output_names;
    results.clear();
    results.emplace_back(ListRef(std::move(list)));
  }
  for (const int32_t s : node.dies) outer.slots[static_cast<size_t>(s)] = Value();
  for (size_t i = 0; i < call.results.size(); ++i)
    if (call.results[i] >= 0) {
      if (i >= results.size())
        fail(node.span, "function {} has {} outputs, {} are asked for", routine.name, results.size(),
             call.results.size());
      outer.slots[static_cast<size_t>(call.results[i])] = std::move(results[i]);
    }
  // A result that nothing reads later is dropped at once.
  for (size_t i = 0; i < call.results.size(); ++i)
    if (call.results[i] >= 0 && std::find(node.dies.begin(), node.dies.end(), call.results[i]) != node.dies.end())
      outer.slots[static_cast<size_t>(call.results[i])] = Value();
}

}  // namespace hopline
