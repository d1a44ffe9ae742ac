#include "runtime/base/error.h"

#include <algorithm>

#include "runtime/base/source_files.h"

namespace hopline {

Error::Error(ErrorKind kind, Span span, std::string message) : kind_(kind), diagnostics_{{span, std::move(message)}} {}

Error::Error(ErrorKind kind, std::vector<Diagnostic> diagnostics) : kind_(kind), diagnostics_(std::move(diagnostics)) {
  if (diagnostics_.empty()) diagnostics_.push_back({{}, "unknown error"});
}

void Error::locate(const Span& span) {
  if (diagnostics_.front().span.file == 0) diagnostics_.front().span = span;
}

void Error::prefix(std::string_view text) { diagnostics_.front().message.insert(0, text); }

void throw_error(ErrorKind kind, const Span& span, std::string message) { throw Error(kind, span, std::move(message)); }

void check_failed(const char* condition, const char* file, int line) {
  throw Error(ErrorKind::internal, {}, fmt::format("internal error: {} does not hold ({}:{})", condition, file, line));
}

namespace {

constexpr int kShownCalls = 8;  // of a longer chain of calls the innermost ones are shown

size_t characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

void append_carets(std::string& out, const Position& at, size_t length) {
  constexpr size_t kWidest = 400;  // a longer source line is left out, its position is enough
  if (at.text.empty() || at.text.size() > kWidest) return;
  out += fmt::format("  {}\n  ", at.text);
  uint32_t column = 1;
  for (unsigned char c : at.text) {
    if (column >= at.column) break;
    if ((c & 0xC0) == 0x80) continue;
    out += c == '\t' ? '\t' : ' ';
    ++column;
  }
  const size_t total = characters(at.text);
  const size_t left = total + 1 > at.column ? total + 1 - at.column : 1;
  out.append(std::clamp<size_t>(length, 1, std::max<size_t>(left, 1)), '^');
  out += '\n';
}

}  // namespace

std::string render(const Error& error, const SourceFiles& files) {
  std::string out;
  for (const Diagnostic& d : error.diagnostics()) {
    const Position at = files.position(d.span);
    const char* word = d.warning ? "warning" : "error";
    if (at.line == 0) {
      out += fmt::format("hopline: {}: {}\n", word, d.message);
      continue;
    }
    out += fmt::format("{}:{}:{}: {}: {}\n", at.file, at.line, at.column, word, d.message);
    const std::string_view text = files.text(d.span.file);
    append_carets(out, at, characters(text.substr(std::min<size_t>(d.span.begin, text.size()), d.span.length)));
    int shown = 0;
    for (const CallSite* call = d.span.via; call != nullptr && shown < kShownCalls; call = call->at.via, ++shown) {
      const Position from = files.position(call->at);
      out += fmt::format("  in {}, called at {}:{}:{}\n", call->function, from.file, from.line, from.column);
    }
  }
  return out;
}

}  // namespace hopline
