// Lists: entries by position or name. A list is a value; one with a single owner is changed in place.
#pragma once
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/data/value.h"

namespace hopline {

// Entries low..high of the list as a list; each bound is a position (1-based, any number) or a name, both absent
// (monostate) means all. Fails where a bound lies outside or a name is unknown.
ListRef index_list(const ListRef& list, const Value& low, const Value& high, const Span& span);

// The list with entries low..high replaced. One entry takes any value (a list of length 1 gives its entry); a range
// takes a list of the same length. Names stay. Move the list in at its last use: a single owner is written in place.
ListRef assign_list(ListRef list, Value value, const Value& low, const Value& high, const Span& span);

// The list with a value at its end; a list of length 1 is unfolded and brings its name, any other list becomes one
// entry. Amortised O(1) when the list is moved in by its only owner.
ListRef append_to_list(ListRef list, Value value);

}  // namespace hopline
