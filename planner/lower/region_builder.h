// The work of build_region(): statements in region.cc, expressions in region_expression.cc.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "planner/lower/region.h"

namespace hopline {

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
  RegionBuilder(Executable& program, const Scope& scope, Context& context, bool generic, const Assumptions* assumed)
      : program_(program),
        scope_(scope),
        generic_(generic),
        assumed_(assumed),
        region_(std::make_unique<Region>()),
        builder_(region_->dag, context, this) {}

  std::unique_ptr<Region> build(const NodeList& sequence, size_t begin);
  const Value* known(const Hop* hop) override;
  void only_size_read(const Hop* hop) override {
    if (!hop->is(hops::input())) region_->roots.push_back({hop, false, -1});
  }

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
  // A variable that lives when the region begins: what is known of it (nullopt: not assigned), and a scalar's value.
  std::optional<Meta> live(int32_t slot, int64_t entry) const;
  const Value* live_value(int32_t slot, int64_t entry) const;
  Assumed assumption(const Hop* hop, int depth = 1);  // depth: of lists around it
  Assumed any_entry(const Hop* hop);
  const Value* evaluate(const Hop* hop);
  const Hop* none() { return builder_.literal(Value(), {}); }
  void finish(Frame& f);
  void raise(const Error& error);

  Executable& program_;
  const Scope& scope_;
  bool generic_;
  const Assumptions* assumed_;  // of a dry run, else null
  std::unique_ptr<Region> region_;
  Builder builder_;
  std::vector<int32_t> alive_;  // 0 untouched, 1 assigned, 2 dead; of the own routine's slots
  std::unordered_map<const Hop*, Value> values_;
  std::unordered_map<const Hop*, bool> asked_;
  int depth_ = 0;
};

}  // namespace hopline
