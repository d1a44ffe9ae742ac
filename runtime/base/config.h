// Every setting of a run. One row per key in config.cc: name, kind, default, help, whether it has an effect.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hopline {

// Values in effect; filled from the rows' defaults, then by each source in order of precedence (frontend/config).
struct Config {
  int64_t memory_limit = 0;          // memory.limit, bytes; 0: 70 % of RAM (cgroup limit respected)
  int threads = 0;                   // cp.parallel.threads; 0: all available
  std::string precision = "double";  // floating.point.precision
  int optlevel = 2;                  // optlevel
  std::string fusion = "all";        // fusion: all | none | comma-separated names
  std::string exactness = "reassociating";  // rewrites.exactness: exact | nan | reassociating
  std::string rewrites_off;          // rewrites.off: comma-separated names of rules and passes
  int recursion_limit = 10000;       // recursion.limit
  std::string recompute = "false";   // gpu.recompute.activations
  std::string tmpdir = "/tmp";       // localtmpdir
  Config();
};

}  // namespace hopline
