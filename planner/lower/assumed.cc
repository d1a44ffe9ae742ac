#include "planner/lower/assumed.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "planner/lower/explain.h"

namespace hopline {

namespace {

bool same_value(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  if (const auto* d = std::get_if<double>(&a))
    return std::bit_cast<uint64_t>(*d) == std::bit_cast<uint64_t>(std::get<double>(b));
  return a == b;
}

bool same_meta(const Meta& a, const Meta& b) {
  return a.kind == b.kind && a.rows == b.rows && a.cols == b.cols && (a.nnz == 0) == (b.nnz == 0);
}

Meta join(const Meta& a, const Meta& b) {
  if (a.kind == Kind::none) return b;
  if (b.kind == Kind::none) return a;
  if (a.kind != b.kind) return {is_number(a.kind) && is_number(b.kind) ? Kind::real : Kind::unknown, -1, -1, -1, -1};
  const auto either = [](int64_t x, int64_t y) { return x == y ? x : -1; };
  return {a.kind, either(a.rows, b.rows), either(a.cols, b.cols), a.nnz == 0 && b.nnz == 0 ? 0 : -1,
          std::max(a.density, b.density)};
}

std::shared_ptr<const AssumedList> join(const std::shared_ptr<const AssumedList>& a,
                                        const std::shared_ptr<const AssumedList>& b) {
  if (a == b || a == nullptr || b == nullptr) return a == b ? a : nullptr;
  if (a->entries.size() != b->entries.size() || a->names != b->names) return nullptr;
  auto out = std::make_shared<AssumedList>();
  out->names = a->names;
  out->depth = std::max(a->depth, b->depth);
  for (size_t k = 0; k < a->entries.size(); ++k) out->entries.push_back(join(a->entries[k], b->entries[k]));
  return out;
}

}  // namespace

const Assumed* Assumptions::find(int32_t slot, int64_t entry) const {
  const Assumed& a = slots[static_cast<size_t>(slot)];
  if (!a.assigned()) return nullptr;
  if (entry < 0) return &a;
  return a.list != nullptr && entry < static_cast<int64_t>(a.list->entries.size())
             ? &a.list->entries[static_cast<size_t>(entry)]
             : nullptr;
}

int64_t Assumptions::find_entry(int32_t slot, const std::string& name) const {
  const auto& list = slots[static_cast<size_t>(slot)].list;
  if (list == nullptr) return -1;
  const auto found = std::find(list->names.begin(), list->names.end(), name);
  return found == list->names.end() ? -1 : found - list->names.begin();
}

Assumed assumed_of_kind(Kind kind) {
  Assumed out;
  out.meta = {kind, -1, kind == Kind::list ? 1 : -1, -1, -1};
  return out;
}

Assumed assumed_scalar(Value value) {
  Assumed out;
  out.meta = scalar_meta(kind_of(value));
  out.value = std::move(value);
  return out;
}

bool same(const Assumed& a, const Assumed& b) {
  if (!same_meta(a.meta, b.meta) || !same_value(a.value, b.value)) return false;
  if (a.list == b.list) return true;
  if (a.list == nullptr || b.list == nullptr || a.list->names != b.list->names ||
      a.list->entries.size() != b.list->entries.size())
    return false;
  for (size_t k = 0; k < a.list->entries.size(); ++k)
    if (!same(a.list->entries[k], b.list->entries[k])) return false;
  return true;
}

Assumed join(const Assumed& a, const Assumed& b) {
  if (!a.assigned()) return b;
  if (!b.assigned()) return a;
  Assumed out;
  out.meta = join(a.meta, b.meta);
  if (same_value(a.value, b.value)) out.value = a.value;
  out.list = join(a.list, b.list);
  return out;
}

bool same(const Assumptions& a, const Assumptions& b) {
  for (size_t s = 0; s < a.slots.size(); ++s)
    if (!same(a.slots[s], b.slots[s])) return false;
  return true;
}

Assumptions join(const Assumptions& a, const Assumptions& b) {
  Assumptions out;
  out.slots.reserve(a.slots.size());
  for (size_t s = 0; s < a.slots.size(); ++s) out.slots.push_back(join(a.slots[s], b.slots[s]));
  return out;
}

std::string text(const Assumed& a) {
  if (a.value.index() != 0) return " = " + constant_text(a.value);
  if (a.meta.kind != Kind::list) return fmt::format(" [{}{}]", size_text(a.meta), a.meta.nnz == 0 ? ", empty" : "");
  if (a.list == nullptr) return a.meta.rows < 0 ? " [list]" : fmt::format(" [list of {}]", a.meta.rows);
  std::string out = " [list:";
  for (size_t k = 0; k < a.list->entries.size(); ++k)
    out += (k == 0 ? " " : ", ") + (a.list->names.empty() ? "" : a.list->names[k]) + text(a.list->entries[k]);
  return out + "]";
}

}  // namespace hopline
