// What the stages of the check share. Private to frontend/check.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/core.h>

#include "frontend/check/check.h"

namespace hopline {

struct FunctionInfo;

// One script file: what its functions may call.
struct FileScope {
  std::string path;       // canonical; "" is the main script
  std::string real_path;  // where files beside it are looked for
  uint32_t file = 0;      // in Program::files
  bool library = false;   // its functions are checked only when something calls them
  std::unordered_map<std::string, FunctionInfo*> functions;
  std::vector<FunctionInfo*> in_order;
  std::unordered_map<std::string, FileScope*> aliases;  // of source(...) as alias
};

// A script builtin with more than one variant, whose call waits for the kind of its first argument.
struct Variants {
  FunctionInfo *matrix = nullptr, *frame = nullptr, *other = nullptr;
  int count() const { return (matrix != nullptr) + (frame != nullptr) + (other != nullptr); }
  FunctionInfo* any() const { return matrix != nullptr ? matrix : other != nullptr ? other : frame; }
  FunctionInfo* for_kind(Kind first, bool for_eval) const;  // null: there is no such variant
};

// Its call, and what the call needs.
struct Undecided {
  Variants variants;
  bool statement = false;
  size_t targets = 1;
};

struct FunctionInfo {
  Function* function = nullptr;
  FunctionDef* def = nullptr;  // null: the main script
  FileScope* file = nullptr;
  bool checked = false;
  std::vector<Diagnostic> errors;
  std::vector<FunctionInfo*> calls;  // also those of eval with a literal name
  int32_t order = -1;                // in which the walk of the call graph met it; -1: not yet
  int32_t low = -1;                  // the earliest function that it reaches
};

class Checker {
 public:
  Checker(Program& program, const CheckOptions& options) : program_(program), options_(options) {}

  // Parses the main script and every file that it sources, directly or through others; declares the functions.
  // Throws Error{script} with the syntax errors of all of them.
  void load(uint32_t main_file);
  // Checks the main body and the functions of all files but the library's, then whatever these call.
  void check_all();
  // Errors of what the main script reaches are thrown, the others become warnings.
  void report();
  const Function* find(const Function& from, const std::string& name, Kind first);

  Program& program() { return program_; }
  const CheckOptions& options() const { return options_; }
  // Function `name` of the file, or of the file behind `alias`; null when there is none.
  FunctionInfo* function_of(const FileScope& file, const std::string& name) const;
  // The variants of a script builtin, loaded on first use; empty when there is none of that name. Its syntax errors are
  // reported at `at`.
  const Variants& builtin(const std::string& name);
  const std::vector<std::string>& builtin_names();
  // Has it checked before the check ends.
  void reach(FunctionInfo* function);
  FunctionInfo& info_of(const Function& function) const { return *infos_by_function_.at(&function); }

 private:
  FileScope* add_file(const std::string& canonical, std::string text, bool library, const std::string& shown);
  void declare(FileScope& scope, Body body);
  void declare_function(FileScope& scope, Stmt* stmt, FunctionDef& def);
  void take_source(FileScope& scope, const Stmt& stmt, const Source& source, const std::string& directory);
  FileScope* sourced_file(FileScope& scope, const Span& span, const std::string& path, const std::string& directory);
  std::optional<std::string> path_text(const Expr& path);
  void check_function(FunctionInfo& info);
  void check_pending();

  Program& program_;
  CheckOptions options_;
  std::deque<FileScope> files_;
  std::unordered_map<std::string, FileScope*> files_by_path_;
  std::deque<FunctionInfo> infos_;  // the first is the main script
  std::unordered_map<const Function*, FunctionInfo*> infos_by_function_;
  std::unordered_map<std::string, Variants> builtins_;
  std::vector<std::string> builtin_names_;
  bool builtin_names_known_ = false;
  std::vector<FunctionInfo*> pending_;                   // to be checked
  std::vector<std::pair<FileScope*, Body>> undeclared_;  // parsed files whose sources are still to be loaded
  std::vector<Diagnostic> syntax_errors_;
  std::mutex mutex_;  // of find, at run time
};

constexpr size_t kMostErrors = 20;  // in one report

// One function while it is checked.
struct FunctionCheck {
  Checker& checker;
  FunctionInfo& info;
  std::unordered_map<std::string, int32_t> slots_by_name;
  // Calls of script builtins whose variant depends on a kind.
  std::unordered_map<const Expr*, Undecided> undecided;
  // Arguments that a default also reads: each gets the slot of a temporary.
  std::unordered_map<const Expr*, int32_t> shared_arguments;
  // as.scalar(L[i]) and the like, where L may be a list.
  std::unordered_set<const Expr*> list_entries;
  std::unordered_map<int32_t, Span> first_writes;  // by slot: the assignment that comes first in the text
  int32_t temporaries = 0;

  Function& function() { return *info.function; }
  int32_t slot(const std::string& name);
  int32_t find_slot(const std::string& name) const;  // -1: the function has no such variable
  int32_t new_temporary();
  std::string slot_name(int32_t slot) const { return info.function->slots[static_cast<size_t>(slot)]; }
  Expr* name_expr(const Span& span, int32_t slot) {
    return checker.program().ast.expr(span, Name{slot_name(slot), slot});
  }

  template <class... Args>
  void error(const Span& span, fmt::format_string<Args...> text, Args&&... args) {
    info.errors.push_back({span, fmt::format(text, std::forward<Args>(args)...)});
  }
  bool wants_hint() const { return info.errors.size() < kMostErrors; }  // later ones are not shown
  void warn(const Span& span, std::string message) {
    checker.program().warnings.push_back({span, std::move(message), true});
  }
};

// The stages, in their order. Each takes what the one before left; the last two need a function without errors.
void resolve_names(FunctionCheck& check);   // slots, $ values, rows, functions, arguments
void infer_kinds(FunctionCheck& check);     // undefined variables, kinds that cannot work
void normalize(FunctionCheck& check);       // hoisting
void find_last_uses(FunctionCheck& check);  // Stmt::dies

// The function and what it calls, directly or through others.
std::vector<FunctionInfo*> reachable(FunctionInfo& from);
// Sets Function::recursive of it and of what it reaches; functions met by an earlier walk keep what they have.
void mark_recursive(FunctionInfo& from);
// Sets Function::has_loop and num_statements.
void measure(Function& function);
// At most kMostErrors, in the order of files and lines, each once.
std::vector<Diagnostic> in_order(std::vector<Diagnostic> errors);

bool is_eval(const CallExpr& call);    // eval or evalList
bool is_exists(const CallExpr& call);  // exists(x), after names are resolved

}  // namespace hopline
