// The table of rewrites: pattern -> replacement, both in DML.
#pragma once
#include <map>
#include <span>
#include <string_view>

#include "planner/hop/hop.h"

namespace hopline {

// What the names of a pattern stand for.
class Match {
 public:
  const Hop* operator[](std::string_view name) const {
    const auto found = hops_.find(name);
    return found == hops_.end() ? nullptr : found->second;
  }
  int64_t rows(std::string_view name) const { return (*this)[name]->meta.rows; }
  int64_t cols(std::string_view name) const { return (*this)[name]->meta.cols; }
  bool bind(std::string_view name, const Hop* hop) { return hops_.emplace(name, hop).first->second == hop; }

 private:
  std::map<std::string_view, const Hop*> hops_;
};

// How much a rule may change a result.
enum class Exactness : uint8_t {
  exact,          // the same bits
  reassociating,  // another order of summation or rounding; never NaN or Inf where there was none
};

struct Rule {
  std::string_view name;
  std::string_view pattern;  // upper case: a matrix, lower case: a scalar; one name twice is the same hop
  std::string_view replacement;
  Exactness exactness = Exactness::exact;
  bool (*guard)(const Match&) = nullptr;  // sizes may be unknown (-1)
};

std::span<const Rule> rules();

}  // namespace hopline
