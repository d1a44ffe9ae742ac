// The variables of one activation of a routine.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/data/value.h"

namespace hopline {

struct Routine;

struct Scope {
  const Routine* routine = nullptr;
  std::vector<Value> slots;  // monostate: not assigned
  // Which iteration of which loops and calls this is: the key of unseeded draws (design 6).
  uint64_t path = 0;
};

// A value under a slot, or an entry of the list there; null when it does not exist.
inline const Value* find_value(const Scope& scope, int32_t slot, int64_t entry) {
  const Value& v = scope.slots[static_cast<size_t>(slot)];
  if (v.index() == 0) return nullptr;
  if (entry < 0) return &v;
  const auto* list = std::get_if<ListRef>(&v);
  if (list == nullptr || entry >= static_cast<int64_t>((*list)->entries.size())) return nullptr;
  return &(*list)->entries[static_cast<size_t>(entry)];
}

}  // namespace hopline
