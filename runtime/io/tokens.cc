#include "runtime/io/tokens.h"

namespace hopline {

bool LineReader::next(std::string& line, size_t most) {
  line.clear();
  constexpr size_t kStep = 256;
  for (int64_t at = offset_;; at += kStep) {
    char bytes[kStep];
    const size_t n = read_text(job_, part_, at, bytes);
    const size_t end = std::string_view(bytes, n).find('\n');
    if (end != std::string_view::npos || n < kStep) {
      line.append(bytes, end != std::string_view::npos ? end : n);
      if (line.empty() && n == 0) return false;
      offset_ = at + static_cast<int64_t>(end != std::string_view::npos ? end + 1 : n);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return true;
    }
    line.append(bytes, n);
    if (line.size() > most) job_.fail("bad file: a line of the header is too long ({})", place(job_, part_, offset_));
  }
}

}  // namespace hopline
