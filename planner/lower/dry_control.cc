// A dry run's way through branches, loops and functions.
#include <fmt/format.h>

#include "planner/lower/dry_runner.h"
#include "planner/lower/explain.h"
#include "runtime/exec/conversion.h"

namespace hopline {

namespace {

constexpr int kRounds = 4;      // over a loop, until its variables no longer change; then their sizes become unknown
constexpr int kDeepLoops = 4;   // loops within more loops than that are gone through once
constexpr int kDeepCalls = 50;  // functions within functions
constexpr size_t kMostVariants = 8;  // of a function, by what its arguments are

}  // namespace

void DryRun::control(const Node& node, const Routine& routine, DryState& s) {
  if (const auto* b = std::get_if<Branch>(&node.what)) return branch(node, *b, routine, s);
  if (const auto* l = std::get_if<Loop>(&node.what)) return loop(node, *l, routine, s);
  if (const auto* c = std::get_if<Count>(&node.what)) return count(node, *c, routine, s);
  invoke(node, std::get<Invoke>(node.what), routine, s);
}

void DryRun::branch(const Node& node, const Branch& b, const Routine& routine, DryState& s) {
  walk(b.before, routine, s);
  if (!s.reachable) return;
  const Value& predicate = s.variables.slots[static_cast<size_t>(b.predicate)].value;
  if (predicate.index() != 0) return walk(truth_value(predicate, node.span) ? b.then : b.otherwise, routine, s);
  DryState then = s, otherwise = s;
  then.certain = otherwise.certain = false;
  heading("if", node.span, "");
  indented([&] { walk(b.then, routine, then); });
  if (!b.otherwise.empty()) {
    heading("else", node.span, "");
    indented([&] { walk(b.otherwise, routine, otherwise); });
  }
  s.reachable = then.reachable || otherwise.reachable;
  if (!then.reachable || !otherwise.reachable)
    s.variables = std::move(then.reachable ? then.variables : otherwise.variables);
  else
    s.variables = join(then.variables, otherwise.variables);
}

// Leaves in `s` what holds before every iteration, then goes through `once` aloud. Returns what holds after one.
template <class Once>
DryState DryRun::repeat(DryState& s, const Once& once) {
  ++loops_;
  ++quiet_;
  DryState after;
  for (int round = 1;; ++round) {
    after = s;
    once(after);
    if (!after.reachable) break;
    Assumptions both = join(s.variables, after.variables);
    if (same(both, s.variables)) break;
    const bool deep = loops_ > kDeepLoops;
    for (size_t k = 0; k < both.slots.size() && (deep || round > kRounds); ++k) {
      Assumed& a = both.slots[k];
      if (!same(a, s.variables.slots[k])) a = assumed_of_kind(round > 2 * kRounds ? Kind::unknown : a.meta.kind);
    }
    s.variables = std::move(both);
    if (deep) break;
  }
  --quiet_;
  DryState shown = s;
  if (quiet_ == 0) indented([&] { once(shown); });
  --loops_;
  return after;
}

void DryRun::loop(const Node& node, const Loop& l, const Routine& routine, DryState& s) {
  const auto test = [&](DryState& state) {  // what the predicate is, null when that is not known
    walk(l.before, routine, state);
    const Value& v = state.variables.slots[static_cast<size_t>(l.predicate)].value;
    return state.reachable && v.index() != 0 ? &v : nullptr;
  };
  DryState first = s;
  ++quiet_;
  const Value* begins = test(first);
  --quiet_;
  if (!first.reachable) {
    s.reachable = false;
    return;
  }
  const bool never = begins != nullptr && !truth_value(*begins, node.span);
  if (never) {
    walk(l.before, routine, s);
    return;
  }
  const bool certain = s.certain;
  heading("while", node.span, "");
  s.certain = certain && begins != nullptr;
  DryState last = repeat(s, [&](DryState& state) {
    walk(l.before, routine, state);
    if (state.reachable) walk(l.body, routine, state);
  });
  if (begins != nullptr && last.reachable) s.variables = std::move(last.variables);
  s.certain = certain;
  ++quiet_;
  walk(l.before, routine, s);
  --quiet_;
}

void DryRun::count(const Node& node, const Count& c, const Routine& routine, DryState& s) {
  walk(c.before, routine, s);
  if (!s.reachable) return;
  const auto value = [&](int32_t slot) -> const Value& { return s.variables.slots[static_cast<size_t>(slot)].value; };
  const bool known =
      value(c.from).index() != 0 && value(c.to).index() != 0 && (c.step < 0 || value(c.step).index() != 0);
  int64_t trips = -1;
  if (known) {
    bool finite = true;
    const int64_t from = loop_bound(value(c.from), "start", node.span, finite);
    const int64_t to = loop_bound(value(c.to), "end", node.span, finite);
    int64_t step = c.step < 0 ? 0 : loop_bound(value(c.step), "increment", node.span, finite);
    trips = loop_trips(from, to, step, c.step >= 0, finite);
  }
  if (trips == 0) return;
  const std::string& variable = routine.slots[static_cast<size_t>(c.variable)];
  heading(fmt::format("{} {}", c.parallel ? "parfor" : "for", variable), node.span,
          trips < 0 ? "" : fmt::format(", {} iteration{}", trips, trips == 1 ? "" : "s"));
  const bool certain = s.certain;
  s.certain = certain && trips > 0;
  DryState last = repeat(s, [&](DryState& state) {
    state.variables.slots[static_cast<size_t>(c.variable)] = assumed_of_kind(Kind::integer);
    walk(c.body, routine, state);
  });
  if (trips > 0 && last.reachable) s.variables = std::move(last.variables);
  s.certain = certain;
}

// Of a parameter or output with a declared kind.
Assumed DryRun::converted(const Assumed& a, Kind declared) {
  if (declared == Kind::unknown || a.meta.kind == declared) return a;
  if (a.value.index() == 0 || !is_scalar(declared)) return assumed_of_kind(declared);
  try {
    return assumed_scalar(convert_value(context_, a.value, declared, false, "", "", {}));
  } catch (const Error&) {
    return assumed_of_kind(declared);
  }
}

DryState DryRun::enter(const Routine& routine, const Outputs& arguments, bool certain) {
  DryState s;
  s.certain = certain;
  s.variables.slots.resize(routine.slots.size());
  for (size_t k = 0; k < arguments.size() && k < routine.inputs.size(); ++k) {
    s.variables.slots[static_cast<size_t>(routine.inputs[k])] = converted(arguments[k], routine.input_kinds[k]);
  }
  return s;
}

DryRun::Outputs DryRun::leave(const Routine& routine, const DryState& s) {
  Outputs out;
  for (size_t k = 0; k < routine.outputs.size(); ++k) {
    const Kind declared = routine.output_kinds[k];
    const Assumed& a = s.variables.slots[static_cast<size_t>(routine.outputs[k])];
    out.push_back(s.reachable && a.assigned() ? converted(a, declared) : assumed_of_kind(declared));
  }
  return out;
}

// What a function that is not inlined returns for such arguments.
DryRun::Outputs DryRun::analyse(const Routine& routine, Outputs arguments, bool certain) {
  const DryState unknown = enter(routine, {}, false);
  if (active_.count(&routine) > 0 || active_.size() > kDeepCalls) return leave(routine, unknown);
  const auto key = [&] {
    std::string out = certain ? "!" : "";
    for (const Assumed& a : arguments) out += text(a) + ";";
    return std::pair(&routine, out);
  };
  auto at = key();
  if (const auto found = results_.find(at); found != results_.end()) return found->second;
  if (++variants_[&routine] > kMostVariants) {
    for (Assumed& a : arguments) a = assumed_of_kind(a.meta.kind);
    at = key();
    if (const auto found = results_.find(at); found != results_.end()) return found->second;
  }
  DryState s = enter(routine, arguments, certain);
  const int loops = std::exchange(loops_, 0);
  active_.insert(&routine);
  ++quiet_;
  walk(routine.body, routine, s);
  --quiet_;
  active_.erase(&routine);
  loops_ = loops;
  return results_[at] = leave(routine, s);
}

// Notes a function for its place after the main script.
void DryRun::meet(const Routine& called, const Outputs& arguments) {
  const auto [found, first] = met_.emplace(&called, arguments);
  if (first) order_.push_back(&called);
  for (size_t k = 0; k < arguments.size(); ++k) found->second[k] = join(found->second[k], arguments[k]);
}

void DryRun::invoke(const Node& node, const Invoke& call, const Routine& routine, DryState& s) {
  const Routine* called = call.routine;
  Outputs arguments;
  for (const int32_t slot : call.arguments) arguments.push_back(s.variables.slots[static_cast<size_t>(slot)]);
  if (called == nullptr) {
    const auto* name = arguments.empty() ? nullptr : std::get_if<std::string>(&arguments.front().value);
    if (name != nullptr)
      called = program_.find(routine, *name, arguments.size() > 1 ? arguments[1].meta.kind : Kind::none);
    if (!arguments.empty()) arguments.erase(arguments.begin());
    const bool one_list = arguments.size() == 1 && arguments[0].meta.kind == Kind::list;
    if (one_list && called != nullptr && !(called->inputs.size() == 1 && called->input_kinds[0] == Kind::list))
      arguments.assign(called->inputs.size(), assumed_of_kind(Kind::unknown));
  }
  Outputs results;
  if (called != nullptr) {
    arguments.resize(called->inputs.size());
    for (size_t k = 0; k < arguments.size(); ++k) {
      const Kind declared = called->input_kinds[k];
      arguments[k] = arguments[k].assigned() ? converted(arguments[k], declared) : assumed_of_kind(declared);
    }
    if (hidden_ == 0) meet(*called, arguments);
    print(fmt::format("call of {}{}", called->name, place_text(node.span, program_.files())));
    results = analyse(*called, std::move(arguments), s.certain);
  }
  if (call.eval)
    results.assign(
        1, results.empty() || results[0].meta.kind != Kind::matrix ? assumed_of_kind(Kind::matrix) : results[0]);
  if (call.eval_list) results.assign(1, assumed_of_kind(Kind::list));
  for (const int32_t slot : node.dies) s.variables.slots[static_cast<size_t>(slot)] = Assumed();
  for (size_t k = 0; k < call.results.size(); ++k)
    if (call.results[k] >= 0)
      s.variables.slots[static_cast<size_t>(call.results[k])] =
          k < results.size() ? results[k] : assumed_of_kind(Kind::unknown);
}

}  // namespace hopline
