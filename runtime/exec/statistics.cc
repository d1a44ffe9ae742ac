#include "runtime/exec/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/base/source_files.h"
#include "runtime/ops/cost.h"

namespace hopline {

namespace {

std::string exact_bytes(int64_t bytes) {
  const std::string text = bytes_text(static_cast<double>(bytes));
  return bytes < 1024 ? text : fmt::format("{} ({} bytes)", text, bytes);
}

std::string rate(double amount, double seconds) {
  return amount <= 0 || seconds <= 0 ? "-" : fmt::format("{:.2f}", amount / seconds * 1e-9);
}

std::string place_text(const SourceFiles* files, const Span& span) {
  const Position at = files == nullptr ? Position{} : files->position(span);
  if (at.line == 0) return "-";
  return fmt::format("{}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1024) return fmt::format("{:.0f} bytes", bytes);
  size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

void Statistics::executed(const Executed& done) {
  Sum& sum = tables_.mine().sums[{&done.op, done.span.file, done.span.begin}];
  ++sum.count;
  sum.nanoseconds += done.end - done.begin;
  const Cost cost = cost_of(done.op, done.in, done.out, done.values, done.names);
  sum.flops += cost.flops;
  sum.bytes += cost.bytes_read + cost.bytes_written;
}

void Statistics::scalar_code(const Span& span, int64_t begin, int64_t end) {
  Sum& sum = tables_.mine().sums[{nullptr, span.file, span.begin}];
  ++sum.count;
  sum.nanoseconds += end - begin;
}

void Statistics::planned(const Plan& plan, const Span& /*span*/, int64_t begin, int64_t end) {
  planning_ += end - begin;
  if (plan.num_nodes == 0) return;  // it only says that control flow stands there
  ++plans_;
  if (plan.generic) ++generic_;
}

void Statistics::reused(const Plan& plan) {
  if (plan.num_nodes > 0) ++tables_.mine().reused;
}

std::vector<Heavy> Statistics::heaviest() const {
  std::map<std::pair<std::string, std::string>, Heavy> lines;
  tables_.for_each([&](const Table& table) {
    for (const auto& [key, sum] : table.sums) {
      const std::string name(key.op == nullptr ? "scalar code" : key.op->name);
      const std::string place = place_text(files_.get(), {key.file, key.begin, 0, nullptr});
      Heavy& line = lines[{name, place}];
      line.name = name, line.place = place;
      line.count += sum.count;
      line.seconds += static_cast<double>(sum.nanoseconds) * 1e-9;
      line.flops += sum.flops, line.bytes += sum.bytes;
    }
  });
  std::vector<Heavy> out;
  out.reserve(lines.size());
  for (auto& [_, line] : lines) out.push_back(std::move(line));
  std::stable_sort(out.begin(), out.end(), [](const Heavy& a, const Heavy& b) { return a.seconds > b.seconds; });
  return out;
}

// Labels of SystemDS where it has them: people have scripts that read these lines.
std::string Statistics::text(const RunTotals& totals, size_t rows, int width) const {
  int64_t reused = 0;
  tables_.for_each([&](const Table& t) { reused += t.reused; });
  const double compile = static_cast<double>(checking_ + planning_) * 1e-9;
  std::string out = "Hopline Statistics:\n";
  out += fmt::format("Total elapsed time:\t\t{:.3f} sec.\n", totals.seconds);
  out += fmt::format("Total compilation time:\t\t{:.3f} sec.\n", compile);
  out += fmt::format("Total execution time:\t\t{:.3f} sec.\n", std::max(0.0, totals.seconds - compile));
  out += fmt::format("Planning time:\t\t\t{:.3f} sec.\n", static_cast<double>(planning_) * 1e-9);
  out += fmt::format("Plans made/reused/generic:\t{}/{}/{}.\n", plans_.load(), reused, generic_.load());
  out += fmt::format("Peak memory:\t\t\t{}.\n", exact_bytes(totals.peak_memory));
  out += fmt::format("Read from files:\t\t{}.\n", exact_bytes(totals.bytes_read));
  out += fmt::format("Written to files:\t\t{}.\n", exact_bytes(totals.bytes_written));
  out += fmt::format("Threads:\t\t\t{}.\n", totals.threads);
  const std::vector<Heavy> all = heaviest();
  if (rows == 0 || all.empty()) return out;
  double whole = 0;
  size_t names = 11, places = 4;
  for (const Heavy& h : all) whole += h.seconds;
  const std::span<const Heavy> shown(all.data(), std::min(rows, all.size()));
  const size_t widest = static_cast<size_t>(std::max(width, 1));
  for (const Heavy& h : shown)
    names = std::max(names, std::min(widest, h.name.size())), places = std::max(places, h.place.size());
  out += fmt::format("Heavy hitter instructions:\n {:>3}  {:<{}}  {:<{}}  {:>9}  {:>6}  {:>9}  {:>8}  {:>8}\n", "#",
                     "Instruction", names, "Line", places, "Time(s)", "Share", "Count", "GFLOP/s", "GB/s");
  size_t number = 0;
  for (const Heavy& h : shown) {
    const double share = whole > 0 ? 100 * h.seconds / whole : 0;
    out += fmt::format(" {:>3}  {:<{}}  {:<{}}  {:>9.3f}  {:>5.1f}%  {:>9}  {:>8}  {:>8}\n", ++number,
                       h.name.substr(0, widest), names, h.place, places, h.seconds, share, h.count,
                       rate(h.flops, h.seconds), rate(h.bytes, h.seconds));
    for (size_t at = widest; at < h.name.size(); at += widest)
      out += fmt::format("      {}\n", h.name.substr(at, widest));
  }
  return out;
}

}  // namespace hopline
