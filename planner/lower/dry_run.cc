#include "planner/lower/dry_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/lower/dry_runner.h"
#include "planner/lower/explain.h"
#include "runtime/exec/session.h"
#include "runtime/exec/statistics.h"

namespace hopline {

namespace {

// Of memory: "at most 1.5 MB", "at least 1.5 MB" where a size is unknown.
std::string most_text(const Bytes& most) {
  if (!most.known && most.bytes == 0) return "? bytes";
  return fmt::format("{} {}", most.known ? "at most" : "at least", bytes_text(most.bytes));
}

}  // namespace

void DryRun::print(const std::string& text) {
  if (quiet_ > 0 || !options_.print) return;
  const std::string margin(static_cast<size_t>(indent_) * 2, ' ');
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += margin + text.substr(begin, end - begin) + '\n';
    begin = end + 1;
  }
  options_.print(out);
}

void DryRun::heading(const std::string& text, const Span& span, const std::string& after) {
  print(text + place_text(span, program_.files()) + after + ":");
}

void DryRun::fails(const Diagnostic& why, DryState& s) {
  if (s.certain) throw Error(ErrorKind::script, {why});
  print(fmt::format("fails{}: {}", place_text(why.span, program_.files()), why.message));
  s.reachable = false;
}

void DryRun::summarize(const Region& region, const Lowered& lowered, const Scope& scope, const Node& first) {
  const std::vector<Instruction>& code = lowered.plan->code.instructions;
  Bytes most;
  if (!code.empty()) {
    const MemoryEstimate estimate = estimate_memory(lowered);
    most = estimate.steps[estimate.highest].alive;
    for (const MemoryStep& step : estimate.steps) most.known = most.known && step.alive.known;
    if (most.bytes > most_.bytes) most_place_ = place_text(code[estimate.highest].span, program_.files());
    most_ = {std::max(most_.bytes, most.bytes), most_.known && most.known};
  }
  if (!summary_) return;
  std::string results;
  for (const auto& [slot, value] : region.results) {
    const std::string& name = scope.routine->slots[static_cast<size_t>(slot)];
    if (name[0] != '%') results += fmt::format("\n  {}{}", name, text(value));
  }
  if (code.empty() && results.empty()) return;
  const std::string memory = code.empty() ? "" : ", " + most_text(most);
  print(fmt::format("plan{}: {} instruction{}{}{}", place_text(first.span, program_.files()), code.size(),
                    code.size() == 1 ? "" : "s", memory, results));
}

void DryRun::show(Region& region, const Scope& scope, const Node& first) {
  const int64_t begin = observer_clock();
  const Lowered lowered = planner_.finish(region, scope, context_, false);
  if (options_.observer != nullptr) options_.observer->planned(*lowered.plan, first.span, begin, observer_clock());
  if (!lowered.plan->code.instructions.empty()) ++plans_;
  instructions_ += lowered.plan->code.instructions.size();
  summarize(region, lowered, scope, first);
}

// One region from nodes[at] on; false: the node there is control flow, or cannot be planned.
bool DryRun::plan(const NodeList& nodes, size_t& at, const Routine& routine, DryState& s) {
  Scope scope;
  scope.routine = &routine;
  scope.slots.resize(routine.slots.size());
  const std::unique_ptr<Region> region = build_region(program_, nodes, at, scope, context_, false, &s.variables);
  if (region->num_nodes == 0) return false;
  if (quiet_ == 0) show(*region, scope, nodes[at]);
  at += region->num_nodes;
  for (auto& [slot, value] : region->results) s.variables.slots[static_cast<size_t>(slot)] = std::move(value);
  for (const int32_t slot : region->dead) s.variables.slots[static_cast<size_t>(slot)] = Assumed();
  if (region->failure) fails(*region->failure, s);
  if (region->guessed) s.certain = false;
  return true;
}

void DryRun::walk(const NodeList& nodes, const Routine& routine, DryState& s) {
  for (size_t at = 0; at < nodes.size() && s.reachable;) {
    const Node& node = nodes[at];
    if (context_.session != nullptr) {
      context_.session->now.set(kPlanning, node.span);
      context_.session->poll(node.span);
    }
    const bool repeated = std::holds_alternative<Loop>(node.what) || std::holds_alternative<Count>(node.what);
    if (!repeated && plan(nodes, at, routine, s)) continue;
    ++at;
    if (std::holds_alternative<Step>(node.what)) {
      not_planned(node, s);
      continue;
    }
    const int hides = scalar_code(node, routine, s) ? 1 : 0;
    quiet_ += hides, hidden_ += hides;
    control(node, routine, s);
    quiet_ -= hides, hidden_ -= hides;
    for (const int32_t slot : node.dies) s.variables.slots[static_cast<size_t>(slot)] = Assumed();
  }
}

// A statement that reads a variable of which not even the kind is known.
void DryRun::not_planned(const Node& node, DryState& s) {
  print(fmt::format("not planned{}: it reads a variable whose kind is known only in the run",
                    place_text(node.span, program_.files())));
  const auto& stmt = *static_cast<const Stmt*>(node.statement);
  const auto forget = [&s](const Target& target) {
    s.variables.slots[static_cast<size_t>(target.variable.slot)] =
        assumed_of_kind(target.indexed ? Kind::matrix : Kind::unknown);
  };
  if (const auto* assign = std::get_if<Assign>(&stmt.node)) forget(assign->target);
  if (const auto* several = std::get_if<MultiAssign>(&stmt.node))
    for (const Target& target : several->targets) forget(target);
  for (const int32_t slot : node.dies) s.variables.slots[static_cast<size_t>(slot)] = Assumed();
}

// Would the run make a register program of the node? Prints it.
bool DryRun::scalar_code(const Node& node, const Routine& routine, const DryState& s) {
  if (node.programs == nullptr || !context_.config.scalar_programs) return false;
  static const MatrixRef kAny =
      std::make_shared<MatrixBlock>(1, 1, Precision::f64, MatrixBlock::Store(Virtual(Constant{})));
  Scope scope;
  scope.routine = &routine;
  for (const Assumed& a : s.variables.slots) {
    Value& v = scope.slots.emplace_back();
    const Kind kind = a.meta.kind;
    if (kind == Kind::boolean) v = false;
    if (kind == Kind::integer) v = int64_t{0};
    if (kind == Kind::real) v = 0.0;
    if (kind == Kind::string) v = std::string();
    if (kind == Kind::list) v = std::make_shared<const List>();
    if (kind == Kind::matrix || kind == Kind::unknown) v = kAny;  // scalar code touches neither
  }
  if (planner_.program(node, scope)->refused) return false;
  if (summary_) print(fmt::format("scalar code{}", place_text(node.span, program_.files())));
  return true;
}

void DryRun::run() {
  const Routine& main = program_.main();
  const auto once = [&] {
    DryState s = enter(main, {}, true);
    walk(main.body, main, s);
  };
  once();
  quiet_ = 0;
  once();
  for (size_t k = 0; k < order_.size(); ++k) {
    const Routine& routine = *order_[k];
    std::string arguments;
    const Outputs& met = met_[&routine];
    for (size_t a = 0; a < met.size(); ++a)
      arguments += fmt::format("{}{}{}", a == 0 ? "" : ", ", routine.input_names[a], text(met[a]));
    heading(fmt::format("function {}({})", routine.name, arguments), routine.span, "");
    DryState s = enter(routine, met, false);
    indented([&] { walk(routine.body, routine, s); });
  }
  print(fmt::format("{} plan{}, {} instruction{}, {}{}", plans_, plans_ == 1 ? "" : "s", instructions_,
                    instructions_ == 1 ? "" : "s", most_text(most_), most_place_));
}

void dry_run(Executable& program, Context& context, const DryRunOptions& options) {
  DryRun(program, context, options).run();
}

}  // namespace hopline
