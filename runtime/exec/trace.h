// Chrome trace events of a run: checking, planning and every instruction. chrome://tracing and Perfetto show them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/exec/observer.h"
#include "runtime/exec/per_thread.h"
#include "runtime/exec/statistics.h"

namespace hopline {

// Events go to a temporary file in the target's folder, which finish() renames. Without it the file is removed.
class Trace : public Observer {
 public:
  explicit Trace(std::string path);  // throws Error{io} when it cannot be written
  ~Trace() override;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void start(std::shared_ptr<const SourceFiles> files) override { files_ = std::move(files); }
  void checked(int64_t begin, int64_t end) override;
  void executed(const Executed& done) override;
  void scalar_code(const Span& span, int64_t begin, int64_t end) override;
  void planned(const Plan& plan, const Span& span, int64_t begin, int64_t end) override;
  void reused(const Plan&) override {}

  // After the run. Throws Error{io} when something could not be written.
  void finish(const RunTotals& totals);
  // Removes the temporary file; for a process that ends at once.
  void abandon();

 private:
  struct Lane {
    int number = 0;  // thread id of the events
    std::string text;
  };
  Lane& lane();
  void event(std::string_view name, const char* category, int64_t begin, int64_t end, const Span& span,
             const std::string& details);
  void write(std::string_view text);

  std::string path_, temporary_;
  int file_ = -1;
  int64_t zero_;  // time of the first event's origin
  std::shared_ptr<const SourceFiles> files_;
  PerThread<Lane> lanes_;
  std::atomic<int> num_lanes_{0};
  std::mutex mutex_;
  int error_ = 0;  // of the first write that failed
};

}  // namespace hopline
