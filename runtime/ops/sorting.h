// Stable parallel sorting of numbers: what order, unique, table and the quantiles share.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>

#include "runtime/ops/call.h"
#include "runtime/ops/column.h"

namespace hopline {

// Unsigned keys that sort as the numbers do: -0 equals 0, every NaN is the same and comes last.
constexpr uint64_t kNanKey = ~uint64_t{0};
constexpr uint64_t kSignBit = uint64_t{1} << 63;
inline uint64_t ascending_key(double v) {
  const auto bits = std::bit_cast<uint64_t>(v + 0.0);
  return v == v ? bits ^ ((0 - (bits >> 63)) | kSignBit) : kNanKey;
}
// Largest first, NaN still last.
inline uint64_t descending_key(double v) { return v == v ? ~ascending_key(v) : kNanKey; }
inline double number_of_ascending(uint64_t key) {
  return key == kNanKey ? std::numeric_limits<double>::quiet_NaN()
                        : std::bit_cast<double>(key ^ (((key >> 63) - 1) | kSignBit));
}
inline double number_of_descending(uint64_t key) { return number_of_ascending(key == kNanKey ? key : ~key); }

struct Key {
  uint64_t key;
};
struct KeyedRow {
  uint64_t key;
  uint64_t row;
};

// Where the keys of n entries come from. Read more than once, by several threads.
class KeySource {
 public:
  static constexpr int64_t kTile = 1024;
  virtual ~KeySource() = default;
  // Keys of entries [begin, end), at most kTile.
  virtual void read(int64_t begin, int64_t end, uint64_t* keys) const = 0;
};

// The keys of one column.
class ColumnKeys final : public KeySource {
 public:
  ColumnKeys(const Column& column, bool decreasing) : column_(column), decreasing_(decreasing) {}
  void read(int64_t begin, int64_t end, uint64_t* keys) const override;
  // Has any key that was read come from -0?
  bool minus_zero() const { return minus_zero_; }

 private:
  Column column_;
  bool decreasing_;
  mutable std::atomic<bool> minus_zero_{false};
};

// Called once for each range of sorted entries, by the thread that sorted them, while they are in its cache.
using SortedRange = std::function<void(int64_t begin, int64_t end)>;

// Sorts the n keys of `source` into `out`; scratch: two buckets per thread (n in all when nearly all keys differ by
// less than a sample can see).
void sort_keys(const Call& call, const KeySource& source, int64_t n, Key* out, const SortedRange& sorted);
// The same with the number of each entry beside its key; equal keys keep their order.
void sort_rows(const Call& call, const KeySource& source, int64_t n, KeyedRow* out, const SortedRange& sorted);
// Sorts entries in place, stably by key, on this thread. `scratch` may grow to n entries.
void sort_in_place(Context& ctx, KeyedRow* entries, int64_t n, Buffer& scratch);

}  // namespace hopline
