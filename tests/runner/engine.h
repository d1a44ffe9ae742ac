// Running one script inside this process.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hopline::tests {

struct RunRequest {
  std::string path, text;                                   // name and text of the script
  std::vector<std::string> arguments;                       // as of the command behind the script
  std::vector<std::pair<std::string, std::string>> config;  // key and value
  bool explain = false;                                     // wants the plans
  int limit = 0;                                            // milliseconds that it may run; 0: as long as it takes
  bool dry_run = false;
};

struct RunError {
  std::string file;
  size_t line = 0, column = 0;
  std::string message;
};

struct RunResult {
  std::string output;  // what the script printed
  std::vector<RunError> errors;
  std::string rendered;  // the errors as people see them
  std::string plan;      // the plans, when asked for
  int status = 0;        // exit status of the command
  bool timed_out = false;
};

RunResult run_script(const RunRequest& request);

}  // namespace hopline::tests
