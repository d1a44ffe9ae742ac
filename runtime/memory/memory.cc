#include "runtime/memory/memory.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>

#include "runtime/base/error.h"

namespace hopline {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHuge = size_t{2} << 20;       // from here on huge pages are asked for
constexpr size_t kMostKept = size_t{4} << 30;   // kept buffers beyond this many bytes go back to the system at once
constexpr size_t kMostBytes = size_t{1} << 50;  // no system has more

// Four classes per power of two: at most a quarter is wasted.
size_t class_of(size_t bytes) {
  if (bytes <= 64) return 0;
  const size_t power = std::bit_width(bytes - 1) - 1;
  return (power - 5) * 4 + ((bytes - 1) >> (power - 2) & 3) - 3;
}

size_t class_bytes(size_t c) {
  if (c == 0) return 64;
  const size_t power = (c + 3) / 4 + 5, quarter = (c + 3) % 4;
  return (size_t{1} << power) + ((quarter + 1) << (power - 2));
}

// Buffers of up to kSmall bytes come from malloc, which is faster than any lock. The pointer that malloc gave stands
// just before the aligned data.
constexpr size_t kSmall = 896;

void* small_allocate(size_t bytes) {
  auto* base = static_cast<char*>(std::malloc(bytes + kAlignment));
  if (base == nullptr) return nullptr;
  auto* data = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(base) / kAlignment + 1) * kAlignment);
  reinterpret_cast<void**>(data)[-1] = base;
  return data;
}

void small_free(void* data) { std::free(static_cast<void**>(data)[-1]); }

size_t mapped_bytes(size_t bytes) { return (bytes + kHuge - 1) / kHuge * kHuge; }

// Whole huge pages, mapped for this buffer alone.
void* map_pages(size_t bytes) {
  const size_t whole = mapped_bytes(bytes);
  void* area = mmap(nullptr, whole + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return nullptr;
  const auto base = reinterpret_cast<uintptr_t>(area), begin = (base + kHuge - 1) / kHuge * kHuge;
  if (begin > base) munmap(area, begin - base);
  if (const size_t rest = base + kHuge - begin; rest > 0) munmap(reinterpret_cast<void*>(begin + whole), rest);
  void* data = reinterpret_cast<void*>(begin);
  madvise(data, whole, MADV_HUGEPAGE);
  return data;
}

void* system_allocate(size_t bytes) {
  if (bytes <= kSmall) return small_allocate(bytes);
  if (bytes >= kHuge) return map_pages(bytes);
  return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

void system_free(void* data, size_t bytes) {
  if (bytes <= kSmall)
    small_free(data);
  else if (bytes >= kHuge)
    munmap(data, mapped_bytes(bytes));
  else
    std::free(data);
}

}  // namespace

Memory::Memory(int64_t limit_bytes) : limit_(limit_bytes) {}

Memory::~Memory() { trim(); }

Buffer Memory::allocate(size_t bytes) {
  if (bytes > kMostBytes)
    fail(ErrorKind::resource, {}, "out of memory: too large for any machine, found {} bytes", bytes);
  const size_t c = class_of(bytes), whole = class_bytes(c);
  const int64_t live =
      live_.fetch_add(static_cast<int64_t>(whole), std::memory_order_relaxed) + static_cast<int64_t>(whole);
  if (live > limit_) {
    live_.fetch_sub(static_cast<int64_t>(whole), std::memory_order_relaxed);
    fail(ErrorKind::resource, {}, "out of memory: {} bytes more than the {} in use exceed the limit of {}", bytes,
         live - static_cast<int64_t>(whole), limit_.load());
  }
  for (int64_t peak = peak_; live > peak && !peak_.compare_exchange_weak(peak, live);) {
  }
  if (whole > kSmall) {
    Class& k = classes_[c];
    const std::lock_guard lock(k.mutex);
    if (!k.kept.empty()) {
      void* data = k.kept.back();
      k.kept.pop_back();
      kept_.fetch_sub(static_cast<int64_t>(whole), std::memory_order_relaxed);
      recycled_.fetch_add(1, std::memory_order_relaxed);
      return {data, whole, this};
    }
  }
  if (whole > kSmall && live + kept_ > limit_) trim();
  void* data = system_allocate(whole);
  if (data == nullptr) {
    trim();
    data = system_allocate(whole);
  }
  if (data == nullptr) {
    live_.fetch_sub(static_cast<int64_t>(whole), std::memory_order_relaxed);
    fail(ErrorKind::resource, {}, "out of memory: the system refused {} bytes", whole);
  }
  fresh_.fetch_add(1, std::memory_order_relaxed);
  return {data, whole, this};
}

void Memory::release(void* data, size_t bytes) {
  live_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  if (bytes <= kSmall || static_cast<size_t>(kept_.load(std::memory_order_relaxed)) + bytes > kMostKept)
    return system_free(data, bytes);
  Class& k = classes_[class_of(bytes)];
  const std::lock_guard lock(k.mutex);
  k.kept.push_back(data);
  kept_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

void Memory::trim() {
  for (size_t c = 0; c < kClasses; ++c) {
    const std::lock_guard lock(classes_[c].mutex);
    if (classes_[c].kept.empty()) continue;
    for (void* data : classes_[c].kept) system_free(data, class_bytes(c));
    kept_.fetch_sub(static_cast<int64_t>(classes_[c].kept.size() * class_bytes(c)), std::memory_order_relaxed);
    classes_[c].kept.clear();
  }
}

MemoryCounters Memory::counters() const { return {live_, peak_, recycled_, fresh_}; }

Buffer::~Buffer() {
  if (data_ != nullptr) memory_->release(data_, bytes_);
}

}  // namespace hopline
