#include "planner/hop/hop.h"

#include <bit>
#include <functional>

#include "runtime/base/error.h"

namespace hopline {

namespace hops {

const Op& literal() {
  static const Op& row = op("literal", 0);
  return row;
}
const Op& input() {
  static const Op& row = op("input", 0);
  return row;
}
const Op& get() {
  static const Op& row = op("get", 1);
  return row;
}
const Op& fail() {
  static const Op& row = op("fail", 0);
  return row;
}
bool is_literal(const Hop& hop) { return hop.op == &literal(); }
bool is_literal(const Hop& hop, double value) {
  if (!is_literal(hop)) return false;
  if (const auto* d = std::get_if<double>(&hop.literal)) return *d == value;
  if (const auto* i = std::get_if<int64_t>(&hop.literal)) return static_cast<double>(*i) == value;
  return false;
}

}  // namespace hops

namespace {

size_t mix(size_t seed, size_t value) { return (seed ^ value) * 0x9E3779B97F4A7C15u + (seed >> 29); }

size_t hash_scalar(const Value& v) {
  size_t h = v.index();
  if (const auto* b = std::get_if<bool>(&v)) return mix(h, *b);
  if (const auto* i = std::get_if<int64_t>(&v)) return mix(h, static_cast<size_t>(*i));
  if (const auto* d = std::get_if<double>(&v)) return mix(h, std::bit_cast<uint64_t>(*d));
  if (const auto* s = std::get_if<std::string>(&v)) return mix(h, std::hash<std::string>()(*s));
  return h;
}

// Numbers by bits, so that 0.0 and -0.0 stay apart and a NaN equals itself.
bool same_scalar(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  if (const auto* d = std::get_if<double>(&a))
    return std::bit_cast<uint64_t>(*d) == std::bit_cast<uint64_t>(std::get<double>(b));
  return a == b;
}

}  // namespace

size_t Dag::Hash::operator()(const Hop* h) const {
  size_t seed = mix(std::hash<const void*>()(h->op), static_cast<size_t>(h->index));
  seed = mix(seed, static_cast<size_t>(h->entry));
  for (const Hop* in : h->in) seed = mix(seed, std::hash<const void*>()(in));
  for (const std::string& n : h->names) seed = mix(seed, std::hash<std::string>()(n));
  return mix(seed, hash_scalar(h->literal));
}

bool Dag::Equal::operator()(const Hop* a, const Hop* b) const {
  return a->op == b->op && a->index == b->index && a->entry == b->entry && a->in.size() == b->in.size() &&
         std::equal(a->in.begin(), a->in.end(), b->in.begin()) && a->names == b->names &&
         same_scalar(a->literal, b->literal);
}

Dag::Dag() = default;

const Hop* Dag::make(Hop fields, std::vector<const Hop*> in) {
  fields.in = in;
  if (const auto found = unique_.find(&fields); found != unique_.end()) return *found;
  HOPLINE_CHECK(hops_.size() < UINT32_MAX);
  fields.in = inputs_.emplace_back(std::move(in));
  fields.id = static_cast<uint32_t>(hops_.size());
  const Hop* hop = &hops_.emplace_back(std::move(fields));
  unique_.insert(hop);
  return hop;
}

const Hop* Dag::literal(Value value, const Span& span) {
  Hop h;
  h.op = &hops::literal();
  h.meta = scalar_meta(kind_of(value));
  h.literal = std::move(value);
  h.span = span;
  return make(std::move(h), {});
}

const Hop* Dag::input(int32_t slot, int64_t entry, const Meta& meta, const Span& span) {
  Hop h;
  h.op = &hops::input();
  h.index = slot;
  h.entry = entry;
  h.meta = meta;
  h.span = span;
  return make(std::move(h), {});
}

const Hop* Dag::get(const Hop* node, int64_t output, const Span& span) {
  Hop h;
  h.op = &hops::get();
  h.index = output;
  h.meta = node->outputs.at(static_cast<size_t>(output));
  h.span = span;
  return make(std::move(h), {node});
}

}  // namespace hopline
