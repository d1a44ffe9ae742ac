// Statements -> hops: the region that begins at a node, for the values that are live there.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "planner/hop/builder.h"
#include "planner/lower/assumed.h"
#include "planner/lower/program.h"
#include "runtime/exec/scope.h"

namespace hopline {

// What a region must compute, in program order.
struct Root {
  const Hop* hop = nullptr;
  bool effect = false;  // print, write, ...: always computed
  int32_t output = -1;  // slot that takes the value when the region ends; such roots stand last
};

// The hops of a region and what they rest on.
struct Region {
  Dag dag;
  std::vector<Root> roots;
  std::vector<int32_t> inputs_dying;                // slots that are dead or overwritten when the region ends
  std::vector<int32_t> dead;                        // slots to clear
  std::vector<std::pair<const Hop*, Value>> facts;  // scalar hops and the values that planning relied on
  std::vector<int32_t> absent;                      // slots that were found unassigned
  size_t num_nodes = 0;
  // Of a dry run: what its outputs are, and why it ends if its last statement must fail.
  std::vector<std::pair<int32_t, Assumed>> results;
  std::optional<Diagnostic> failure;
  bool guessed = false;  // a kind in it may be another
};

// Builds the hops of the longest region from sequence[begin] on. num_nodes 0: the node there is control flow.
// generic: sizes and values of variables are not used. assumed: a dry run's variables; those of the scope are not read.
std::unique_ptr<Region> build_region(Executable& program, const NodeList& sequence, size_t begin, const Scope& scope,
                                     Context& context, bool generic, const Assumptions* assumed = nullptr);

}  // namespace hopline
