#include "api/engine.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <random>

#include "frontend/check/check.h"
#include "planner/lower/planner.h"
#include "runtime/base/large_stack.h"
#include "runtime/base/parallel.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"

namespace hopline {

namespace {

// Prints straight to the caller; a task of a parfor keeps its lines for its turn.
class RunSession : public Session {
 public:
  RunSession(const RunOptions& options, uint64_t seed, std::shared_ptr<std::atomic<int>> stop)
      : options_(options), seed_(seed) {
    stop_ = std::move(stop);
  }
  RunSession(const RunSession& parent, Session* print_to)
      : options_(parent.options_), seed_(parent.seed_), parent_(print_to) {
    stop_ = parent.stop_;
  }

  void print(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (parent_ != nullptr)
      kept_ += text;
    else if (options_.print)
      options_.print(text);
  }
  uint64_t draw_key(const Span& span) override {
    uint64_t key = seed_ ^ (uint64_t{span.file} << 40 | span.begin);
    for (const CallSite* call = span.via; call != nullptr; call = call->at.via)
      key = mix(key, uint64_t{call->at.file} << 40 | call->at.begin);
    return mix(key, path);
  }
  uint64_t seed() const override { return seed_; }
  std::unique_ptr<Session> task() override { return std::make_unique<RunSession>(*this, this); }
  void flush_task() override {
    if (!kept_.empty()) parent_->print(kept_);
    kept_.clear();
  }

 private:
  static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = (a ^ b) + 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  const RunOptions& options_;
  uint64_t seed_;
  Session* parent_ = nullptr;
  std::string kept_;
  std::mutex mutex_;
};

int64_t default_limit() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return static_cast<int64_t>(0.7 * static_cast<double>(pages) * static_cast<double>(page));
}

uint64_t entropy() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

void note_warnings(const RunOptions& options, const Program& checked) {
  if (!options.warnings || !options.note) return;
  for (Diagnostic warning : checked.warnings) {
    warning.warning = true;
    options.note(render(Error(ErrorKind::script, {warning}), *checked.files));
  }
}

void run_program(const Config& config, Memory& memory, const RunOptions& options, Executable& program,
                 std::shared_ptr<std::atomic<int>> stop) {
  ProgramPlanner planner(program,
                         {options.explain, options.explain_hops, options.explain_rules, options.explain_instructions});
  RunSession session(options, options.seed ? *options.seed : entropy(), std::move(stop));
  Context context{memory, config};
  context.precision = config.precision == "single" ? Precision::f32 : Precision::f64;
  context.threads = config.threads > 0 ? config.threads : available_threads();
  context.session = &session;
  Executor executor(planner.hook(), context, options.observer);
  Scope scope;
  scope.routine = &program.main();
  scope.slots.resize(program.main().slots.size());
  executor.run(program.main().body, scope);
}

}  // namespace

Engine::Engine(Config config)
    : config_(std::move(config)),
      memory_(std::make_unique<Memory>(config_.memory_limit > 0 ? config_.memory_limit : default_limit())),
      stop_(std::make_shared<std::atomic<int>>(0)) {}

Engine::~Engine() = default;

void Engine::cancel() { stop_->store(1); }

RunStatus Engine::run(const std::string& name, std::string text, const RunOptions& options) {
  RunStatus out;
  out.files = std::make_shared<SourceFiles>();
  const uint32_t file = out.files->add(name, std::move(text));
  const auto report = [&](const Error& error) {
    out.status = static_cast<int>(error.kind());
    out.errors = error.diagnostics();
    out.text = render(error, *out.files);
  };
  on_large_stack([&] {
    std::unique_ptr<Executable> program;  // outlives the errors, whose spans point into it
    try {
      CheckOptions check_options;
      check_options.arguments = options.arguments;
      std::unique_ptr<Program> checked = check(out.files, file, check_options);
      note_warnings(options, *checked);
      program = std::make_unique<Executable>(std::move(checked));
      run_program(config_, *memory_, options, *program, stop_);
    } catch (const Error& error) {
      report(error);
    } catch (const std::bad_alloc&) {
      report(Error(ErrorKind::resource, {}, "out of memory"));
    }
  });
  return out;
}

}  // namespace hopline
