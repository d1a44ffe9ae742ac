// What watches a run: statistics, traces. Called from every executing thread.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/exec/plan.h"

namespace hopline {

class SourceFiles;
struct Call;

// One executed instruction. Times are nanoseconds of a steady clock.
struct Executed {
  const Op& op;
  const Kernel* kernel;
  const Span& span;
  std::span<const Meta> in, out;
  std::span<const Value> values;  // of scalar inputs; monostate for the others
  std::span<const std::string> names;
  int64_t begin, end;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Before anything else: what spans point into.
  virtual void start(std::shared_ptr<const SourceFiles> /*files*/) {}
  // The script was parsed and checked.
  virtual void checked(int64_t /*begin*/, int64_t /*end*/) {}
  virtual void executed(const Executed& done) = 0;
  // A loop, branch or call at `span` ran as a register program.
  virtual void scalar_code(const Span& span, int64_t begin, int64_t end) = 0;
  virtual void planned(const Plan& plan, const Span& span, int64_t begin, int64_t end) = 0;
  virtual void reused(const Plan& plan) = 0;
};

// Hands everything to each of several.
class Observers : public Observer {
 public:
  void add(Observer* one) { all_.push_back(one); }
  bool empty() const { return all_.empty(); }
  void start(std::shared_ptr<const SourceFiles> files) override;
  void checked(int64_t begin, int64_t end) override;
  void executed(const Executed& done) override;
  void scalar_code(const Span& span, int64_t begin, int64_t end) override;
  void planned(const Plan& plan, const Span& span, int64_t begin, int64_t end) override;
  void reused(const Plan& plan) override;

 private:
  std::vector<Observer*> all_;
};

// Nanoseconds of the clock that observers see.
int64_t observer_clock();

// Runs the call's kernel and tells the observer.
void run_observed(Call& call, Observer& observer);

}  // namespace hopline
