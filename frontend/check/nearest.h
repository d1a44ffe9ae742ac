// The name that was probably meant by a misspelt one.
#pragma once
#include <string>
#include <string_view>

namespace hopline {

// Keeps the candidate with the fewest edits (insertions, deletions, changes, swaps of neighbours; letter case counts
// half) from the name; the first of equals. Nothing farther than a third of the name's length is kept.
class Nearest {
 public:
  explicit Nearest(std::string_view name);
  void offer(std::string_view candidate);
  std::string_view found() const { return found_; }  // empty when nothing is near
  std::string hint() const;                          // "; did you mean 'x'?", or empty

 private:
  std::string name_, found_;
  int best_;  // in half edits
};

}  // namespace hopline
