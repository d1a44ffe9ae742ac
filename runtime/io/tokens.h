// Blank-separated tokens of a line. The text is followed by kPadding bytes and every line ends with '\n'.
#pragma once
#include <cstdint>
#include <string_view>

#include "runtime/io/number.h"
#include "runtime/io/text.h"

namespace hopline {

inline bool is_gap(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline const char* skip_gaps(const char* p) {
  while (is_gap(*p)) ++p;
  return p;
}

// The token at p, for messages and names: up to the next gap or line end.
inline std::string_view token_at(const char* p) {
  const char* end = p;
  while (*end != '\n' && !is_gap(*end)) ++end;
  return {p, static_cast<size_t>(end - p)};
}

// A whole number of at least 0; returns its end, or null when there is none or it exceeds 63 bits.
inline const char* parse_index(const char* p, int64_t& out) {
  uint64_t value = 0;
  const char* const stop = number::digits(p, value);
  if (stop == p || stop - p > 18) return nullptr;
  out = static_cast<int64_t>(value);
  return stop;
}

// A number that ends at a gap, a line end or `also`; returns its end or null.
inline const char* parse_token_number(const char* p, const char* end, double& out, char also = '\n') {
  const char* stop = parse_plain_number(p, out);
  if (stop == nullptr) stop = parse_any_number(p, end, out);
  return stop != nullptr && (is_gap(*stop) || *stop == '\n' || *stop == also) ? stop : nullptr;
}

// The lines of a part from its `begin` on, one by one, for headers. A line longer than `most` bytes is an Error{io}.
class LineReader {
 public:
  LineReader(const FileJob& job, const TextPart& part) : job_(job), part_(part), offset_(part.begin) {}
  // Without its end; false at the end of the part.
  bool next(std::string& line, size_t most = 1 << 16);
  int64_t offset() const { return offset_; }  // of the line that comes next

 private:
  const FileJob& job_;
  const TextPart& part_;
  int64_t offset_;
};

}  // namespace hopline
