// Two worlds that never mix: fail() is for the author of a script, HOPLINE_CHECK for us.
#pragma once
#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/span.h"

namespace hopline {

class SourceFiles;

// The exit status of the command is the value.
enum class ErrorKind : uint8_t { script = 1, usage = 2, io = 3, resource = 4, internal = 70, interrupted = 130 };

struct Diagnostic {
  Span span;
  std::string message;  // one line; fixed text first, values last; "expected ..., found ..."
  bool warning = false;
};

// One or more located messages. Carries what an embedding program needs as fields.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, Span span, std::string message);
  Error(ErrorKind kind, std::vector<Diagnostic> diagnostics);
  ErrorKind kind() const { return kind_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return diagnostics_.front().message.c_str(); }
  // Gives the first message a place, where the thrower knew none.
  void locate(const Span& span);
  void prefix(std::string_view text);  // put in front of the first message: "iteration 7: "

 private:
  ErrorKind kind_;
  std::vector<Diagnostic> diagnostics_;
};

// "file:line:col: error: message", the source line, a caret line, then one "called from" line per call site.
std::string render(const Error& error, const SourceFiles& files);

[[noreturn]] void throw_error(ErrorKind kind, const Span& span, std::string message);

template <class... Args>
[[noreturn]] void fail(const Span& span, fmt::format_string<Args...> text, Args&&... args) {
  throw_error(ErrorKind::script, span, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, const Span& span, fmt::format_string<Args...> text, Args&&... args) {
  throw_error(kind, span, fmt::format(text, std::forward<Args>(args)...));
}

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

// Our own mistake, never the user's: throws Error{internal}.
#define HOPLINE_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::hopline::check_failed(#condition, __FILE__, __LINE__))

}  // namespace hopline
