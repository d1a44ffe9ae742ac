// Random programs in all variants.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace hopline::tests {

struct RandomOptions {
  double seconds = 60;
  uint64_t seed = 0;              // 0: another one each time, printed
  std::optional<int64_t> number;  // only this program of the seed, printed as well
  std::string folder = ".";       // where a script goes that runs differently in two variants
  std::string script;             // shrink this file instead of writing programs
  int jobs = 1;
  bool verbose = false;  // print the errors of the programs that end in one
};

// Writes programs and runs each in all variants until the time is over or ten have failed; prints what it finds.
// Returns the exit status.
int run_random(const RandomOptions& options);

}  // namespace hopline::tests
