// Bytes being formatted, in memory of the run.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/base/format_number.h"
#include "runtime/memory/memory.h"

namespace hopline {

class TextBuffer {
 public:
  explicit TextBuffer(Memory& memory) : memory_(memory) {}
  std::span<const char> bytes() const { return {begin_, static_cast<size_t>(end_ - begin_)}; }

  // n bytes to be filled by the caller.
  char* room(size_t n) {
    reserve(n);
    end_ += n;
    return end_ - n;
  }
  void append(char c) { reserve(1), *end_++ = c; }
  void append(std::string_view text) {
    reserve(text.size());
    std::memcpy(end_, text.data(), text.size());
    end_ += text.size();
  }
  void append(int64_t n) {
    reserve(24);
    end_ = std::to_chars(end_, end_ + 24, n).ptr;
  }
  template <class T>
  void append_number(T v) {
    reserve(kDoubleText);
    end_ = format_double(end_, v);
  }

 private:
  static constexpr size_t kLeast = 1 << 18;
  void reserve(size_t n) {
    if (static_cast<size_t>(limit_ - end_) < n) grow(n);
  }
  void grow(size_t n) {
    const auto used = static_cast<size_t>(end_ - begin_);
    Buffer larger = memory_.allocate(std::max({2 * bytes_.bytes(), used + n, kLeast}));
    if (used != 0) std::memcpy(larger.as<char>(), begin_, used);
    bytes_ = std::move(larger);
    begin_ = bytes_.as<char>(), end_ = begin_ + used, limit_ = begin_ + bytes_.bytes();
  }
  Memory& memory_;
  Buffer bytes_;
  char *begin_ = nullptr, *end_ = nullptr, *limit_ = nullptr;
};

}  // namespace hopline
