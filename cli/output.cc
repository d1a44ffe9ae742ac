#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/error.h"

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
  write_all(STDERR_FILENO, text);  // nowhere to report a failure
}

void Output::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void Output::flush_locked() {
  const int error = write_all(STDOUT_FILENO, buffer_);
  buffer_.clear();
  if (error == EPIPE) throw ClosedPipe();
  if (error != 0) fail(ErrorKind::io, {}, "cannot write to standard output: {}", std::strerror(error));
}

}  // namespace hopline
