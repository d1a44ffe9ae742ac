// hopline-test: runs the script tests and the examples of the operators, each in its variants, inside this process.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "runtime/base/parallel.h"
#include "runtime/ops/op.h"
#include "tests/random/random.h"
#include "tests/runner/check.h"
#include "tests/runner/rebase.h"

namespace hopline::tests {

namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> paths;
  std::string variant;
  int jobs = available_threads();
  int timeout = 120;  // seconds a case may take before the whole run is given up
  bool rebase = false, verbose = false, examples = false;
};

struct TestFile {
  std::string path, text;
  std::string folder;  // absolute; the working directory of its cases
  std::vector<TestCase> cases;
};

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Scripts below "sources", "data" and "corpus" are read by tests, they are none.
bool is_test(const fs::path& path) {
  if (path.extension() != ".dml") return false;
  for (const fs::path& part : path.parent_path())
    if (part == "sources" || part == "data" || part == "corpus") return false;
  return true;
}

void add_file(std::vector<TestFile>& files, const std::string& path) {
  TestFile file{path, read_text(path), fs::absolute(path).parent_path().string(), {}};
  file.cases = read_cases(path, file.text);
  files.push_back(std::move(file));
}

std::vector<TestFile> find_files(const Options& options) {
  std::vector<std::string> paths;
  for (const std::string& path : options.paths) {
    if (!fs::is_directory(path)) {
      paths.push_back(path);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && is_test(entry.path())) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<TestFile> files;
  for (const std::string& path : paths) add_file(files, path);
  return files;
}

// The example of every operator as a file of its own, all in one folder.
void add_examples(std::vector<TestFile>& files, const std::string& folder) {
  for (const OpFamily& family : op_families())
    for (const Op& row : family) {
      if (row.hidden) continue;
      TestFile file{fmt::format("example of {}", row.name), std::string(row.example), folder, {}};
      file.cases = read_cases(file.path, file.text);
      files.push_back(std::move(file));
    }
}

struct Job {
  const TestCase* test;
  const TestCase* before;
};

class Suite {
 public:
  explicit Suite(const Options& options) : options_(options), running_(static_cast<size_t>(options.jobs)) {}

  // The working directory belongs to the process, so the files of one folder run together.
  void run(const std::vector<TestFile>& files) {
    std::map<std::string, std::vector<Job>> folders;
    for (const TestFile& file : files)
      for (size_t i = 0; i < file.cases.size(); ++i)
        folders[file.folder].push_back({&file.cases[i], i > 0 ? &file.cases[i - 1] : nullptr});
    const fs::path home = fs::current_path();
    std::thread watch([this] { give_up_when_stuck(); });
    for (auto& [folder, jobs] : folders) {
      fs::current_path(folder);
      run_jobs(std::move(jobs));
    }
    fs::current_path(home);
    done_ = true;
    watch.join();
  }
  size_t cases() const { return cases_; }
  size_t failed() const { return failed_; }
  size_t runs() const { return runs_; }

 private:
  struct Running {
    std::atomic<const TestCase*> test{nullptr};
    std::atomic<int64_t> since{0};
  };
  static int64_t seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  void run_jobs(std::vector<Job> jobs) {
    jobs_ = std::move(jobs);
    cases_ += jobs_.size();
    next_ = 0;
    std::vector<std::thread> workers;
    for (int w = 0; w < options_.jobs; ++w) workers.emplace_back([this, w] { work(static_cast<size_t>(w)); });
    for (std::thread& t : workers) t.join();
  }

  void work(size_t worker) {
    const Runner count_and_run = [this](const RunRequest& request) {
      ++runs_;
      return run_script(request);
    };
    for (size_t k = next_++; k < jobs_.size(); k = next_++) {
      const Job& job = jobs_[k];
      running_[worker].since = seconds();
      running_[worker].test = job.test;
      const std::vector<CaseFailure> failures = check_case(*job.test, job.before, options_.variant, count_and_run);
      running_[worker].test = nullptr;
      report(*job.test, failures);
    }
  }

  void report(const TestCase& test, const std::vector<CaseFailure>& failures) {
    const std::lock_guard lock(mutex_);
    failed_ += failures.empty() ? 0 : 1;
    if (failures.empty() && options_.verbose) fmt::print("PASS {}\n", test.name());
    for (const CaseFailure& f : failures) fmt::print("FAIL {} [{}]\n{}", test.name(), f.variant, f.what);
    std::fflush(stdout);
  }

  void give_up_when_stuck() {
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (const Running& r : running_)
        if (const TestCase* test = r.test; test != nullptr && seconds() - r.since > options_.timeout) {
          fmt::print("FAIL {}: still running after {} s; giving up\n", test->name(), options_.timeout);
          std::fflush(stdout);
          std::_Exit(1);
        }
    }
  }

  const Options& options_;
  std::vector<Job> jobs_;
  size_t cases_ = 0;
  std::vector<Running> running_;
  std::atomic<size_t> next_{0}, failed_{0}, runs_{0};
  std::atomic<bool> done_{false};
  std::mutex mutex_;
};

int rebase_files(const std::vector<TestFile>& files) {
  int changed = 0;
  for (const TestFile& file : files) {
    std::vector<RunResult> results;
    fs::current_path(file.folder);
    for (const TestCase& test : file.cases) {
      const Folder folder;
      results.push_back(run_script(make_request(test, variants().front(), folder.path())));
    }
    const std::string text = rebase(file.text, file.cases, results);
    if (text == file.text) continue;
    std::ofstream(fs::path(file.folder) / fs::path(file.path).filename(), std::ios::binary) << text;
    fmt::print("rebased {}\n", file.path);
    ++changed;
  }
  fmt::print("{} files rebased, {} unchanged\n", changed, files.size() - static_cast<size_t>(changed));
  return 0;
}

int run(const Options& options) {
  std::vector<TestFile> files = find_files(options);
  if (options.rebase) return rebase_files(files);
  const Folder example_folder;
  if (options.examples) add_examples(files, example_folder.path());
  const auto begin = std::chrono::steady_clock::now();
  Suite suite(options);
  suite.run(files);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{} passed, {} failed ({} runs, {:.1f} s)\n", suite.cases() - suite.failed(), suite.failed(), suite.runs(),
             wall);
  return suite.failed() == 0 ? 0 : 1;
}

// OpenMP reads it when it is loaded. Without it idle workers spin and keep the other cases from running.
void sleep_when_idle(char** argv) {
  if (getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

}  // namespace hopline::tests

int main(int argc, char** argv) {
  using namespace hopline::tests;
  sleep_when_idle(argv);
  Options options;
  CLI::App app{"Runs DML script tests in all their variants."};
  app.add_option("path", options.paths, "files or folders");
  app.add_option("--variant", options.variant, "only this variant: default, dry, plain, sparse, thread, single");
  app.add_option("-j,--jobs", options.jobs, "cases at a time")->check(CLI::PositiveNumber);
  app.add_option("--timeout", options.timeout, "seconds that a case may take");
  app.add_flag("--rebase", options.rebase, "write what the scripts print into their expectations");
  app.add_flag("--examples", options.examples, "run the examples of all operators, too");
  app.add_flag("-v,--verbose", options.verbose, "name the cases that pass");
  RandomOptions random;
  double seconds = 0;
  app.add_option("--random", seconds, "write random programs for so many seconds and run each in all variants");
  app.add_option("--seed", random.seed, "of the random programs; 0: another one each time");
  app.add_option("--program", random.number, "only this one of the random programs");
  app.add_option("--shrink", random.script, "make a script smaller that runs differently in two variants");
  app.add_option("--folder", random.folder, "where random programs go that run differently");
  CLI11_PARSE(app, argc, argv);
  try {
    random.jobs = options.jobs;
    random.verbose = options.verbose;
    if (seconds > 0) random.seconds = seconds;
    if (seconds > 0 || random.number || !random.script.empty()) return run_random(random);
    return run(options);
  } catch (const std::exception& e) {
    std::cerr << "hopline-test: " << e.what() << "\n";
    return 2;
  }
}
