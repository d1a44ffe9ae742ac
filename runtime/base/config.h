// Every setting of a run. One row per key in config_rows.cc: key, kind, default, help, and what of Config it sets.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace hopline {

// Values in effect; filled from the rows' defaults, then by each source in order of precedence (frontend/config).
struct Config {
  int64_t memory_limit;      // memory.limit, bytes; 0: 70 % of RAM (cgroup limit respected)
  int threads;               // cp.parallel.threads; 0: all available
  bool parallel_operators;   // cp.parallel.ops; false: operators take one thread
  bool parallel_io;          // cp.parallel.io; false: readers and writers take one thread
  std::string precision;     // floating.point.precision: double | single
  int optlevel;              // optlevel
  std::string fusion;        // fusion: all | none | comma-separated names
  std::string exactness;     // rewrites.exactness: exact | nan | reassociating
  std::string rewrites_off;  // rewrites.off: all, or comma-separated names of rules and passes
  bool force_sparse;         // force.sparse: every matrix that may be sparse is
  bool scalar_programs;      // scalar.programs: loops and functions over scalars run as register programs
  int recursion_limit;       // recursion.limit, calls
  std::string tmpdir;        // localtmpdir
  int stats_name_width;      // stats.maxWrapLength, characters

  std::string gpu_devices;    // gpu.availableGPUs: -1 | n | a-b | list
  bool gpu_sync;              // gpu.sync.postProcess
  bool gpu_eager_free;        // gpu.eager.cudaFree
  std::string gpu_eviction;   // gpu.eviction.policy: auto | lru | mru | lfu | min_evict | align_memory
  double gpu_memory_share;    // gpu.memory.util.factor, share of the free device memory
  std::string gpu_allocator;  // gpu.memory.allocator: cuda | unified_memory
  bool gpu_print_memory;      // gpu.print.memoryInfo
  std::string recompute;      // gpu.recompute.activations: false | true | auto

  Config();
};

// What a key's text may be. Words and booleans are read in any letter case.
enum class SettingKind : uint8_t { boolean, integer, bytes, real, word, text };

// The part of Config that a key sets; monostate: the key is accepted without effect.
using SettingField = std::variant<std::monostate, bool Config::*, int Config::*, int64_t Config::*, double Config::*,
                                  std::string Config::*>;

struct Setting {
  std::string_view key;  // without sysds. / sysml. / hopline.
  SettingKind kind;
  std::string_view default_text;
  std::string_view
      domain;  // word: "double|single"; integer, real: "0..7", "1.." or empty; bytes and text: a unit or example
  std::string_view help;  // one line
  SettingField field = {};
  bool has_effect() const { return field.index() != 0; }
};

std::span<const Setting> settings();

// The row of a key given with or without prefix; null when there is none.
const Setting* find_setting(std::string_view key);

// `text` written into `config`. Returns an empty string, or what was expected, for a message. Keys without effect take
// any text.
std::string apply_setting(Config& config, const Setting& setting, std::string_view text);

// "1048576", "512MB", "16 GB", "1.5g": bytes, powers of 1024. -1 when it is none.
int64_t parse_bytes(std::string_view text);

}  // namespace hopline
