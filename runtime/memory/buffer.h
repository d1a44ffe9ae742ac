// Bytes for matrix cells: 64-byte aligned, recycled by size class, counted against a budget.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

namespace hopline {

class Memory;

// Owns bytes that came from a Memory; gives them back when it goes. Contents start undefined.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        memory_(std::exchange(other.memory_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_), std::swap(bytes_, other.bytes_), std::swap(memory_, other.memory_);
    return *this;
  }
  ~Buffer();
  size_t bytes() const { return bytes_; }
  bool empty() const { return data_ == nullptr; }
  template <class T>
  T* as() {
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }

 private:
  friend class Memory;
  Buffer(void* data, size_t bytes, Memory* memory) : data_(data), bytes_(bytes), memory_(memory) {}
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Memory* memory_ = nullptr;
};

}  // namespace hopline
