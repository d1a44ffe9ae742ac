// Applies the rules of rules.cc to a region until none fires.
#pragma once
#include <string>
#include <vector>

#include "planner/hop/builder.h"
#include "planner/lower/region.h"
#include "planner/rewrite/rules.h"
#include "runtime/base/config.h"

namespace hopline {

struct Fired {
  std::string_view rule;
  Span span;
};

// Rewrites the roots of the region. Rules that the configuration switches off (rewrites.off, rewrites.exactness,
// optlevel 0) do not fire. Returns what fired, in order.
std::vector<Fired> rewrite(Region& region, Context& context);

// Does the configuration let a rule or pass of this name and exactness run?
bool is_on(std::string_view name, Exactness exactness, const Config& config);

// One rule on one hop: the replacement, or null when the rule does not fire. For tests.
const Hop* apply_rule(const Rule& rule, const Hop* hop, Builder& builder);

}  // namespace hopline
