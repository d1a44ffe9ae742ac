#include "runtime/exec/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "runtime/base/error.h"
#include "runtime/base/source_files.h"
#include "runtime/io/files.h"
#include "runtime/ops/cost.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string sizes(std::span<const Meta> metas) {
  std::string out;
  for (const Meta& m : metas) {
    if (m.kind == Kind::none) continue;
    out += out.empty() ? "" : ", ";
    out += m.kind == Kind::matrix ? dims(m) : std::string(name(m.kind));
  }
  return quoted(out);
}

}  // namespace

Trace::Trace(std::string path) : path_(std::move(path)), zero_(observer_clock()) {
  if (path_kind(path_) == PathKind::special) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else if (path_kind(path_) == PathKind::folder) {
    errno = EISDIR;
  } else {
    temporary_ = fmt::format("{}.{}.tmp", path_, getpid());
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (file_ < 0) fail(ErrorKind::io, {}, "cannot write the trace {}: {}", path_, system_message(errno));
  write(
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{"
      "\"name\":\"hopline\"}}");
}

Trace::~Trace() { abandon(); }

void Trace::abandon() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void Trace::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  while (!text.empty() && error_ == 0) {
    const ssize_t n = ::write(file_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      error_ = errno;
    else
      text.remove_prefix(static_cast<size_t>(n));
  }
}

Trace::Lane& Trace::lane() {
  Lane& mine = lanes_.mine();
  if (mine.number == 0) mine.number = ++num_lanes_;
  return mine;
}

void Trace::event(std::string_view name, const char* category, int64_t begin, int64_t end, const Span& span,
                  const std::string& details) {
  Lane& mine = lane();
  fmt::format_to(std::back_inserter(mine.text),
                 ",\n{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},"
                 "\"args\":{{",
                 quoted(name), category, mine.number, static_cast<double>(begin - zero_) * 1e-3,
                 static_cast<double>(end - begin) * 1e-3);
  const Position at = files_ == nullptr ? Position{} : files_->position(span);
  mine.text += fmt::format("\"file\":{},\"line\":{}{}}}}}", quoted(at.file), at.line, details);
  if (mine.text.size() < kBufferBytes) return;
  write(mine.text);
  mine.text.clear();
}

void Trace::checked(int64_t begin, int64_t end) { event("check", "planning", begin, end, {}, ""); }

void Trace::executed(const Executed& done) {
  const Cost cost = cost_of(done.op, done.in, done.out, done.values, done.names);
  event(done.op.name, "instruction", done.begin, done.end, done.span,
        fmt::format(",\"in\":{},\"out\":{},\"kernel\":{},\"flops\":{:.0f},\"bytes\":{:.0f}", sizes(done.in),
                    sizes(done.out), quoted(done.kernel == nullptr ? "" : done.kernel->name), cost.flops,
                    cost.bytes_read + cost.bytes_written));
}

void Trace::scalar_code(const Span& span, int64_t begin, int64_t end) {
  event("scalar code", "instruction", begin, end, span, "");
}

void Trace::planned(const Plan& plan, const Span& span, int64_t begin, int64_t end) {
  event(plan.num_nodes == 0 ? "plan control flow" : "plan", "planning", begin, end, span,
        fmt::format(",\"instructions\":{},\"generic\":{}", plan.code.instructions.size(), plan.generic));
}

void Trace::finish(const RunTotals& totals) {
  lanes_.for_each([this](Lane& lane) {
    if (lane.number == 0) return;
    write(lane.text);
    write(
        fmt::format(",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"args\":{{\"name\":\"thread "
                    "{0}\"}}}}",
                    lane.number));
    lane.text.clear();
  });
  write(fmt::format("\n],\"otherData\":{{\"seed\":\"{}\",\"threads\":\"{}\",\"peak memory\":\"{}\"}}}}\n", totals.seed,
                    totals.threads, totals.peak_memory));
  if (file_ >= 0 && ::close(file_) != 0 && error_ == 0) error_ = errno;
  file_ = -1;
  if (error_ == 0 && !temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) fail(ErrorKind::io, {}, "cannot write the trace {}: {}", path_, system_message(error_));
  temporary_.clear();
}

}  // namespace hopline
