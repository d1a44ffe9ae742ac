// Makes hops with their sizes: fills in meta by the row's infer, folds constants, reads sizes that are known.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "planner/hop/hop.h"
#include "runtime/ops/call.h"

namespace hopline {

// What the planner may assume about scalars that are not literals. Asking for a value makes the plan depend on it.
class Facts {
 public:
  virtual ~Facts() = default;
  // The value that this scalar hop has in the run for which the plan is made; null when it is not known before the
  // plan runs. The pointer lives as long as the Facts.
  virtual const Value* known(const Hop* hop) = 0;
  // The size of this hop was taken from its metadata. Nothing may read the hop itself; it must fail all the same where
  // it can.
  virtual void only_size_read(const Hop* /*hop*/) {}
};

class Builder {
 public:
  // `context` runs constant folding; facts may be null: literals only.
  Builder(Dag& dag, Context& context, Facts* facts) : dag_(dag), context_(context), facts_(facts) {}

  Dag& dag() { return dag_; }
  Context& context() { return context_; }

  // The hop op(in...); inputs in the order of the row's parameters, a literal of monostate where an optional one is
  // absent. Throws the operator's error when kinds or known sizes do not fit. Effects and unseeded draws get a serial
  // number, so they never merge.
  const Hop* make(const Op& op, std::vector<const Hop*> in, const Span& span, std::vector<std::string> names = {});
  // By name, with the row's defaults for what is left out.
  const Hop* make(std::string_view name, std::vector<const Hop*> in, const Span& span);
  const Hop* literal(Value value, const Span& span) { return dag_.literal(std::move(value), span); }

  // The value of a scalar hop: a literal's, or what facts know.
  const Value* known(const Hop* hop);
  // hi - lo + 1 of two bounds, or -1.
  int64_t range_size(const Hop* lo, const Hop* hi);

 private:
  const Hop* fold(const Op& op, const std::vector<const Hop*>& in, const Span& span,
                  const std::vector<std::string>& names);
  const Hop* size(const Op& op, const Hop* in, const Span& span);
  Dag& dag_;
  Context& context_;
  Facts* facts_;
  int64_t serial_ = 0;
};

}  // namespace hopline
