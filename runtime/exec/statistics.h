// Counts and times of a run, per operator and script line: what -stats prints.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/exec/observer.h"
#include "runtime/exec/per_thread.h"

namespace hopline {

// What a run knows of itself at its end.
struct RunTotals {
  double seconds = 0;
  int threads = 1;
  uint64_t seed = 0;                          // key of unseeded draws
  int64_t peak_memory = 0;                    // bytes
  int64_t bytes_read = 0, bytes_written = 0;  // of data files
};

// One operator at one line, or scalar code at one line.
struct Heavy {
  std::string name, place;  // "train.dml:12"
  int64_t count = 0;
  double seconds = 0;
  double flops = 0, bytes = 0;  // read and written in memory, as the operator's row says
};

std::string bytes_text(double bytes);  // "12 bytes", "1.5 MB"

class Statistics : public Observer {
 public:
  void start(std::shared_ptr<const SourceFiles> files) override { files_ = std::move(files); }
  void checked(int64_t begin, int64_t end) override { checking_ += end - begin; }
  void executed(const Executed& done) override;
  void scalar_code(const Span& span, int64_t begin, int64_t end) override;
  void planned(const Plan& plan, const Span& span, int64_t begin, int64_t end) override;
  void reused(const Plan& plan) override;

  // After the run. Heaviest first; threads add up.
  std::vector<Heavy> heaviest() const;
  // The report with the `rows` heaviest operators; names longer than `width` characters are wrapped.
  std::string text(const RunTotals& totals, size_t rows, int width) const;

 private:
  struct Key {
    const Op* op;  // null: scalar code
    uint32_t file, begin;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      return (reinterpret_cast<uintptr_t>(k.op) ^ (uint64_t{k.file} << 40 | k.begin)) * 0x9E3779B97F4A7C15u >> 16;
    }
  };
  struct Sum {
    int64_t count = 0, nanoseconds = 0;
    double flops = 0, bytes = 0;
  };
  struct Table {
    std::unordered_map<Key, Sum, Hash> sums;
    int64_t reused = 0;
  };
  PerThread<Table> tables_;
  std::shared_ptr<const SourceFiles> files_;
  std::atomic<int64_t> checking_{0}, planning_{0}, plans_{0}, generic_{0};
};

}  // namespace hopline
