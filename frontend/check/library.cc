#include "frontend/check/library.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "frontend/check/embedded.h"

namespace hopline {

namespace {

constexpr std::string_view kPrefix = "scripts/";

bool has_prefix(std::string_view path) { return path.substr(0, kPrefix.size()) == kPrefix; }

// The path as given, and with the leading "scripts/" taken away or added.
std::vector<std::string> spellings(const std::string& path) {
  if (path.empty()) return {};
  if (path[0] == '/') return {path};
  if (has_prefix(path)) return {path, path.substr(kPrefix.size())};
  return {path, std::string(kPrefix) + path};
}

std::string parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<std::string> read_text(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return std::nullopt;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return std::nullopt;
  std::string text;
  if (S_ISREG(info.st_mode)) text.reserve(static_cast<size_t>(info.st_size));
  constexpr size_t kMost = size_t{65} << 20;  // the parser refuses what is larger
  char buffer[16384];
  while (text.size() < kMost) {
    const size_t n = std::fread(buffer, 1, sizeof buffer, file.get());
    if (n == 0) break;
    text.append(buffer, n);
  }
  return text;
}

const char* library_folder() {
  const char* folder = std::getenv("HOPLINE_SCRIPTS");
  return folder == nullptr || *folder == '\0' ? nullptr : folder;
}

}  // namespace

std::vector<EmbeddedScript> embedded_scripts() {
  std::vector<EmbeddedScript> out;
  for (size_t i = 0; i < num_embedded_files; ++i) {
    const EmbeddedFile& f = embedded_files[i];
    out.push_back({f.name, {f.begin, static_cast<size_t>(f.end - f.begin)}});
  }
  return out;
}

std::optional<std::string_view> embedded_script(std::string_view name) {
  const std::string full = has_prefix(name) ? std::string(name) : std::string(kPrefix) + std::string(name);
  const EmbeddedFile* last = embedded_files + num_embedded_files;
  const EmbeddedFile* found = std::lower_bound(embedded_files, last, full,
                                               [](const EmbeddedFile& f, const std::string& n) { return f.name < n; });
  if (found == last || found->name != full) return std::nullopt;
  return std::string_view(found->begin, static_cast<size_t>(found->end - found->begin));
}

std::string join_paths(const std::string& directory, const std::string& path) {
  std::string joined = path;
  if ((path.empty() || path[0] != '/') && !directory.empty() && directory != ".") joined = directory + "/" + path;
  const bool absolute = !joined.empty() && joined[0] == '/';
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= joined.size();) {
    const size_t end = std::min(joined.find('/', begin), joined.size());
    std::string part = joined.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..")
      parts.pop_back();
    else if (part != ".." || !absolute)
      parts.push_back(std::move(part));
  }
  std::string out = absolute ? "/" : "";
  for (size_t i = 0; i < parts.size(); ++i) out += (i == 0 ? "" : "/") + parts[i];
  return out.empty() ? "." : out;
}

std::string canonical_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? path : resolved;
}

std::optional<ScriptText> library_script(const std::string& path) {
  const std::string name = join_paths("", path);
  if (const char* folder = library_folder()) {
    for (const std::string& spelling : spellings(has_prefix(name) ? name.substr(kPrefix.size()) : name)) {
      const std::string file = join_paths(folder, spelling);
      if (auto text = read_text(file)) return ScriptText{canonical_path(file), file, std::move(*text), true};
    }
    return std::nullopt;
  }
  const auto text = embedded_script(name);
  if (!text) return std::nullopt;
  const std::string full = has_prefix(name) ? name : std::string(kPrefix) + name;
  return ScriptText{full, full, std::string(*text), true};
}

std::optional<ScriptText> library_script_beside(const std::string& path, const std::string& from) {
  if (library_folder() != nullptr || from.empty() || from[0] == '/') return std::nullopt;
  return library_script(join_paths(parent(from), path));
}

std::vector<std::string> library_builtins() {
  std::vector<std::string> out;
  const auto offer = [&out](std::string_view file) {
    constexpr std::string_view kEnd = ".dml";
    if (file.size() > kEnd.size() && file.substr(file.size() - kEnd.size()) == kEnd)
      out.emplace_back(file.substr(0, file.size() - kEnd.size()));
  };
  if (const char* folder = library_folder()) {
    DIR* directory = opendir(join_paths(folder, "builtin").c_str());
    if (directory == nullptr) return out;
    while (const dirent* entry = readdir(directory)) offer(entry->d_name);
    closedir(directory);
    std::sort(out.begin(), out.end());
    return out;
  }
  constexpr std::string_view kBuiltin = "scripts/builtin/";
  for (const EmbeddedScript& s : embedded_scripts())
    if (s.name.substr(0, kBuiltin.size()) == kBuiltin) offer(s.name.substr(kBuiltin.size()));
  return out;
}

std::optional<ScriptText> script_file(const std::string& path, const std::string& directory, const std::string& from,
                                      const std::string& from_shown) {
  struct Base {
    std::string folder, shown;
  };
  std::vector<Base> bases{{directory, directory}};
  if (!from.empty() && from[0] == '/') {
    const std::string folder = parent(from), shown = parent(from_shown);
    if (directory[0] != '/' && directory != ".")
      bases.push_back({join_paths(folder, directory), join_paths(shown, directory)});
    bases.push_back({folder, shown});
  }
  for (const Base& base : bases)
    for (const std::string& spelling : spellings(path)) {
      const std::string file = join_paths(base.folder, spelling);
      if (auto text = read_text(file))
        return ScriptText{canonical_path(file), join_paths(base.shown, spelling), std::move(*text), false};
    }
  return std::nullopt;
}

}  // namespace hopline
