// Statements, branches and calls -> hops.
#include "planner/lower/region.h"

#include <algorithm>

#include "planner/lower/region_builder.h"

namespace hopline {

namespace {

constexpr int kMostInlined = 200;     // statements of a function that is inlined
constexpr int kMostInlineDepth = 64;  // calls within calls
constexpr size_t kMostHops = 40000;   // a longer straight line is cut here

}  // namespace

void RegionBuilder::assign(const Target& target, const Hop* value, bool accumulate, Frame& f) {
  const Span span = place(target.span, f);
  const auto slot = static_cast<size_t>(target.variable.slot);
  if (target.indexed) {
    const Hop* base = read(target.variable, span, f);
    const std::vector<const Hop*> range = bounds(target.rows, target.cols, target.span, f);
    if (accumulate) {
      const Hop* old = builder_.make("[]", {base, range[0], range[1], range[2], range[3]}, span);
      value = builder_.make("+", {old, value}, span);
    }
    value = builder_.make("[]=", {base, value, range[0], range[1], range[2], range[3]}, span);
  } else if (accumulate) {
    value = builder_.make("+", {read(target.variable, span, f), value}, span);
  }
  f.env[slot] = value;
  if (f.own) alive_[slot] = 1;
  region_->roots.push_back({value, false, -1});
}

// Returns false when the region must end after the statement, because what follows needs its size or kind.
bool RegionBuilder::add_statement(const Stmt& stmt, Frame& f) {
  if (const auto* a = std::get_if<Assign>(&stmt.node)) {
    const Hop* value = expression(*a->value, f);
    assign(a->target, value, a->accumulate, f);
    const Laws& laws = value->op->laws;
    if (value->meta.kind == Kind::unknown) return false;
    // What a file holds when it is read may differ from what it holds now.
    if (laws.size_from_data && laws.purity == Purity::effect) return false;
    return !laws.size_from_data || generic_ || value->meta.sizes_known() || is_scalar(value->meta.kind);
  }
  if (const auto* m = std::get_if<MultiAssign>(&stmt.node)) {
    const Hop* node = expression(*m->call, f);
    bool open = false;
    for (size_t i = 0; i < m->targets.size(); ++i) {
      const Hop* value = node->op->outputs > 1 ? region_->dag.get(node, static_cast<int64_t>(i), node->span) : node;
      assign(m->targets[i], value, false, f);
      open = open || value->meta.kind == Kind::unknown;
    }
    return !open && !(node->op->laws.size_from_data && !generic_);
  }
  const auto& c = std::get<CallStmt>(stmt.node);
  region_->roots.push_back({expression(*c.call, f), true, -1});
  return true;
}

void RegionBuilder::add_branch(const Branch& branch, Frame& f) {
  add_sequence(branch.before, f);
  const Hop* predicate = f.env[static_cast<size_t>(branch.predicate)];
  if (predicate == nullptr) predicate = read({"predicate", branch.predicate}, {}, f);
  const Value* v =
      is_scalar(predicate->meta.kind) && predicate->meta.kind != Kind::string ? builder_.known(predicate) : nullptr;
  if (v == nullptr) throw EndsHere();
  const bool taken = std::visit(
      [](const auto& x) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(x)>>) return x != 0;
        return false;
      },
      *v);
  add_sequence(taken ? branch.then : branch.otherwise, f);
}

const Hop* RegionBuilder::convert(const Hop* value, Kind declared, const std::string& what, const Span& span) {
  const Kind k = value->meta.kind;
  if (declared == Kind::unknown || k == declared) return value;
  if (k == Kind::unknown) throw EndsHere();
  if (is_scalar(declared) && is_scalar(k)) {
    if (declared == Kind::real) return builder_.make("as.double", {value}, span);
    if (declared == Kind::integer) return builder_.make("as.integer", {value}, span);
    if (declared == Kind::boolean) return builder_.make("as.logical", {value}, span);
    return builder_.make("+", {builder_.literal(std::string(), span), value}, span);
  }
  fail(span, "{}: expected {}, found {}", what, name(declared), name(k));
}

void RegionBuilder::add_call(const Node& node, const Invoke& invoke, Frame& f) {
  const Routine* r = invoke.routine;
  if (r == nullptr || r->recursive || r->has_loop || r->num_statements > kMostInlined || depth_ >= kMostInlineDepth)
    throw EndsHere();
  const Span span = place(node.span, f);
  Frame inner{r, std::vector<const Hop*>(r->slots.size()), false, program_.call_site(span, r->name)};
  for (size_t i = 0; i < invoke.arguments.size(); ++i) {
    const Hop* value = read({f.routine->slots[static_cast<size_t>(invoke.arguments[i])], invoke.arguments[i]}, span, f);
    inner.env[static_cast<size_t>(r->inputs[i])] =
        convert(value, r->input_kinds[i], fmt::format("argument {} of {}", r->input_names[i], r->name), span);
  }
  ++depth_;
  add_sequence(r->body, inner);
  --depth_;
  for (size_t i = 0; i < invoke.results.size(); ++i) {
    if (invoke.results[i] < 0) continue;
    const Hop* value = inner.env[static_cast<size_t>(r->outputs[i])];
    if (value == nullptr) fail(span, "function {} ends without a value for its output {}", r->name, r->output_names[i]);
    value = convert(value, r->output_kinds[i], fmt::format("output {} of {}", r->output_names[i], r->name), span);
    f.env[static_cast<size_t>(invoke.results[i])] = value;
    if (f.own) alive_[static_cast<size_t>(invoke.results[i])] = 1;
  }
}

// Within a branch or a function everything must fit the region, else it ends before the branch or call.
void RegionBuilder::add_sequence(const NodeList& sequence, Frame& f) {
  for (const Node& node : sequence)
    if (!add_node(node, f)) throw EndsHere();
}

bool RegionBuilder::add_node(const Node& node, Frame& f) {
  bool goes_on = true;
  if (std::holds_alternative<Step>(node.what))
    goes_on = add_statement(*static_cast<const Stmt*>(node.statement), f);
  else if (const auto* branch = std::get_if<Branch>(&node.what))
    add_branch(*branch, f);
  else if (const auto* invoke = std::get_if<Invoke>(&node.what))
    add_call(node, *invoke, f);
  else
    throw EndsHere();
  if (f.own)
    for (const int32_t s : node.dies) alive_[static_cast<size_t>(s)] = 2;
  return goes_on && region_->dag.size() < kMostHops;
}

void RegionBuilder::raise(const Error& error) {
  region_->failure = error.diagnostics().front();
  Hop h;
  h.op = &hops::fail();
  h.names = {error.diagnostics().front().message};
  h.span = error.diagnostics().front().span;
  region_->roots.push_back({region_->dag.make(std::move(h), {}), true, -1});
}

void RegionBuilder::finish(Frame& f) {
  for (size_t s = 0; s < alive_.size(); ++s) {
    const auto slot = static_cast<int32_t>(s);
    if (alive_[s] == 1) region_->roots.push_back({f.env[s], false, slot});
    if (alive_[s] == 2) region_->dead.push_back(slot);
    if (alive_[s] != 0) region_->inputs_dying.push_back(slot);
    if (alive_[s] == 1 && assumed_ != nullptr) region_->results.emplace_back(slot, assumption(f.env[s]));
  }
}

std::unique_ptr<Region> RegionBuilder::build(const NodeList& sequence, size_t begin) {
  Frame own{scope_.routine, std::vector<const Hop*>(scope_.slots.size()), true, nullptr};
  alive_.assign(scope_.slots.size(), 0);
  for (size_t i = begin; i < sequence.size(); ++i) {
    const Node& node = sequence[i];
    const bool plain = std::holds_alternative<Step>(node.what);
    std::vector<const Hop*> env;
    std::vector<int32_t> alive;
    if (!plain) env = own.env, alive = alive_;
    const size_t roots = region_->roots.size(), facts = region_->facts.size(), absent = region_->absent.size();
    bool goes_on = true;
    try {
      goes_on = add_node(node, own);
    } catch (const EndsHere&) {
      depth_ = 0;
      own.env = std::move(env), alive_ = std::move(alive);
      region_->roots.resize(roots), region_->absent.resize(absent);
      for (size_t k = facts; k < region_->facts.size(); ++k) asked_.erase(region_->facts[k].first);
      region_->facts.resize(facts);
      break;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::internal) throw;
      raise(error);
      goes_on = false;
    }
    ++region_->num_nodes;
    if (!goes_on) break;
  }
  if (region_->num_nodes > 0) finish(own);
  return std::move(region_);
}

std::unique_ptr<Region> build_region(Executable& program, const NodeList& sequence, size_t begin, const Scope& scope,
                                     Context& context, bool generic, const Assumptions* assumed) {
  return RegionBuilder(program, scope, context, generic, assumed).build(sequence, begin);
}

}  // namespace hopline
