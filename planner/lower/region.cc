#include "planner/lower/region.h"

#include <algorithm>

#include "runtime/ops/apply.h"

namespace hopline {

namespace {

constexpr int kMostInlined = 200;     // statements of a function that is inlined
constexpr int kMostInlineDepth = 64;  // calls within calls
constexpr size_t kMostHops = 40000;   // a longer straight line is cut here

// The variables of the region's own routine, or of a function that is inlined.
struct Frame {
  const Routine* routine;
  std::vector<const Hop*> env;  // null: not touched yet (own routine) or not assigned (inlined)
  bool own;
  const CallSite* via;
};

// Thrown where a region must end before the node that is being translated.
struct EndsHere {};

class RegionBuilder : public Facts {
 public:
  RegionBuilder(Executable& program, const Scope& scope, Context& context, bool generic)
      : program_(program),
        scope_(scope),
        generic_(generic),
        region_(std::make_unique<Region>()),
        builder_(region_->dag, context, this) {}

  std::unique_ptr<Region> build(const NodeList& sequence, size_t begin);
  const Value* known(const Hop* hop) override;

 private:
  bool add_node(const Node& node, Frame& f);  // false: the region ends after it
  void add_sequence(const NodeList& sequence, Frame& f);
  bool add_statement(const Stmt& stmt, Frame& f);
  void add_branch(const Branch& branch, Frame& f);
  void add_call(const Node& node, const Invoke& invoke, Frame& f);
  void assign(const Target& target, const Hop* value, bool accumulate, Frame& f);
  const Hop* expression(const Expr& e, Frame& f);
  const Hop* call(const CallExpr& c, const Span& span, Frame& f);
  const Hop* index(const Index& x, const Span& span, Frame& f);
  std::vector<const Hop*> bounds(const IndexRange& rows, const IndexRange& cols, const Span& span, Frame& f);
  const Hop* read(const Name& name, const Span& span, Frame& f);
  const Hop* exists(const Name& name, const Span& span, Frame& f);
  const Hop* convert(const Hop* value, Kind declared, const std::string& what, const Span& span);
  const Hop* entry_of(const Hop* list, const Hop* position, const Span& span);
  Span place(const Span& span, const Frame& f) const {
    Span s = span;
    s.via = f.via;
    return s;
  }
  Meta input_meta(const Value& value) const;
  const Value* evaluate(const Hop* hop);
  const Hop* none() { return builder_.literal(Value(), {}); }
  void finish(Frame& f);
  void raise(const Error& error);

  Executable& program_;
  const Scope& scope_;
  bool generic_;
  std::unique_ptr<Region> region_;
  Builder builder_;
  std::vector<int32_t> alive_;  // 0 untouched, 1 assigned, 2 dead; of the own routine's slots
  std::unordered_map<const Hop*, Value> values_;
  std::unordered_map<const Hop*, bool> asked_;
  int depth_ = 0;
};

Meta RegionBuilder::input_meta(const Value& value) const {
  Meta m = meta_of(value);
  if (generic_ && (m.kind == Kind::matrix || m.kind == Kind::list))
    m = {m.kind, -1, m.kind == Kind::list ? 1 : -1, -1, -1};
  if (m.kind == Kind::matrix && m.nnz > 0 && m.sizes_known())
    m.density = static_cast<double>(m.nnz) / static_cast<double>(m.rows * m.cols);
  m.nnz = m.nnz == 0 ? 0 : -1;
  return m;
}

const Hop* RegionBuilder::read(const Name& name, const Span& span, Frame& f) {
  const Hop*& h = f.env[static_cast<size_t>(name.slot)];
  if (h != nullptr) return h;
  const Value* v = f.own ? find_value(scope_, name.slot, -1) : nullptr;
  if (v == nullptr) fail(span, "variable {} is not assigned", name.name);
  return h = region_->dag.input(name.slot, -1, input_meta(*v), span);
}

const Hop* RegionBuilder::exists(const Name& name, const Span& span, Frame& f) {
  const bool assigned = f.env[static_cast<size_t>(name.slot)] != nullptr;
  if (!assigned && f.own && find_value(scope_, name.slot, -1) != nullptr) read(name, span, f);
  const bool found = f.env[static_cast<size_t>(name.slot)] != nullptr;
  if (!found && f.own) region_->absent.push_back(name.slot);
  return builder_.literal(found, span);
}

// The value of a scalar hop in this run, from variables; null when it hangs on matrix cells or effects.
const Value* RegionBuilder::evaluate(const Hop* hop) {
  if (hops::is_literal(*hop)) return &hop->literal;
  if (const auto found = values_.find(hop); found != values_.end()) return &found->second;
  if (hop->is(hops::input())) {
    if (!is_scalar(hop->meta.kind)) return nullptr;
    return &(values_[hop] = *find_value(scope_, static_cast<int32_t>(hop->index), hop->entry));
  }
  if (hop->op->laws.purity != Purity::pure || hop->op->outputs != 1 || !is_scalar(hop->meta.kind)) return nullptr;
  std::vector<Value> in;
  for (const Hop* h : hop->in) {
    const Value* v = is_scalar(h->meta.kind) || h->meta.kind == Kind::none ? evaluate(h) : nullptr;
    if (v == nullptr) return nullptr;
    in.push_back(*v);
  }
  try {
    return &(values_[hop] = apply(builder_.context(), *hop->op, std::move(in), hop->names, hop->span).front());
  } catch (const Error&) {
    return nullptr;  // the plan raises it in its place
  }
}

const Value* RegionBuilder::known(const Hop* hop) {
  if (generic_) return nullptr;
  const Value* v = evaluate(hop);
  if (v != nullptr && asked_.emplace(hop, true).second) region_->facts.emplace_back(hop, *v);
  return v;
}

std::vector<const Hop*> RegionBuilder::bounds(const IndexRange& rows, const IndexRange& cols, const Span& span,
                                              Frame& f) {
  std::vector<const Hop*> out;
  for (const IndexRange* r : {&rows, &cols}) {
    const Hop* low = r->given ? expression(*r->low, f) : none();
    out.push_back(low);
    out.push_back(r->given && r->high != nullptr ? expression(*r->high, f) : low);
  }
  return out;
}

const Hop* RegionBuilder::index(const Index& x, const Span& span, Frame& f) {
  std::vector<const Hop*> in{read(x.base, span, f)};
  for (const Hop* h : bounds(x.rows, x.cols, span, f)) in.push_back(h);
  return builder_.make("[]", std::move(in), place(span, f));
}

// as.scalar(L[i]) and the like with an entry that is known now: the entry itself, without the list between.
const Hop* RegionBuilder::entry_of(const Hop* list, const Hop* position, const Span& span) {
  if (list->meta.kind != Kind::list) return nullptr;
  const Value* at = generic_ && !hops::is_literal(*position) ? nullptr : builder_.known(position);
  if (at == nullptr) return nullptr;
  static const Op& make_list = *find_op("list");
  const bool by_name = kind_of(*at) == Kind::string;
  if (list->is(make_list)) {
    if (by_name) {
      const auto found = std::find(list->names.begin(), list->names.end(), std::get<std::string>(*at));
      return found == list->names.end() ? nullptr : list->in[static_cast<size_t>(found - list->names.begin())];
    }
    if (kind_of(*at) != Kind::integer) return nullptr;
    const int64_t i = std::get<int64_t>(*at);
    return i < 1 || i > static_cast<int64_t>(list->in.size()) ? nullptr : list->in[static_cast<size_t>(i - 1)];
  }
  if (!list->is(hops::input()) || list->entry >= 0 || kind_of(*at) != Kind::integer) return nullptr;
  const Value* v = find_value(scope_, static_cast<int32_t>(list->index), std::get<int64_t>(*at) - 1);
  if (v == nullptr) return nullptr;
  return region_->dag.input(static_cast<int32_t>(list->index), std::get<int64_t>(*at) - 1, input_meta(*v), span);
}

const Hop* RegionBuilder::call(const CallExpr& c, const Span& span, Frame& f) {
  if (c.name == "exists")
    if (const auto* n = std::get_if<Name>(&c.arguments.front().value->node)) return exists(*n, span, f);
  std::vector<const Hop*> in;
  std::vector<std::string> names;
  bool named = false;
  for (const Argument& a : c.arguments) {
    in.push_back(a.value == nullptr ? none() : expression(*a.value, f));
    named = named || !a.name.empty();
  }
  static const Op& right_index = *find_op("[]");
  static const Op& as_scalar = *find_op("as.scalar");
  static const Op& as_matrix = *find_op("as.matrix");
  if ((c.op == &as_scalar || c.op == &as_matrix) && in[0]->is(right_index) && in[0]->in[1] == in[0]->in[2])
    if (const Hop* entry = entry_of(in[0]->in[0], in[0]->in[1], span)) {
      if (c.op == &as_scalar || entry->meta.kind == Kind::matrix) return entry;
      if (is_scalar(entry->meta.kind)) return builder_.make(as_matrix, {entry}, place(span, f));
    }
  if (named && c.op->params.variadic)
    for (const Argument& a : c.arguments) names.push_back(a.name);
  return builder_.make(*c.op, std::move(in), place(span, f), std::move(names));
}

const Hop* RegionBuilder::expression(const Expr& e, Frame& f) {
  const Span span = place(e.span, f);
  if (const auto* l = std::get_if<Literal>(&e.node))
    return builder_.literal(std::visit([](const auto& v) { return Value(v); }, l->value), span);
  if (const auto* n = std::get_if<Name>(&e.node)) return read(*n, span, f);
  if (const auto* x = std::get_if<Index>(&e.node)) return index(*x, e.span, f);
  if (const auto* c = std::get_if<CallExpr>(&e.node)) return call(*c, e.span, f);
  const auto* o = std::get_if<Operator>(&e.node);
  HOPLINE_CHECK(o != nullptr);
  std::vector<const Hop*> in;
  for (const Expr* operand : o->operands) in.push_back(expression(*operand, f));
  return builder_.make(*o->op, std::move(in), span);
}

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
    const bool open = value->meta.kind == Kind::unknown || (value->op->laws.size_from_data && !generic_ &&
                                                            !value->meta.sizes_known() && !is_scalar(value->meta.kind));
    return !open;
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

}  // namespace

std::unique_ptr<Region> build_region(Executable& program, const NodeList& sequence, size_t begin, const Scope& scope,
                                     Context& context, bool generic) {
  return RegionBuilder(program, scope, context, generic).build(sequence, begin);
}

}  // namespace hopline
