// The settings of a run with where each came from: files, environment and command line, checked and in order of
// precedence.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/config.h"

namespace hopline {

// One "key = value" as a source gives it.
struct KeyValue {
  std::string key, value;
  int line = 0;  // in a file, or 0
};

// How the messages name where a key was given, and whether it may give a key again.
struct SettingSource {
  std::string name;      // "hopline.yaml", "environment", "command line"
  bool is_file = false;  // a key given twice with different values is an error
};

class Settings {
 public:
  Settings();

  // Takes over what one source says; call in order of precedence, lowest first. Throws Error{usage} on an unknown key
  // (with the nearest known one), a value of the wrong form, and one key under two prefixes with different values.
  void apply(const SettingSource& source, const std::vector<KeyValue>& pairs);

  const Config& config() const { return config_; }
  // Keys that were set and have no effect, as they were written, in order and once each.
  std::vector<std::string> without_effect() const;
  // "hopline.key: value  # origin" per key that has an effect or was set, or per key at all.
  std::string print(bool all) const;

 private:
  struct Value {
    std::string text, key, origin;  // key: as written
  };
  void set(const SettingSource& source, const KeyValue& pair,
           std::map<std::string, const KeyValue*, std::less<>>& given);

  Config config_;
  std::vector<Value> values_;         // one per row of settings()
  std::vector<std::string> foreign_;  // mapred.* and mapreduce.*
};

// What a run is told about its settings, besides the environment and the usual files.
struct SettingRequest {
  std::string config_file;             // of -config; empty: ./SystemDS-config.xml or ./SystemML-config.xml, if there
  std::vector<KeyValue> command_line;  // of --set and of options that stand for a key
};

// Reads every source in order: defaults, user file, config file, environment, command line. Throws Error{usage} as
// above and Error{io} for a file that was named and cannot be read.
Settings load_settings(const SettingRequest& request);

// The pairs of a text; `name` is for messages. Throw Error{usage} with the line where the text is malformed.
std::vector<KeyValue> read_xml_settings(std::string_view text, const std::string& name);
std::vector<KeyValue> read_yaml_settings(std::string_view text, const std::string& name);
// HOPLINE_GPU_MEMORY_UTIL_FACTOR=0.5 -> gpu.memory.util.factor. `environment`: null-terminated list of "NAME=value".
std::vector<KeyValue> read_environment_settings(const char* const* environment);

// conf/hopline.yaml and conf/hopline-config.xml: every key with its default and a comment.
std::string write_yaml_settings();
std::string write_xml_settings();

// Help on one key for the terminal, or empty when there is no such key.
std::string describe_setting(std::string_view key);

}  // namespace hopline
