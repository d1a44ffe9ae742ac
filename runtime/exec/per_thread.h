// One T per thread that asks; the owner reads them all when the threads are done.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace hopline {

template <class T>
class PerThread {
 public:
  // The caller's own. It stays where it is as long as this lives.
  T& mine() {
    thread_local Last last;
    if (last.owner == number_) return *last.own;
    const std::lock_guard lock(mutex_);
    T*& own = by_thread_[std::this_thread::get_id()];
    if (own == nullptr) own = &all_.emplace_back();
    last = {number_, own};
    return *own;
  }
  // In the order in which the threads came. No thread may be in its own meanwhile.
  template <class F>
  void for_each(const F& f) const {
    const std::lock_guard lock(mutex_);
    for (const T& t : all_) f(t);
  }
  template <class F>
  void for_each(const F& f) {
    const std::lock_guard lock(mutex_);
    for (T& t : all_) f(t);
  }

 private:
  struct Last {
    uint64_t owner = 0;
    T* own = nullptr;
  };
  static uint64_t next_number() {
    static std::atomic<uint64_t> last{0};
    return ++last;
  }
  const uint64_t number_ = next_number();  // an address could come again
  mutable std::mutex mutex_;
  std::deque<T> all_;
  std::map<std::thread::id, T*> by_thread_;
};

}  // namespace hopline
