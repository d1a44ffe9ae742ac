#pragma once

namespace hopline {

// What is printed of each plan; design 3 says what each level is.
struct ExplainLevels {
  bool hops = false, rules = false, lops = false, instructions = false, memory = false;
};

}  // namespace hopline
