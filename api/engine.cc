#include "api/engine.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <random>

#include "frontend/check/check.h"
#include "planner/lower/dry_run.h"
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
    parent_->bytes_read += bytes_read.exchange(0);
    parent_->bytes_written += bytes_written.exchange(0);
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

int threads_of(const Config& config) { return config.threads > 0 ? config.threads : available_threads(); }

void note_warnings(const RunOptions& options, const Program& checked) {
  if (!options.warnings || !options.note) return;
  for (Diagnostic warning : checked.warnings) {
    warning.warning = true;
    options.note(render(Error(ErrorKind::script, {warning}), *checked.files));
  }
}

void run_program(const Config& config, Memory& memory, const RunOptions& options, Executable& program,
                 RunSession& session) {
  Context context{memory, config};
  context.precision = config.precision == "single" ? Precision::f32 : Precision::f64;
  context.threads = threads_of(config);
  context.session = &session;
  if (options.dry_run) return dry_run(program, context, {options.note, options.explain_levels, options.observer});
  ProgramPlanner planner(program, {options.explain, options.explain_levels});
  Executor executor(planner.hook(), context, options.observer);
  Scope scope;
  scope.routine = &program.main();
  scope.slots.resize(program.main().slots.size());
  executor.run(program.main().body, scope);
}

}  // namespace

// A run that others may look at. Everything that it points to outlives it.
struct Engine::Run {
  Run(Engine& e, RunSession& s, const SourceFiles& f) : engine(e), session(s), files(f) {
    const std::lock_guard lock(engine.runs_mutex_);
    engine.runs_.push_back(this);
  }
  ~Run() {
    const std::lock_guard lock(engine.runs_mutex_);
    std::erase(engine.runs_, this);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  Engine& engine;
  RunSession& session;
  const SourceFiles& files;
};

std::string Activity::loop_text() const {
  if (loop_line == 0) return {};
  const std::string of = iterations < 0 ? "" : fmt::format(" of {}", iterations);
  return fmt::format("iteration {}{} of the loop at line {}", iteration, of, loop_line);
}

std::string Activity::text() const {
  if (what.empty()) return "the check of the script";
  std::string out = line == 0 ? what : fmt::format("{} at {}:{}", what, file, line);
  if (loop_line != 0) out += fmt::format(" ({})", loop_text());
  return out;
}

namespace {

Activity activity_of(const RunningNow& now, const SourceFiles& files) {
  Activity out;
  const std::string_view* what = now.what;
  const Span *place = now.place, *loop = now.loop;
  if (what == nullptr || place == nullptr) return out;
  const Position at = files.position(*place);
  out.what = *what, out.file = at.file, out.line = at.line;
  if (loop == nullptr) return out;
  out.loop_line = files.position(*loop).line;
  out.iteration = now.iteration, out.iterations = now.iterations;
  return out;
}

// Where a stopped run stood; the iteration of a parfor is named already.
void add_loop(Error& error, const RunningNow& now, const SourceFiles& files) {
  const std::string loop = activity_of(now, files).loop_text();
  if (error.kind() == ErrorKind::interrupted && now.what != &kParfor && !loop.empty()) error.prefix(loop + ": ");
}

}  // namespace

Engine::Engine(Config config)
    : config_(std::move(config)),
      memory_(std::make_unique<Memory>(config_.memory_limit > 0 ? config_.memory_limit : default_limit())),
      stop_(std::make_shared<std::atomic<int>>(0)) {}

Engine::~Engine() = default;

void Engine::cancel() { stop_->store(1); }

std::optional<Activity> Engine::activity() const {
  const std::lock_guard lock(runs_mutex_);  // keeps the run's program alive meanwhile
  if (runs_.empty()) return std::nullopt;
  return activity_of(runs_.front()->session.now, runs_.front()->files);
}

RunStatus Engine::run(const std::string& name, std::string text, const RunOptions& options) {
  RunStatus out;
  out.files = std::make_shared<SourceFiles>();
  const uint32_t file = out.files->add(name, std::move(text));
  RunSession session(options, options.seed ? *options.seed : entropy(), stop_);
  const int64_t begin = observer_clock();
  if (options.observer != nullptr) options.observer->start(out.files);
  const auto report = [&](const Error& error) {
    out.status = static_cast<int>(error.kind());
    out.errors = error.diagnostics();
    out.text = render(error, *out.files);
  };
  on_large_stack([&] {
    std::unique_ptr<Executable> program;  // outlives the errors, whose spans point into it
    const Run watched(*this, session, *out.files);
    try {
      CheckOptions check_options;
      check_options.arguments = options.arguments;
      std::unique_ptr<Program> checked = check(out.files, file, check_options);
      if (options.observer != nullptr) options.observer->checked(begin, observer_clock());
      note_warnings(options, *checked);
      program = std::make_unique<Executable>(std::move(checked));
      run_program(config_, *memory_, options, *program, session);
    } catch (Error& error) {
      add_loop(error, session.now, *out.files);
      report(error);
    } catch (const std::bad_alloc&) {
      report(Error(ErrorKind::resource, {}, "out of memory"));
    }
  });
  out.totals = {static_cast<double>(observer_clock() - begin) * 1e-9,
                threads_of(config_),
                session.seed(),
                memory_->counters().peak,
                session.bytes_read,
                session.bytes_written};
  return out;
}

}  // namespace hopline
