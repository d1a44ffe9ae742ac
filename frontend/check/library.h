// The DML library that is compiled into the program (scripts/builtin, scripts/nn), and where source() looks for files.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hopline {

struct EmbeddedScript {
  std::string_view name;  // path from the project's root: "scripts/nn/layers/affine.dml"
  std::string_view text;
};
// Sorted by name. Filled by the build.
std::vector<EmbeddedScript> embedded_scripts();

// Text of a script of the library, by its path with or without the leading "scripts/"; nullopt when there is none.
std::optional<std::string_view> embedded_script(std::string_view name);

struct ScriptText {
  std::string canonical;  // absolute path, or the library's "scripts/..."
  std::string shown;      // in messages: as the script wrote it
  std::string text;
  bool library = false;
};

// The script of the library: from the folder that HOPLINE_SCRIPTS names where it is set, else from the program.
std::optional<ScriptText> library_script(const std::string& path);
// Names of all script builtins, for "did you mean".
std::vector<std::string> library_builtins();

// The file that source(path) means in a script: from `directory` (the working one, or that of setwd), else beside the
// sourcing file, each with and without a leading "scripts/". `from` is that file's canonical path, or "" where it has
// no place; `from_shown` is its name in messages. Not the library.
std::optional<ScriptText> script_file(const std::string& path, const std::string& directory, const std::string& from,
                                      const std::string& from_shown);
// The script of the library beside another one of it.
std::optional<ScriptText> library_script_beside(const std::string& path, const std::string& from);

// "a/b/../c" as "a/c", and the two paths joined unless the second is absolute.
std::string join_paths(const std::string& directory, const std::string& path);
std::string canonical_path(const std::string& path);  // of a file that exists; the path itself where there is none

}  // namespace hopline
