// High-level operators: one immutable, hash-consed node type. Equal expressions are one object, so common
// subexpressions are free and equality is a pointer comparison.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/data/value.h"
#include "runtime/ops/op.h"

namespace hopline {

struct Hop {
  const Op* op = nullptr;
  std::span<const Hop* const> in;
  std::vector<std::string> names;  // of variadic arguments
  Value literal;                   // of ops::literal; scalars only
  int64_t index = -1;  // input: slot of the variable; get: number of the output; effects and draws: serial number
  int64_t entry = -1;  // input: position of the entry of a list variable that is read, or -1: the variable itself
  Meta meta;           // of the first output; of a several-output hop its get() hops carry the rest
  std::vector<Meta> outputs;  // several-output hops only
  Span span;                  // not part of identity
  uint32_t id = 0;            // position in the Dag: inputs have smaller ids

  bool is(const Op& other) const { return op == &other; }
};

// Rows that only the planner makes (runtime/ops/structural.cc holds them).
namespace hops {
const Op& literal();  // a scalar constant
const Op& input();    // a variable live at the region's begin
const Op& get();      // one output of a several-output operator
const Op& fail();     // raises a planning error at its place in program order; names[0] is the message
bool is_literal(const Hop& hop);
bool is_literal(const Hop& hop, double value);
}  // namespace hops

// Owns hops; the only maker of them.
class Dag {
 public:
  Dag();
  // A hop of a literal. Numbers are told apart by kind and bits (0.0, -0.0 and each NaN are different).
  const Hop* literal(Value value, const Span& span);
  // A variable, or one entry of a list variable, that lives when the region begins.
  const Hop* input(int32_t slot, int64_t entry, const Meta& meta, const Span& span);
  const Hop* get(const Hop* node, int64_t output, const Span& span);
  // The node with these fields, an existing one where there is one. Meta must come from infer: Builder does that.
  const Hop* make(Hop fields, std::vector<const Hop*> in);
  size_t size() const { return hops_.size(); }
  const Hop& operator[](size_t id) const { return hops_[id]; }

 private:
  struct Hash {
    size_t operator()(const Hop* h) const;
  };
  struct Equal {
    bool operator()(const Hop* a, const Hop* b) const;
  };
  std::deque<Hop> hops_;
  std::deque<std::vector<const Hop*>> inputs_;
  std::unordered_set<const Hop*, Hash, Equal> unique_;
};

}  // namespace hopline
