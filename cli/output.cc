#include "cli/output.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "runtime/base/error.h"
#include "runtime/base/unicode.h"

namespace hopline {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

// Returns 0 or the error number.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

Output::Output() : by_line_(::isatty(STDOUT_FILENO) != 0) {}

void Output::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes || (by_line_ && text.find('\n') != std::string_view::npos)) flush_locked();
}

void Output::note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  flush_locked();
  clear_progress();
  write_all(STDERR_FILENO, text);  // nowhere to report a failure
}

void Output::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void Output::progress(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (line.empty()) return clear_progress();
  winsize window = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  const size_t bytes = prefix_bytes(line, known ? window.ws_col - 1u : 79);
  shows_progress_ = true;
  write_all(STDERR_FILENO, "\r" + std::string(line.substr(0, bytes)) + "\033[K");
}

void Output::clear_progress() {
  if (shows_progress_) write_all(STDERR_FILENO, "\r\033[K");
  shows_progress_ = false;
}

void Output::last_words(std::string_view text) {
  const auto ready = [](int file) {
    pollfd wanted{file, POLLOUT, 0};
    return ::poll(&wanted, 1, 0) == 1 && (wanted.revents & POLLOUT) != 0;
  };
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && ready(STDOUT_FILENO)) write_all(STDOUT_FILENO, buffer_);
  if (!ready(STDERR_FILENO)) return;
  clear_progress();
  write_all(STDERR_FILENO, text);
}

void Output::flush_locked() {
  if (buffer_.empty()) return;
  if (by_line_) clear_progress();
  const int error = write_all(STDOUT_FILENO, buffer_);
  buffer_.clear();
  if (error == EPIPE) throw ClosedPipe();
  if (error != 0) fail(ErrorKind::io, {}, "cannot write to standard output: {}", std::strerror(error));
}

}  // namespace hopline
