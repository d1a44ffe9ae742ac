// Ctrl-C and closed pipes.
#pragma once
#include <chrono>
#include <cstdint>

namespace hopline {

class Engine;

// From now on SIGINT and SIGTERM cancel the engine that runs; a second one, or one while none runs, ends the process at
// once with status 130. Writing to a closed pipe is an error instead of a signal.
void catch_signals();

// Says which engine the signals cancel while this lives.
class Interruptible {
 public:
  explicit Interruptible(Engine& engine);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

// One thread may wait for signals between begin_watch() and end_watch().
enum class Woken : uint8_t { signal, done, timeout };
void begin_watch();
void end_watch();
// A negative time: without limit.
Woken wait_for_signal(std::chrono::milliseconds most);

}  // namespace hopline
