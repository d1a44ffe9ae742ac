// Watches the engine while it runs: the progress line on a terminal, and an end in time after Ctrl-C.
#pragma once
#include <functional>
#include <thread>

#include "api/engine.h"
#include "cli/output.h"

namespace hopline {

// A thread of its own that sleeps: it wakes twice a second when standard error is a terminal, and at a signal. When the
// engine has not ended soon after a signal (a library is computing, a pipe is full), it says what was running and ends
// the process.
class Monitor {
 public:
  // `last` is called before the process is ended.
  Monitor(const Engine& engine, Output& output, std::function<void()> last);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

 private:
  void watch();
  void show_progress(double seconds);
  [[noreturn]] void end_process();
  const Engine& engine_;
  Output& output_;
  std::function<void()> last_;
  std::thread thread_;
};

// "12 s", "3:07 min", "2:10:05 h"
std::string elapsed_text(double seconds);

}  // namespace hopline
