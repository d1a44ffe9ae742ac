// Standard output and standard error of the command.
#pragma once
#include <mutex>
#include <string>
#include <string_view>

namespace hopline {

// Nobody reads standard output any more.
struct ClosedPipe {};

// Standard output holds what the script prints and nothing else: buffered, by line on a terminal, flushed before
// anything goes to standard error. Thread-safe. Throws ClosedPipe, or Error{io} when the text cannot be written.
class Output {
 public:
  Output();
  void print(std::string_view text);
  void note(std::string_view text);  // to standard error: errors, plans, statistics, progress
  void flush();

 private:
  void flush_locked();
  std::mutex mutex_;
  std::string buffer_;
  bool by_line_;
};

}  // namespace hopline
