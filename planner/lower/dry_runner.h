// The work of dry_run(): plans in dry_run.cc, control flow and functions in dry_control.cc.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planner/lower/dry_run.h"
#include "planner/lower/estimate.h"
#include "planner/lower/region.h"

namespace hopline {

// What is known at a point of the script.
struct DryState {
  Assumptions variables;
  bool reachable = true;  // false: a statement before it must fail
  bool certain = true;    // every run comes here that gets so far
};

class DryRun {
 public:
  DryRun(Executable& program, Context& context, const DryRunOptions& options)
      : program_(program),
        context_(context),
        options_(options),
        planner_(program, {[this](const std::string& text) { print(text); }, options.levels}) {
    const ExplainLevels& l = options.levels;
    summary_ = !l.hops && !l.rules && !l.lops && !l.instructions && !l.memory;
  }
  void run();

 private:
  using Outputs = std::vector<Assumed>;
  void walk(const NodeList& nodes, const Routine& routine, DryState& s);
  bool plan(const NodeList& nodes, size_t& at, const Routine& routine, DryState& s);
  void show(Region& region, const Scope& scope, const Node& first);
  void summarize(const Region& region, const Lowered& lowered, const Scope& scope, const Node& first);
  bool scalar_code(const Node& node, const Routine& routine, const DryState& s);
  void not_planned(const Node& node, DryState& s);
  void fails(const Diagnostic& why, DryState& s);

  void control(const Node& node, const Routine& routine, DryState& s);
  void branch(const Node& node, const Branch& b, const Routine& routine, DryState& s);
  void loop(const Node& node, const Loop& l, const Routine& routine, DryState& s);
  void count(const Node& node, const Count& c, const Routine& routine, DryState& s);
  template <class Once>
  DryState repeat(DryState& s, const Once& once);
  void invoke(const Node& node, const Invoke& call, const Routine& routine, DryState& s);
  void meet(const Routine& called, const Outputs& arguments);
  Outputs analyse(const Routine& routine, Outputs arguments, bool certain);
  Assumed converted(const Assumed& a, Kind declared);
  DryState enter(const Routine& routine, const Outputs& arguments, bool certain);
  Outputs leave(const Routine& routine, const DryState& s);

  void print(const std::string& text);
  void heading(const std::string& text, const Span& span, const std::string& after);
  template <class F>
  void indented(const F& f) {
    ++indent_;
    f();
    --indent_;
  }

  Executable& program_;
  Context& context_;
  const DryRunOptions& options_;
  ProgramPlanner planner_;
  bool summary_ = false;
  int quiet_ = 1;   // above 0 nothing is printed: the first pass finds what functions are called with
  int hidden_ = 0;  // above 0: within scalar code, whose functions have no plans
  int indent_ = 0, loops_ = 0;
  std::vector<const Routine*> order_;      // functions that are not inlined, as they are met
  std::map<const Routine*, Outputs> met_;  // with what arguments, all calls together
  std::map<std::pair<const Routine*, std::string>, Outputs> results_;
  std::map<const Routine*, size_t> variants_;
  std::set<const Routine*> active_;
  size_t plans_ = 0, instructions_ = 0;
  Bytes most_;
  std::string most_place_;
};

}  // namespace hopline
