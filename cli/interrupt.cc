#include "cli/interrupt.h"

#include <semaphore.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "api/engine.h"

namespace hopline {
namespace {

std::atomic<Engine*> running{nullptr};
std::atomic<int> signals{0};
std::atomic<bool> done{false};
sem_t woken;

// Half a second after the first signal, whatever hangs then: a full pipe that nobody reads, a device.
void set_last_resort() {
  itimerval time = {};
  time.it_value.tv_usec = 500000;
  setitimer(ITIMER_REAL, &time, nullptr);
}

void end_now(int) { ::_exit(static_cast<int>(ErrorKind::interrupted)); }

void on_signal(int) {
  const int error = errno;
  Engine* const engine = running.load();
  if (signals.fetch_add(1) > 0 || engine == nullptr) end_now(0);
  engine->cancel();
  sem_post(&woken);
  set_last_resort();
  errno = error;
}

}  // namespace

void catch_signals() {
  sem_init(&woken, 0, 0);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = end_now;
  sigaction(SIGALRM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

Interruptible::Interruptible(Engine& engine) { running = &engine; }
Interruptible::~Interruptible() { running = nullptr; }

void begin_watch() { done = false; }

void end_watch() {
  done = true;
  sem_post(&woken);
}

Woken wait_for_signal(std::chrono::milliseconds most) {
  timespec until = {};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += most.count() / 1000;
  until.tv_nsec += most.count() % 1000 * 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
  for (;;) {
    const int result = most.count() < 0 ? sem_wait(&woken) : sem_clockwait(&woken, CLOCK_MONOTONIC, &until);
    if (done) return Woken::done;
    if (result == 0) return Woken::signal;
    if (errno == ETIMEDOUT) return Woken::timeout;
  }
}

}  // namespace hopline
