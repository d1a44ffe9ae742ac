// Values as text: what print, toString and string concatenation show.
#pragma once
#include <cstdint>
#include <string>

#include "runtime/base/span.h"
#include "runtime/data/value.h"

namespace hopline {

// The printed form of a scalar: "3", "3.0", "TRUE", a string itself.
std::string scalar_text(const Value& value);
void append_scalar(std::string& out, const Value& value);

// The window and the separators of toString; -1 rows or columns: all of them.
struct TextOptions {
  int64_t rows = 100, cols = 100;
  int64_t decimals = 3;
  bool sparse = false;
  std::string separator = " ", line_separator = "\n";
};

// The text of any value: a matrix row by row, a list as "List containing:\n[...]". Fails at `span` when the text
// becomes longer than 2^31 - 1 bytes.
void append_text(std::string& out, const Value& value, const TextOptions& options, const Span& span);

}  // namespace hopline
