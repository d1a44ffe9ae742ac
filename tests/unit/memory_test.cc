#include "runtime/memory/memory.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/base/error.h"

namespace hopline {

TEST(Memory, AlignsAndRecyclesBySize) {
  Memory memory(int64_t{1} << 30);
  for (size_t bytes = 0; bytes < (size_t{8} << 20); bytes = bytes * 3 / 2 + 1) {
    Buffer b = memory.allocate(bytes);
    ASSERT_GE(b.bytes(), bytes);
    ASSERT_LE(b.bytes(), std::max<size_t>(64, bytes + bytes / 4 + 16));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(b.as<char>()) % 64, 0u);
    std::memset(b.as<char>(), 1, b.bytes());
    EXPECT_EQ(memory.counters().live, static_cast<int64_t>(b.bytes()));
  }
  EXPECT_EQ(memory.counters().live, 0);
  const auto fresh = memory.counters().fresh;
  void* first = nullptr;
  {
    const Buffer b = memory.allocate(5 << 20);
    first = const_cast<char*>(b.as<char>());
  }
  const int64_t before = memory.counters().recycled;
  EXPECT_EQ(memory.allocate(5 << 20).as<char>(), first);
  EXPECT_EQ(memory.counters().recycled, before + 1);
  EXPECT_LE(memory.counters().fresh, fresh + 1);
}

TEST(Memory, KeepsTheLimitAndThePeak) {
  Memory memory(1 << 20);
  {
    const Buffer a = memory.allocate(600 << 10);
    EXPECT_THROW(memory.allocate(600 << 10), Error);
    EXPECT_GE(memory.counters().peak, 600 << 10);
  }
  const Buffer b = memory.allocate(1 << 20);
  EXPECT_EQ(memory.counters().live, 1 << 20);
  try {
    memory.allocate(size_t{1} << 60);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::resource);
  }
}

TEST(Memory, KeptBuffersMakeRoomForOtherSizes) {
  Memory memory(16 << 20);
  { const Buffer a = memory.allocate(10 << 20); }
  const Buffer b = memory.allocate(3 << 20);
  const Buffer c = memory.allocate(12 << 20);
  EXPECT_NE(c.as<char>(), nullptr);
}

}  // namespace hopline
