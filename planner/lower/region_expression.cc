// Expressions -> hops, and what is known of scalars while planning.
#include <algorithm>

#include "planner/lower/region_builder.h"
#include "runtime/ops/apply.h"

namespace hopline {

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

}  // namespace hopline
