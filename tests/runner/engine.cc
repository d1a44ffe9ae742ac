#include "tests/runner/engine.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "api/engine.h"
#include "frontend/config/settings.h"

namespace hopline::tests {

namespace {

// As the command does: k=v is a named argument, other words are $1, $2, ...
std::map<std::string, std::string> script_arguments(const std::vector<std::string>& words) {
  std::map<std::string, std::string> out;
  int position = 0;
  for (const std::string& w : words) {
    if (w == "-nvargs" || w == "-args") continue;
    const size_t equal = w.find('=');
    if (equal == std::string::npos)
      out[std::to_string(++position)] = w;
    else
      out[w.substr(0, equal)] = w.substr(equal + 1);
  }
  return out;
}

// Cancels a run that takes longer than its limit.
class Watch {
 public:
  Watch(Engine& engine, int limit) {
    if (limit > 0) thread_ = std::thread([this, &engine, limit] { wait(engine, limit); });
  }
  ~Watch() { stop(); }
  bool stop() {
    if (!thread_.joinable()) return ran_out_;
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
    return ran_out_;
  }

 private:
  void wait(Engine& engine, int limit) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::milliseconds(limit), [this] { return over_; })) return;
    ran_out_ = true;
    engine.cancel();
  }
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false, ran_out_ = false;
};

}  // namespace

RunResult run_script(const RunRequest& request) {
  RunResult out;
  Settings settings;
  std::vector<KeyValue> pairs;
  for (const auto& [key, value] : request.config) pairs.push_back({key, value});
  try {
    settings.apply({"test", false}, pairs);
  } catch (const Error& error) {
    out.rendered = error.what();
    out.errors.push_back({"", 0, 0, error.what()});
    out.status = static_cast<int>(error.kind());
    return out;
  }
  Engine engine(settings.config());
  RunOptions options;
  options.arguments = script_arguments(request.arguments);
  options.print = [&](std::string_view text) { out.output += text; };
  options.seed = 1;
  options.dry_run = request.dry_run;
  if (request.explain) {
    options.explain = [&](const std::string& text) { out.plan += text; };
    options.explain_levels.rules = options.explain_levels.instructions = true;
  }
  Watch watch(engine, request.limit);
  const RunStatus status = engine.run(request.path, request.text, options);
  out.timed_out = watch.stop();
  out.status = status.status;
  out.rendered = status.text;
  for (const Diagnostic& d : status.errors) {
    const Position at = status.files->position(d.span);
    out.errors.push_back({std::string(at.file), at.line, at.column, d.message});
  }
  return out;
}

}  // namespace hopline::tests
