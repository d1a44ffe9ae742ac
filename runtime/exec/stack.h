// Registers and argument lists of running plans: a stack of values that is reused, so that running a plan allocates
// nothing.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/data/value.h"

namespace hopline {

class ValueStack {
 public:
  // n values, all monostate, until the mark is released. Addresses stay valid.
  Value* take(size_t n);
  void release(Value* first, size_t n);

 private:
  struct Chunk {
    std::unique_ptr<Value[]> values;
    size_t size = 0, used = 0;
  };
  std::vector<Chunk> chunks_;
  size_t top_ = 0;
};

inline Value* ValueStack::take(size_t n) {
  constexpr size_t kSmallest = 512;
  while (top_ < chunks_.size() && chunks_[top_].size - chunks_[top_].used < n) {
    if (top_ + 1 == chunks_.size()) break;
    ++top_;
  }
  if (chunks_.empty() || chunks_[top_].size - chunks_[top_].used < n) {
    const size_t size = n < kSmallest ? kSmallest : n;
    chunks_.push_back({std::make_unique<Value[]>(size), size, 0});
    top_ = chunks_.size() - 1;
  }
  Chunk& c = chunks_[top_];
  Value* first = c.values.get() + c.used;
  c.used += n;
  return first;
}

inline void ValueStack::release(Value* first, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (first[i].index() != 0) first[i] = Value();
  chunks_[top_].used -= n;
  while (top_ > 0 && chunks_[top_].used == 0) --top_;
}

}  // namespace hopline
