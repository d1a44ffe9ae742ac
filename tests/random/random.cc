#include "tests/random/random.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "tests/random/shrink.h"
#include "tests/random/writer.h"
#include "tests/runner/check.h"
#include "tests/runner/compare.h"
#include "tests/runner/engine.h"

namespace hopline::tests {

namespace {

constexpr int kLimit = 10000;  // milliseconds that a program may take
constexpr int kMostFailures = 10;
constexpr int kInternal = 70;  // exit status of a mistake of ours

using Config = std::vector<std::pair<std::string, std::string>>;

// Two ways to run a program and how far their numbers may lie apart.
struct Pair {
  std::string_view name;
  Config one, other;
  double tolerance;
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> kPairs = [] {
    const auto config = [](std::string_view name) {
      for (const Variant& v : variants())
        if (v.name == name) return v.config;
      return Config();
    };
    const Config standard = config("default"), plain = config("plain");
    const Config exact = {{"hopline.rewrites.exactness", "exact"}, {"hopline.fusion", "none"}};
    Config sparse = config("sparse");
    sparse.insert(sparse.end(), plain.begin(), plain.end());
    return std::vector<Pair>{{"thread", standard, config("thread"), 0},
                             {"plain", standard, plain, 1e-9},
                             {"exact", exact, plain, 0},
                             {"sparse", standard, config("sparse"), 1e-9},
                             {"sparse-plain", plain, sparse, 1e-9}};
  }();
  return kPairs;
}

RunResult run_program(const std::string& text, const Config& config) {
  RunRequest request;
  request.path = "program.dml";
  request.text = text;
  request.config = config;
  request.config.emplace_back("hopline.memory.limit", "2GB");
  request.limit = kLimit;
  return run_script(request);
}

std::string first_error(const RunResult& r) {
  if (r.errors.empty()) return "none";
  return fmt::format("{}:{}: {}", r.errors[0].line, r.errors[0].column, r.errors[0].message);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// What differs; "" when nothing does. Begins with the kind of the difference.
std::string differs(const RunResult& a, const RunResult& b, double tolerance) {
  for (const RunResult* r : {&a, &b}) {
    if (r->timed_out) return "time: ran longer than the limit\n";
    if (r->status == kInternal) return "internal: " + first_error(*r) + "\n";
  }
  if (first_error(a) != first_error(b)) return fmt::format("error: {}\n   but: {}\n", first_error(a), first_error(b));
  const std::vector<std::string> one = lines_of(a.output), other = lines_of(b.output);
  for (size_t k = 0; k < std::max(one.size(), other.size()); ++k) {
    const std::string x = k < one.size() ? one[k] : "no more", y = k < other.size() ? other[k] : "no more";
    if (!same_line(x, y, tolerance)) return fmt::format("output: line {}: {}\n   but: {}\n", k + 1, x, y);
  }
  return "";
}

struct Finding {
  const Pair* pair = nullptr;
  std::string what;
  std::string kind() const { return what.substr(0, what.find(':')); }
};

std::string compare(const std::string& text, const Pair& pair) {
  const RunResult one = run_program(text, pair.one);
  return differs(one, run_program(text, pair.other), pair.tolerance);
}

// What a crash leaves behind: the programs that run, one per job. A run has threads of its own, so any may be it.
constexpr int kMostJobs = 64;
std::atomic<const std::string*> running[kMostJobs];
std::string crash_files[kMostJobs];

void on_crash(int number) {
  for (int job = 0; job < kMostJobs; ++job) {
    const std::string* text = running[job];
    if (text == nullptr) continue;
    const int file = open(crash_files[job].c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (file >= 0 && write(file, text->data(), text->size()) >= 0) close(file);
  }
  constexpr char kText[] = "FAIL: a program crashed; those that ran are in crashed-JOB.dml\n";
  if (write(1, kText, sizeof kText - 1) < 0) _exit(2);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

class Run {
 public:
  explicit Run(const RandomOptions& options) : options_(options) {}

  int all() {
    std::vector<std::thread> workers;
    for (int k = 0; k < options_.jobs; ++k) workers.emplace_back([this, k] { work(k); });
    for (std::thread& t : workers) t.join();
    fmt::print("{} programs of seed {}, {} of them with an error, {} ran differently\n", programs_.load(),
               options_.seed, errors_.load(), failures_.load());
    return failures_ == 0 ? 0 : 1;
  }

  std::string write_program(int64_t number) const {
    return Writer(options_.seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(number)).program();
  }

  void check(const std::string& text, const std::string& name, int job) {
    running[job] = &text;
    const RunResult standard = run_program(text, pairs().front().one);
    if (standard.status != 0) {
      ++errors_;
      if (options_.verbose) fmt::print("{}: {}\n", name, first_error(standard));
    }
    for (const Pair& pair : pairs()) {
      const RunResult one = pair.one == pairs().front().one ? standard : run_program(text, pair.one);
      const Finding found{&pair, differs(one, run_program(text, pair.other), pair.tolerance)};
      if (found.what.empty()) continue;
      report(text, name, found, job);
      break;
    }
    running[job] = nullptr;
    ++programs_;
  }

 private:
  void work(int job) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    while (std::chrono::steady_clock::now() < end && failures_ < kMostFailures) {
      const int64_t number = next_++;
      check(write_program(number), fmt::format("{}-{}", options_.seed, number), job);
    }
  }

  void report(const std::string& text, const std::string& name, const Finding& found, int job) {
    ++failures_;
    const std::string small = found.kind() == "time" ? text
                                                     : shrink(
                                                           text,
                                                           [&](const std::string& smaller) {
                                                             running[job] = &smaller;
                                                             const std::string what = compare(smaller, *found.pair);
                                                             return what.substr(0, what.find(':')) == found.kind();
                                                           },
                                                           30);
    const std::string path = fmt::format("{}/random-{}.dml", options_.folder, name);
    const std::string what = compare(small, *found.pair);
    std::ofstream(path) << small;
    const std::lock_guard lock(mutex_);
    fmt::print("FAIL {} [{}] {}{}\n", path, found.pair->name, what.empty() ? found.what : what, small);
    std::fflush(stdout);
  }

  const RandomOptions& options_;
  std::atomic<int64_t> next_{0}, programs_{0}, errors_{0};
  std::atomic<int> failures_{0};
  std::mutex mutex_;
};

}  // namespace

int run_random(const RandomOptions& given) {
  RandomOptions options = given;
  if (options.seed == 0) options.seed = std::random_device()() % 1000000 + 1;
  options.jobs = std::clamp(options.jobs, 1, kMostJobs);
  for (int job = 0; job < kMostJobs; ++job) crash_files[job] = fmt::format("{}/crashed-{}.dml", options.folder, job);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(number, on_crash);
  Run run(options);
  if (!options.script.empty() || options.number) {
    std::string text;
    if (options.number) {
      text = run.write_program(*options.number);
      fmt::print("{}", text);
    } else {
      std::ifstream in(options.script);
      text.assign(std::istreambuf_iterator<char>(in), {});
    }
    options.seconds = 0;
    run.check(text, "script", 0);
    return run.all();
  }
  fmt::print("random programs of seed {} for {} s\n", options.seed, options.seconds);
  std::fflush(stdout);
  return run.all();
}

}  // namespace hopline::tests
