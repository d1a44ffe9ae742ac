// Runs DML scripts inside this process. What the command, the test runner and (later) the C ABI stand on.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "planner/lower/explain_levels.h"
#include "runtime/base/config.h"
#include "runtime/base/error.h"
#include "runtime/base/source_files.h"
#include "runtime/exec/observer.h"
#include "runtime/exec/statistics.h"

namespace hopline {

struct RunOptions {
  std::map<std::string, std::string> arguments;     // $name -> text; positional ones are "1", "2", ...
  std::function<void(std::string_view)> print;      // what the script prints; null: nowhere
  std::function<void(const std::string&)> explain;  // takes each plan as it is made; null: not wanted
  ExplainLevels explain_levels;
  bool dry_run = false;   // plan from metadata alone: reads and writes no data; plans, or a summary, go to `note`
  bool warnings = false;  // note warnings of the check
  std::function<void(const std::string&)> note;  // takes warnings and notes
  std::optional<uint64_t> seed;                  // of unseeded draws; none: from entropy
  Observer* observer = nullptr;
};

struct RunStatus {
  int status = 0;  // exit status: 0, or the value of an ErrorKind
  std::vector<Diagnostic> errors;
  std::string text;                    // the errors as people see them, with caret lines; "" when there are none
  std::shared_ptr<SourceFiles> files;  // resolves the spans of `errors`
  RunTotals totals;
};

// What a run does at a moment.
struct Activity {
  std::string what;  // an operator, "planning", ...; "": it is still being checked
  std::string file;
  uint32_t line = 0;
  uint32_t loop_line = 0;                  // of the outermost loop; 0: none
  int64_t iteration = 0, iterations = -1;  // of that loop; -1: their number is not known
  std::string loop_text() const;           // "iteration 3 of 20 of the loop at line 10"; "": no loop
  std::string text() const;                // "order at train.dml:14 (iteration 3 of 20 of the loop at line 10)"
};

class Memory;

// One configuration, one memory; may run several scripts, also at the same time.
class Engine {
 public:
  explicit Engine(Config config);
  ~Engine();
  // `name` stands in messages and is where source() looks beside the script.
  RunStatus run(const std::string& name, std::string text, const RunOptions& options);
  // Ends every run of this engine at its next instruction; may be called from a signal handler.
  void cancel();
  // Of the run that began first; none when nothing runs. From any thread.
  std::optional<Activity> activity() const;
  Memory& memory() { return *memory_; }
  const Config& config() const { return config_; }

 private:
  Config config_;
  std::unique_ptr<Memory> memory_;
  std::shared_ptr<std::atomic<int>> stop_;
  struct Run;
  mutable std::mutex runs_mutex_;
  std::vector<Run*> runs_;
};

}  // namespace hopline
