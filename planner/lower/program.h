// Checked program -> executable program (runtime/exec/program.h).
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "frontend/check/check.h"
#include "runtime/exec/planner.h"
#include "runtime/exec/program.h"

namespace hopline {

class Executable {
 public:
  explicit Executable(std::unique_ptr<Program> checked);
  const Routine& main() const { return *main_; }
  const SourceFiles& files() const { return *checked_->files; }
  const Program& checked() const { return *checked_; }
  // A function named at run time; loads a script builtin on demand. Thread-safe. Null when there is none.
  const Routine* find(const Routine& from, const std::string& name, Kind first);
  // A call site that lives as long as the program. Thread-safe.
  const CallSite* call_site(const Span& at, const std::string& function);

 private:
  Routine* routine(const Function& function);
  void lower(const Body& body, Routine& r, NodeList& out);
  void lower_call(const Stmt& stmt, const CallExpr& call, const std::vector<Target>& targets, Routine& r,
                  NodeList& out);
  void lower_control(const Stmt& stmt, Routine& r, Node& node);
  int32_t to_slot(Expr* value, const char* what, Routine& r, NodeList& out);
  int32_t temporary(Routine& r, const char* what);

  std::unique_ptr<Program> checked_;
  std::deque<Routine> routines_;
  std::unordered_map<const Function*, Routine*> by_function_;
  std::deque<CallSite> call_sites_;
  std::mutex mutex_;
  Routine* main_ = nullptr;
};

}  // namespace hopline
