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
  // A line on the terminal of standard error in place of the one before; the next text removes it. "": none.
  void progress(std::string_view line);
  // For a process that ends at once: never waits for another thread or a reader.
  void last_words(std::string_view text);

 private:
  void flush_locked();
  void clear_progress();
  std::mutex mutex_;
  std::string buffer_;
  bool by_line_;
  bool shows_progress_ = false;
};

}  // namespace hopline
