// The memory of an engine: recycles buffers and keeps live bytes, scratch included, within a limit.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/memory/buffer.h"

namespace hopline {

struct MemoryCounters {
  int64_t live = 0;      // bytes in use now
  int64_t peak = 0;      // most bytes in use at one time
  int64_t recycled = 0;  // allocations served from kept buffers
  int64_t fresh = 0;     // allocations served by the system
};

// Thread-safe. Outlives every Buffer that it handed out.
class Memory {
 public:
  explicit Memory(int64_t limit_bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Contents undefined. Throws Error{resource} when the limit or the system forbids it.
  Buffer allocate(size_t bytes);
  MemoryCounters counters() const;
  int64_t limit() const { return limit_; }
  void set_limit(int64_t bytes) { limit_ = bytes; }
  // Gives kept buffers back to the system.
  void trim();

 private:
  friend class Buffer;
  void release(void* data, size_t bytes);
  static constexpr int kClasses = 256;
  struct Class {
    std::mutex mutex;
    std::vector<void*> kept;
  };
  std::atomic<int64_t> limit_;
  std::atomic<int64_t> live_{0}, peak_{0}, kept_{0}, recycled_{0}, fresh_{0};
  std::array<Class, kClasses> classes_;
};

}  // namespace hopline
