// Script files: parsing, source(), setwd(), namespaces, declared functions, script builtins.
#include <fmt/format.h>

#include "frontend/check/checker.h"
#include "frontend/check/constants.h"
#include "frontend/check/library.h"
#include "frontend/check/nearest.h"
#include "frontend/syntax/parse.h"

namespace hopline {

FunctionInfo* Variants::for_kind(Kind first, bool for_eval) const {
  if (first == Kind::matrix || (for_eval && first == Kind::list)) return matrix;
  return first == Kind::frame ? frame : other;
}

void Checker::load(uint32_t main_file) {
  FunctionInfo& main = infos_.emplace_back();
  main.function = &program_.main;
  program_.main.name = "main";
  program_.main.span = {main_file, 0, 0, nullptr};
  infos_by_function_[&program_.main] = &main;
  FileScope& scope = files_.emplace_back();
  main.file = &scope;
  scope.file = main_file;
  const std::string real = canonical_path(std::string(program_.files->name(main_file)));
  if (!real.empty() && real[0] == '/') {
    scope.real_path = real;
    files_by_path_[real] = &scope;
  }
  Body body = parse(program_.ast, *program_.files, main_file);
  pending_.push_back(&main);
  declare(scope, std::move(body));
  while (!undeclared_.empty()) {
    auto [next, statements] = std::move(undeclared_.back());
    undeclared_.pop_back();
    declare(*next, std::move(statements));
  }
}

// Null when the file cannot be parsed; its errors then count as the main script's.
FileScope* Checker::add_file(const std::string& canonical, std::string text, bool library, const std::string& shown) {
  const auto known = files_by_path_.find(canonical);
  if (known != files_by_path_.end()) return known->second;
  const uint32_t file = program_.files->add(shown, std::move(text));
  FileScope*& entry = files_by_path_[canonical];
  entry = nullptr;
  try {
    Body body = parse(program_.ast, *program_.files, file);
    FileScope& scope = files_.emplace_back();
    scope.path = scope.real_path = canonical;
    scope.file = file;
    scope.library = library;
    undeclared_.emplace_back(&scope, std::move(body));
    entry = &scope;
  } catch (const Error& e) {
    std::vector<Diagnostic>& errors = infos_.front().errors;
    errors.insert(errors.end(), e.diagnostics().begin(), e.diagnostics().end());
  }
  return entry;
}

void Checker::declare(FileScope& scope, Body body) {
  std::vector<Diagnostic>& errors = infos_.front().errors;
  const bool is_main = &scope == &files_.front();
  std::string directory = ".";
  for (Stmt* stmt : body) {
    if (auto* def = std::get_if<FunctionDef>(&stmt->node)) {
      declare_function(scope, stmt, *def);
    } else if (const auto* source = std::get_if<Source>(&stmt->node)) {
      take_source(scope, *stmt, *source, directory);
    } else if (const auto* setwd = std::get_if<SetWorkingDirectory>(&stmt->node)) {
      if (const auto path = path_text(*setwd->path))
        directory = join_paths(directory, *path);
      else
        errors.push_back({setwd->path->span, "setwd takes the name of a directory: expected a string"});
    } else if (is_main) {
      program_.main.body.push_back(stmt);
    }
  }
}

void Checker::declare_function(FileScope& scope, Stmt* stmt, FunctionDef& def) {
  std::vector<Diagnostic>& errors = infos_.front().errors;
  Function& f = program_.functions.emplace_back();
  f.scope = scope.path;
  f.name = def.name;
  f.def = &def;
  f.span = stmt->span;
  FunctionInfo& info = infos_.emplace_back();
  info.function = &f;
  info.def = &def;
  info.file = &scope;
  infos_by_function_[&f] = &info;
  const auto [place, added] = scope.functions.emplace(def.name, &info);
  if (!added) {
    const Position first = program_.files->position(place->second->function->span);
    errors.push_back(
        {stmt->span, fmt::format("function '{}' is defined twice: the first stands in line {}", def.name, first.line)});
  }
  scope.in_order.push_back(&info);
  std::unordered_map<std::string, int32_t> slots;
  const auto declare_variable = [&](const ParameterDecl& p, const char* what, bool unique) {
    if (is_constant(p.name))
      errors.push_back({p.span, fmt::format("'{}' is a constant: it cannot be the name of {}", p.name, what)});
    const auto [slot, fresh] = slots.emplace(p.name, static_cast<int32_t>(f.slots.size()));
    if (fresh)
      f.slots.push_back(p.name);
    else if (unique)
      errors.push_back({p.span, fmt::format("{} '{}' of function '{}' is declared twice", what, p.name, def.name)});
    return slot->second;
  };
  for (const ParameterDecl& p : def.inputs) {
    f.inputs.push_back(declare_variable(p, "parameter", true));
    f.input_kinds.push_back(p.kind);
  }
  std::unordered_set<std::string> outputs;
  for (const ParameterDecl& p : def.outputs) {
    f.outputs.push_back(declare_variable(p, "output", !outputs.insert(p.name).second));
    f.output_kinds.push_back(p.kind);
  }
  f.body = std::move(def.body);
  if (!scope.library) pending_.push_back(&info);
}

// The text of a path of source() or setwd(), `$` values put in; nullopt when it has none.
std::optional<std::string> Checker::path_text(const Expr& path) {
  if (const auto* literal = std::get_if<Literal>(&path.node))
    if (const auto* text = std::get_if<std::string>(&literal->value)) return *text;
  if (const auto* parameter = std::get_if<Parameter>(&path.node)) {
    const auto given = options_.arguments.find(parameter->name);
    if (given != options_.arguments.end() && !given->second.empty()) {
      const Literal literal = parameter_value(given->second);
      if (const auto* text = std::get_if<std::string>(&literal.value)) return *text;
      return given->second;
    }
  }
  return std::nullopt;
}

void Checker::take_source(FileScope& scope, const Stmt& stmt, const Source& source, const std::string& directory) {
  std::vector<Diagnostic>& errors = infos_.front().errors;
  const auto path = path_text(*source.path);
  FileScope* found = nullptr;
  if (path) {
    found = sourced_file(scope, source.path->span, *path, directory);
  } else if (const auto* parameter = std::get_if<Parameter>(&source.path->node)) {
    errors.push_back({source.path->span, unsupplied(parameter->name)});
  } else {
    errors.push_back({source.path->span, "source takes the name of a file: expected a string"});
  }
  const auto [alias, added] = scope.aliases.emplace(source.alias, found);
  if (added || alias->second == found) return;
  if (alias->second != nullptr && found != nullptr)
    errors.push_back({stmt.span, fmt::format("namespace conflict: '{}' already stands for another file, {}",
                                             source.alias, program_.files->name(alias->second->file))});
}

FileScope* Checker::sourced_file(FileScope& scope, const Span& span, const std::string& path,
                                 const std::string& directory) {
  const std::string& from = scope.real_path;
  if (options_.load) {
    if (auto loaded = options_.load(join_paths(directory, path), scope.path))
      return add_file(loaded->second, std::move(loaded->first), false, loaded->second);
  } else if (auto file = script_file(path, directory, from, std::string(program_.files->name(scope.file)))) {
    return add_file(file->canonical, std::move(file->text), scope.library, file->shown);
  }
  auto script = library_script_beside(path, from);
  if (!script) script = library_script(path);
  if (script) return add_file(script->canonical, std::move(script->text), true, script->shown);
  infos_.front().errors.push_back(
      {span,
       fmt::format(
           "cannot find the script '{}': it is not in the working directory, beside this script or in the library",
           path)});
  return nullptr;
}

const Variants& Checker::builtin(const std::string& name) {
  const auto known = builtins_.find(name);
  if (known != builtins_.end()) return known->second;
  Variants& variants = builtins_[name];
  const auto script = library_script("scripts/builtin/" + name + ".dml");
  if (!script) return variants;
  FileScope* scope = add_file(script->canonical, script->text, true, script->shown);
  while (!undeclared_.empty()) {
    auto [next, statements] = std::move(undeclared_.back());
    undeclared_.pop_back();
    declare(*next, std::move(statements));
  }
  if (scope == nullptr) return variants;
  variants.matrix = function_of(*scope, "m_" + name);
  variants.frame = function_of(*scope, "f_" + name);
  variants.other = function_of(*scope, "s_" + name);
  return variants;
}

const std::vector<std::string>& Checker::builtin_names() {
  if (!builtin_names_known_) builtin_names_ = library_builtins();
  builtin_names_known_ = true;
  return builtin_names_;
}

FunctionInfo* Checker::function_of(const FileScope& file, const std::string& name) const {
  const auto found = file.functions.find(name);
  return found == file.functions.end() ? nullptr : found->second;
}

}  // namespace hopline
