#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "api/engine.h"

namespace hopline {
namespace {

std::atomic<Engine*> running{nullptr};
std::atomic<int> signals{0};

void on_signal(int) {
  if (signals.fetch_add(1) > 0) ::_exit(static_cast<int>(ErrorKind::interrupted));
  if (Engine* const engine = running.load()) engine->cancel();
}

}  // namespace

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

Interruptible::Interruptible(Engine& engine) {
  running = &engine;
  if (signals > 0) engine.cancel();
}

Interruptible::~Interruptible() { running = nullptr; }

}  // namespace hopline
