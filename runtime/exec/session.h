// One run of a program: where its output goes, which files it may touch, when it must stop.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/ops/call.h"

namespace hopline {

// What a run does now: written by its thread, read by whoever watches it. A name and a place that do not belong
// together may be seen for a moment.
struct RunningNow {
  std::atomic<const std::string_view*> what{nullptr};  // name of an operator, or one of the words below
  std::atomic<const Span*> place{nullptr};             // lives as long as the program
  std::atomic<const Span*> loop{nullptr};              // the outermost loop that runs; null: none
  std::atomic<int64_t> iteration{0}, iterations{-1};   // of that loop; -1: their number is not known
  void set(const std::string_view& name, const Span& span) {
    what.store(&name, std::memory_order_relaxed);
    place.store(&span, std::memory_order_relaxed);
  }
};
inline constexpr std::string_view kPlanning = "planning", kScalarCode = "scalar code", kParfor = "parfor";

class Session {
 public:
  virtual ~Session() = default;
  // What the script prints: one or more whole lines. Thread-safe; a parfor task keeps its lines until its turn.
  virtual void print(std::string_view text) = 0;
  // Throws Error{interrupted} when the run was cancelled or its deadline passed. Kernels of long work call it between
  // blocks; cheap.
  void poll(const Span& span) const {
    if (stop_->load(std::memory_order_relaxed) != 0) stopped(span);
  }
  void cancel() { *stop_ = 1; }
  // Key of an unseeded draw made at `span`: of the engine seed, the program point and the iteration path.
  virtual uint64_t draw_key(const Span& span) = 0;
  virtual uint64_t seed() const = 0;
  RunningNow now;
  uint64_t path = 0;  // iteration path of the plan that runs now, set by the executor
  // A session for one task of a parfor: keeps its lines until flush_task() hands them to this one. Stops with this one.
  virtual std::unique_ptr<Session> task() = 0;
  virtual void flush_task() {}

  std::atomic<int64_t> bytes_read{0}, bytes_written{0};  // of data files; a task's are added by flush_task()

 protected:
  [[noreturn]] void stopped(const Span& span) const;
  std::shared_ptr<std::atomic<int>> stop_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace hopline
