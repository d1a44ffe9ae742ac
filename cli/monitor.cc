#include "cli/monitor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "cli/interrupt.h"
#include "runtime/base/error.h"

namespace hopline {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBeat{500}, kPatience{150};
constexpr double kQuiet = 1;  // seconds before the first progress line

bool on_terminal() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

std::string elapsed_text(double seconds) {
  const auto s = static_cast<int64_t>(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02} min", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60);
}

Monitor::Monitor(const Engine& engine, Output& output, std::function<void()> last)
    : engine_(engine), output_(output), last_(std::move(last)) {
  begin_watch();
  thread_ = std::thread([this] { watch(); });
}

Monitor::~Monitor() {
  end_watch();
  thread_.join();
  output_.progress("");
}

void Monitor::watch() {
  const Clock::time_point begin = Clock::now();
  const bool progress = on_terminal();
  for (;;) {
    switch (wait_for_signal(progress ? kBeat : std::chrono::milliseconds(-1))) {
      case Woken::done:
        return;
      case Woken::signal:
        if (wait_for_signal(kPatience) == Woken::done) return;
        end_process();
      case Woken::timeout:
        break;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (progress && seconds >= kQuiet) show_progress(seconds);
  }
}

void Monitor::show_progress(double seconds) {
  const std::optional<Activity> now = engine_.activity();
  if (now) output_.progress(fmt::format("{}: {}", elapsed_text(seconds), now->text()));
}

void Monitor::end_process() {
  const std::optional<Activity> now = engine_.activity();
  last_();
  output_.last_words(fmt::format("hopline: error: the run was stopped{}\n", now ? " in " + now->text() : ""));
  ::_exit(static_cast<int>(ErrorKind::interrupted));
}

}  // namespace hopline
