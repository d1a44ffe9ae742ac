// Ctrl-C and closed pipes.
#pragma once

namespace hopline {

class Engine;

// From now on SIGINT and SIGTERM cancel the engine that runs; a second one ends the process at once with status 130.
// Writing to a closed pipe is an error instead of a signal.
void catch_signals();

// Says which engine the signals cancel while this lives. A signal that came earlier cancels it at once.
class Interruptible {
 public:
  explicit Interruptible(Engine& engine);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

}  // namespace hopline
