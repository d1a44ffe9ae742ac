// Runs a case in its variants and says what differs from its expectations.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runner/engine.h"
#include "tests/runner/test_case.h"

namespace hopline::tests {

// A way to run every case (design section 11). The first one is the default and compares text exactly.
struct Variant {
  std::string_view name;
  double tolerance = 0;  // relative, of numbers
  std::vector<std::pair<std::string, std::string>> config;
};
std::span<const Variant> variants();

using Runner = std::function<RunResult(const RunRequest&)>;

// The request that runs a case; `folder` stands for <DIR>.
RunRequest make_request(const TestCase& test, const Variant& variant, const std::string& folder);

// What is wrong with a result: lines of text, "" when nothing. `tolerance` is of the variant.
std::string difference(const TestCase& test, const RunResult& result, double tolerance);

struct CaseFailure {
  std::string variant, what;
};
// `before` is the case before it in the file, or null. `only` names one variant, "" means all that the case runs in.
std::vector<CaseFailure> check_case(const TestCase& test, const TestCase* before, const std::string& only,
                                    const Runner& run);

// An empty folder that is removed with its contents when the object goes.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hopline::tests
