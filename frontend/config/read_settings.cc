#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pugixml.hpp>

#include "frontend/config/settings.h"
#include "runtime/base/error.h"

extern char** environ;

namespace hopline {
namespace {

constexpr size_t kLargestFile = size_t{16} << 20;  // bytes; what is larger is no configuration

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

int line_of(std::string_view text, ptrdiff_t offset) {
  const auto end = text.begin() + std::clamp<ptrdiff_t>(offset, 0, static_cast<ptrdiff_t>(text.size()));
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

[[noreturn]] void malformed(const std::string& name, int line, const std::string& what) {
  fail(ErrorKind::usage, {}, "{}:{}: {}", name, line, what);
}

// Adds the leaves below `node`; `key` is the path so far.
void flatten(const YAML::Node& node, const std::string& key, const std::string& name, std::vector<KeyValue>& out) {
  const int line = node.Mark().line + 1;
  if (node.IsMap()) {
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) malformed(name, entry.first.Mark().line + 1, "expected a name before ':'");
      const std::string& word = entry.first.Scalar();
      flatten(entry.second, key.empty() ? word : key + "." + word, name, out);
    }
    return;
  }
  KeyValue pair{key, "", line};
  if (node.IsScalar()) {
    pair.value = node.Scalar();
  } else if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) malformed(name, line, fmt::format("{}: expected a list of words", key));
      pair.value += (pair.value.empty() ? "" : ",") + item.Scalar();
    }
  }
  out.push_back(std::move(pair));
}

// The whole file; false when it is not there and `must_exist` is not set.
bool read_file(const std::string& path, bool must_exist, std::string& text) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) {
    if (!must_exist && (errno == ENOENT || errno == ENOTDIR)) return false;
    fail(ErrorKind::io, {}, "cannot read the configuration {}: {}", path, std::strerror(errno));
  }
  char buffer[16384];
  size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, file.get())) > 0) {
    text.append(buffer, got);
    if (text.size() > kLargestFile)
      fail(ErrorKind::usage, {}, "{}: configuration is too large: expected at most {} MB", path, kLargestFile >> 20);
  }
  if (std::ferror(file.get()) != 0)
    fail(ErrorKind::io, {}, "cannot read the configuration {}: {}", path, std::strerror(errno));
  return true;
}

bool is_xml(const std::string& path, std::string_view text) {
  if (path.ends_with(".xml")) return true;
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return false;
  return trim(text).starts_with('<');
}

bool apply_file(Settings& settings, const std::string& path, bool must_exist) {
  std::string text;
  if (path.empty() || !read_file(path, must_exist, text)) return false;
  settings.apply({path, true}, is_xml(path, text) ? read_xml_settings(text, path) : read_yaml_settings(text, path));
  return true;
}

std::string user_file() {
  const char* const home = std::getenv("XDG_CONFIG_HOME");
  if (home != nullptr && *home != '\0') return std::string(home) + "/hopline/hopline.yaml";
  const char* const user = std::getenv("HOME");
  return user != nullptr && *user != '\0' ? std::string(user) + "/.config/hopline/hopline.yaml" : std::string();
}

}  // namespace

std::vector<KeyValue> read_xml_settings(std::string_view text, const std::string& name) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
  if (!result) malformed(name, line_of(text, result.offset), fmt::format("malformed XML: {}", result.description()));
  std::vector<KeyValue> out;
  for (const pugi::xml_node& node : document.document_element().children()) {
    const int line = line_of(text, node.offset_debug());
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata)
      malformed(name, line, fmt::format("expected <key>value</key>, found '{}'", trim(node.value())));
    if (node.type() != pugi::node_element) continue;
    for (const pugi::xml_node& inner : node.children())
      if (inner.type() == pugi::node_element)
        malformed(name, line, fmt::format("{}: expected a value, found <{}>", node.name(), inner.name()));
    out.push_back({node.name(), std::string(trim(node.text().get())), line});
  }
  return out;
}

std::vector<KeyValue> read_yaml_settings(std::string_view text, const std::string& name) {
  std::vector<KeyValue> out;
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (root.IsNull() || !root.IsDefined()) return out;
    if (!root.IsMap()) malformed(name, 1, "expected key: value");
    flatten(root, "", name, out);
  } catch (const YAML::Exception& e) {
    malformed(name, e.mark.is_null() ? 1 : e.mark.line + 1, "malformed YAML: " + e.msg);
  }
  return out;
}

std::vector<KeyValue> read_environment_settings(const char* const* environment) {
  constexpr std::string_view kPrefix = "HOPLINE_";
  std::vector<KeyValue> out;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(kPrefix)) continue;
    const size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, equals);
    if (name == "HOPLINE_SCRIPTS") continue;  // a folder, read by the checker
    std::string key(name);                    // an unknown one is reported as it is written
    const auto same = [](char of_key, char of_name) {
      return of_name == (of_key == '.' ? '_' : of_key >= 'a' && of_key <= 'z' ? of_key - 'a' + 'A' : of_key);
    };
    const std::string_view rest = name.substr(kPrefix.size());
    for (const Setting& row : settings())
      if (std::equal(row.key.begin(), row.key.end(), rest.begin(), rest.end(), same)) key = row.key;
    out.push_back({std::move(key), std::string(entry.substr(std::min(equals + 1, entry.size()))), 0});
  }
  return out;
}

Settings load_settings(const SettingRequest& request) {
  Settings settings;
  apply_file(settings, user_file(), false);
  if (!request.config_file.empty())
    apply_file(settings, request.config_file, true);
  else if (!apply_file(settings, "SystemDS-config.xml", false))
    apply_file(settings, "SystemML-config.xml", false);
  settings.apply({"environment"}, read_environment_settings(environ));
  settings.apply({"command line"}, request.command_line);
  return settings;
}

}  // namespace hopline
