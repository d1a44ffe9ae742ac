// Expressions -> hops, and what is known of scalars while planning.
#include <algorithm>

#include "planner/lower/region_builder.h"
#include "runtime/ops/apply.h"

namespace hopline {

std::optional<Meta> RegionBuilder::live(int32_t slot, int64_t entry) const {
  Meta m;
  if (assumed_ != nullptr) {
    const Assumed* a = assumed_->find(slot, entry);
    if (a == nullptr) return std::nullopt;
    if (a->meta.kind == Kind::unknown) throw EndsHere();
    m = a->meta;
  } else {
    const Value* v = find_value(scope_, slot, entry);
    if (v == nullptr) return std::nullopt;
    m = meta_of(*v);
  }
  if (generic_ && (m.kind == Kind::matrix || m.kind == Kind::list))
    m = {m.kind, -1, m.kind == Kind::list ? 1 : -1, -1, -1};
  if (m.kind == Kind::matrix && m.nnz > 0 && m.sizes_known())
    m.density = static_cast<double>(m.nnz) / static_cast<double>(m.rows * m.cols);
  m.nnz = m.nnz == 0 ? 0 : -1;
  return m;
}

const Value* RegionBuilder::live_value(int32_t slot, int64_t entry) const {
  if (assumed_ == nullptr) return find_value(scope_, slot, entry);
  const Assumed* a = assumed_->find(slot, entry);
  return a == nullptr || a->value.index() == 0 ? nullptr : &a->value;
}

const Hop* RegionBuilder::read(const Name& name, const Span& span, Frame& f) {
  const Hop*& h = f.env[static_cast<size_t>(name.slot)];
  if (h != nullptr) return h;
  const std::optional<Meta> m = f.own ? live(name.slot, -1) : std::nullopt;
  if (!m) fail(span, "variable {} is not assigned", name.name);
  return h = region_->dag.input(name.slot, -1, *m, span);
}

const Hop* RegionBuilder::exists(const Name& name, const Span& span, Frame& f) {
  const bool assigned = f.env[static_cast<size_t>(name.slot)] != nullptr;
  if (!assigned && f.own && live(name.slot, -1)) read(name, span, f);
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
    const Value* v = live_value(static_cast<int32_t>(hop->index), hop->entry);
    return v == nullptr ? nullptr : &(values_[hop] = *v);
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
  if (!list->is(hops::input()) || list->entry >= 0) return nullptr;
  const auto slot = static_cast<int32_t>(list->index);
  int64_t entry = kind_of(*at) == Kind::integer ? std::get<int64_t>(*at) - 1 : -1;
  if (by_name && assumed_ != nullptr) entry = assumed_->find_entry(slot, std::get<std::string>(*at));
  const std::optional<Meta> m = entry < 0 ? std::nullopt : live(slot, entry);
  return m ? region_->dag.input(slot, entry, *m, span) : nullptr;
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

// as.scalar(L[i]) or as.matrix(L[i]) with an i that is not known: what all entries have in common.
Assumed RegionBuilder::any_entry(const Hop* hop) {
  static const Op &right_index = *find_op("[]"), &as_scalar = *find_op("as.scalar");
  const Hop* list = hop->in[0]->is(right_index) ? hop->in[0]->in[0] : hop->in[0];
  const Assumed* known =
      list->is(hops::input()) ? assumed_->find(static_cast<int32_t>(list->index), list->entry) : nullptr;
  Assumed out;
  if (known != nullptr && known->list != nullptr)
    for (const Assumed& entry : known->list->entries) out = join(out, entry);
  if (out.meta.kind == Kind::matrix || (hop->is(as_scalar) && is_scalar(out.meta.kind))) return out;
  if (!hop->is(as_scalar)) return assumed_of_kind(Kind::matrix);
  region_->guessed = true;  // nearly always a number
  return assumed_of_kind(Kind::real);
}

// What a dry run knows of a result.
Assumed RegionBuilder::assumption(const Hop* hop, int depth) {
  static const Op &make_list = *find_op("list"), &as_scalar = *find_op("as.scalar"), &as_matrix = *find_op("as.matrix");
  if (hop->is(hops::input())) return *assumed_->find(static_cast<int32_t>(hop->index), hop->entry);
  Assumed out;
  out.meta = hop->meta;
  if (hop->meta.kind == Kind::unknown && (hop->is(as_scalar) || hop->is(as_matrix))) return any_entry(hop);
  if (is_scalar(hop->meta.kind))
    if (const Value* v = evaluate(hop)) out.value = *v;
  if (!hop->is(make_list)) return out;
  if (depth > AssumedList::kDeepest || hop->in.size() > AssumedList::kMost) return out;
  auto list = std::make_shared<AssumedList>();
  list->names = hop->names;
  for (const Hop* in : hop->in) {
    list->entries.push_back(assumption(in, depth + 1));
    if (list->entries.back().list != nullptr) list->depth = std::max(list->depth, list->entries.back().list->depth + 1);
  }
  if (list->depth <= AssumedList::kDeepest) out.list = std::move(list);
  return out;
}

}  // namespace hopline
