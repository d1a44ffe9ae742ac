// Which kinds a value may have, and what operators make of them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "runtime/data/kind.h"
#include "runtime/ops/op.h"

namespace hopline {

// A set of kinds. kNone: may be unassigned. kDead: nothing reads the variable any more, whatever it holds.
constexpr Kinds kDead = kinds(Kind::unknown);

constexpr Kinds kBoolean = kinds(Kind::boolean), kInteger = kinds(Kind::integer), kReal = kinds(Kind::real);

constexpr bool is_one(Kinds set) { return set != 0 && (set & (set - 1)) == 0; }
// The only kind of the set; unknown when there are several.
Kind only(Kinds set);
// Held in a number register (with a flag where it may be unassigned).
inline bool is_raw(Kinds set) {
  const Kind k = only(set & ~kNone);
  return k == Kind::boolean || k == Kind::integer || k == Kind::real;
}
constexpr bool within(Kinds set, Kinds of) { return set != 0 && (set & ~of) == 0; }

// Where two paths meet: either set; a variable that one path leaves dead is dead.
constexpr Kinds join(Kinds a, Kinds b) { return ((a | b) & kDead) != 0 ? kDead : a | b; }

// The kinds of each output of the row for inputs of these kinds, by infer() of every combination that it accepts.
// Empty when there is none. `certain` becomes false when some combination is not accepted.
std::vector<Kinds> output_kinds(const Op& op, std::span<const Kinds> in, std::span<const std::string> names,
                                bool& certain);

}  // namespace hopline
