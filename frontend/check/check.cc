#include "frontend/check/check.h"

#include "frontend/check/checker.h"
#include "runtime/base/large_stack.h"

namespace hopline {

void Checker::reach(FunctionInfo* function) {
  if (!function->checked) pending_.push_back(function);
}

void Checker::check_pending() {
  // Functions of the script first to last; what they call is added behind.
  for (size_t i = 0; i < pending_.size(); ++i)
    if (!pending_[i]->checked) check_function(*pending_[i]);
  pending_.clear();
}

void Checker::check_all() { check_pending(); }

void Checker::check_function(FunctionInfo& info) {
  info.checked = true;
  if (info.def != nullptr && info.def->external) return;
  FunctionCheck check{*this, info, {}, {}, {}, {}, {}};
  const size_t errors_before = info.errors.size();
  resolve_names(check);
  infer_kinds(check);
  if (info.errors.size() > errors_before) return;
  normalize(check);
  find_last_uses(check);
  measure(*info.function);
}

void Checker::report() {
  FunctionInfo& main = infos_.front();
  std::vector<Diagnostic> errors;
  std::unordered_set<const FunctionInfo*> reached;
  for (FunctionInfo* info : reachable(main)) {
    reached.insert(info);
    errors.insert(errors.end(), info->errors.begin(), info->errors.end());
  }
  if (!errors.empty()) throw Error(ErrorKind::script, in_order(std::move(errors)));
  std::vector<Diagnostic> warnings;
  for (FunctionInfo& info : infos_) {
    if (info.checked) mark_recursive(info);
    if (reached.count(&info) != 0) continue;
    for (Diagnostic d : info.errors) {
      d.warning = true;
      warnings.push_back(std::move(d));
    }
  }
  for (Diagnostic& d : in_order(std::move(warnings))) program_.warnings.push_back(std::move(d));
}

const Function* Checker::find(const Function& from, const std::string& name, Kind first) {
  const std::lock_guard lock(mutex_);
  const FileScope* file = info_of(from).file;
  const size_t colons = name.find("::");
  std::string local = name;
  if (colons != std::string::npos) {
    const auto alias = file->aliases.find(name.substr(0, colons));
    if (alias == file->aliases.end() || alias->second == nullptr) return nullptr;
    file = alias->second;
    local = name.substr(colons + 2);
  }
  FunctionInfo* info = function_of(*file, local);
  const size_t errors_before = infos_.front().errors.size();
  if (info == nullptr && colons == std::string::npos) {
    const Variants& variants = builtin(local);
    info = variants.for_kind(first, true);
    if (info == nullptr) info = variants.any();
  }
  if (infos_.front().errors.size() > errors_before)
    throw Error(ErrorKind::script, {infos_.front().errors.begin() + static_cast<std::ptrdiff_t>(errors_before),
                                    infos_.front().errors.end()});
  if (info == nullptr || info->def->external) return nullptr;
  if (!info->checked) {
    pending_.push_back(info);
    check_pending();
  }
  std::vector<Diagnostic> errors;
  for (FunctionInfo* callee : reachable(*info))
    errors.insert(errors.end(), callee->errors.begin(), callee->errors.end());
  if (!errors.empty()) throw Error(ErrorKind::script, in_order(std::move(errors)));
  mark_recursive(*info);
  return info->function;
}

std::unique_ptr<Program> check(std::shared_ptr<SourceFiles> files, uint32_t main_file, const CheckOptions& options) {
  auto program = std::make_unique<Program>();
  program->files = std::move(files);
  program->checker = std::make_shared<Checker>(*program, options);
  on_large_stack([&] {
    program->checker->load(main_file);
    program->checker->check_all();
    program->checker->report();
  });
  return program;
}

const Function* find_function(Program& program, const Function& from, const std::string& name, Kind first) {
  const Function* found = nullptr;
  on_large_stack([&] { found = program.checker->find(from, name, first); });
  return found;
}

}  // namespace hopline
