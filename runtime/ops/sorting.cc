// Sample sort: a sorted sample gives splitters, one pass counts the entries between them, one scatters, then each
// bucket is sorted while it lies in a core's cache. Keys that are frequent get a bucket of their own, which needs no
// sorting.
#include "runtime/ops/sorting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/sorting_simd.h"

namespace hopline {

namespace {

constexpr int64_t kInsertion = 16;   // entries that insertion sort takes
constexpr int64_t kMostBins = 2048;  // of one step of sort_bucket
constexpr int64_t kBucket = 4096;    // entries per bucket that sort_large aims at
constexpr int64_t kMostBuckets = 4096;
constexpr int64_t kOversample = 16;  // sampled keys per splitter

template <class Entry>
struct Scratch {
  Context& ctx;
  Buffer& buffer;
  Entry* need(int64_t n) {
    const size_t bytes = static_cast<size_t>(n) * sizeof(Entry);
    if (buffer.bytes() < bytes) {
      buffer = Buffer();
      buffer = ctx.memory.allocate(bytes);
    }
    return buffer.as<Entry>();
  }
};

template <class Entry>
void insertion_sort(Entry* a, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Entry e = a[i];
    int64_t k = i;
    for (; k > 0 && a[k - 1].key > e.key; --k) a[k] = a[k - 1];
    a[k] = e;
  }
}

// Distributes by the bits in which the keys differ, then sorts each bin. A step takes at least 2 bits off the range, so
// the depth is at most 32.
template <class Entry>
void sort_bucket(Entry* a, int64_t n, Scratch<Entry>& scratch) {
  if (n <= kInsertion) return insertion_sort(a, n);
  uint64_t low = a[0].key, high = low;
  bool sorted = true;
  for (int64_t i = 1; i < n; ++i) {
    sorted &= a[i - 1].key <= a[i].key;
    low = std::min(low, a[i].key), high = std::max(high, a[i].key);
  }
  if (sorted) return;
  const auto bins = static_cast<uint64_t>(
      std::min<int64_t>(kMostBins, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n)) / 2)));
  int shift = 0;
  while ((high - low) >> shift >= bins) ++shift;
  std::array<int64_t, kMostBins + 1> starts;
  std::fill_n(starts.begin(), bins + 1, 0);
  for (int64_t i = 0; i < n; ++i) ++starts[(a[i].key - low) >> shift];
  int64_t sum = 0;
  for (uint64_t b = 0; b < bins; ++b) sum += std::exchange(starts[b], sum);
  Entry* temp = scratch.need(n);
  for (int64_t i = 0; i < n; ++i) temp[starts[(a[i].key - low) >> shift]++] = a[i];
  std::memcpy(a, temp, static_cast<size_t>(n) * sizeof(Entry));
  if (shift == 0) return;
  for (uint64_t b = 0; b < bins; ++b) {  // starts[b] is now the end of bin b
    const int64_t begin = b == 0 ? 0 : starts[b - 1], size = starts[b] - begin;
    if (size > 1) sort_bucket(a + begin, size, scratch);
  }
}

// Which bucket a key belongs to: the number of splitters that are not above it.
class SplitterTree {
 public:
  // `sample` is sorted; about `wanted` (a power of two) buckets.
  SplitterTree(const std::vector<Key>& sample, int64_t wanted) {
    std::vector<uint64_t> chosen;
    const auto size = static_cast<int64_t>(sample.size());
    uint64_t previous = 0;
    for (int64_t i = 1; i < wanted; ++i) {
      const uint64_t key = sample[static_cast<size_t>(i * size / wanted)].key;
      const bool repeated = i > 1 && key == previous;
      previous = key;
      if (chosen.empty() || key > chosen.back()) chosen.push_back(key);
      if (repeated && key != kNanKey && chosen.back() == key) chosen.push_back(key + 1);  // a bucket for this key alone
    }
    buckets_ = std::bit_ceil(chosen.size() + 1);
    levels_ = std::bit_width(buckets_) - 1;
    chosen.resize(buckets_ - 1, kNanKey);
    tree_.resize(buckets_);
    for (size_t k = 1; k < buckets_; ++k) {  // node k of the implicit search tree is the middle of its range
      const auto level = static_cast<size_t>(std::bit_width(k) - 1);
      const size_t span = buckets_ >> level;
      tree_[k] = chosen[(k - (size_t{1} << level)) * span + span / 2 - 1];
    }
  }
  int64_t buckets() const { return static_cast<int64_t>(buckets_); }
  void find(const uint64_t* keys, int64_t n, uint16_t* bucket) const {
    constexpr int64_t kLanes = 8;
    const uint64_t* tree = tree_.data();
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      uint64_t at[kLanes] = {1, 1, 1, 1, 1, 1, 1, 1};
      for (int l = 0; l < levels_; ++l)
        for (int64_t k = 0; k < kLanes; ++k) at[k] = 2 * at[k] + (tree[at[k]] <= keys[i + k]);
      for (int64_t k = 0; k < kLanes; ++k) bucket[i + k] = static_cast<uint16_t>(at[k] - buckets_);
    }
    for (; i < n; ++i) {
      uint64_t at = 1;
      for (int l = 0; l < levels_; ++l) at = 2 * at + (tree[at] <= keys[i]);
      bucket[i] = static_cast<uint16_t>(at - buckets_);
    }
  }

 private:
  size_t buckets_ = 1;
  int levels_ = 0;
  std::vector<uint64_t> tree_;
};

// The same by arithmetic: the key (or the number that it stands for) is scaled to one of many bins, and a table tells
// the bin's bucket. Three times as fast as the tree; balanced only where the numbers spread evenly enough.
class Bins {
 public:
  enum class Scale : uint8_t { number, key };

  Bins(const std::vector<Key>& sample, Scale scale) : scale_(scale) {
    low_ = place(sample.front().key);
    size_t last = sample.size() - 1;
    while (last > 0 && sample[last].key == kNanKey) --last;
    const double high = place(sample[last].key);
    factor_ = (kBins - 1) / (high - low_);
    if (!(high > low_) || !std::isfinite(factor_)) return;
    std::array<int32_t, kBins> counts{};
    std::array<int32_t, kBlock> bins;
    for (size_t i = 0; i < sample.size(); i += kBlock) {
      std::array<uint64_t, kBlock> keys;
      const size_t size = std::min(kBlock, sample.size() - i);
      for (size_t k = 0; k < size; ++k) keys[k] = sample[i + k].key;
      find_bins(keys.data(), static_cast<int64_t>(size), bins.data());
      for (size_t k = 0; k < size; ++k) ++counts[static_cast<size_t>(bins[k])];
    }
    balanced_ = *std::max_element(counts.begin(), counts.end()) <= 4 * kOversample;
    int64_t filled = 0;
    for (int64_t b = 0; b < kBins; ++b) {
      if (filled + counts[b] > kOversample && filled > 0) ++buckets_, filled = 0;
      filled += counts[b];
      bucket_of_[b] = static_cast<uint16_t>(buckets_ - 1);
    }
  }
  bool balanced() const { return balanced_; }
  int64_t buckets() const { return buckets_; }
  void find(const uint64_t* keys, int64_t n, uint16_t* bucket) const {
    std::array<int32_t, KeySource::kTile> bins;
    find_bins(keys, n, bins.data());
    for (int64_t i = 0; i < n; ++i) bucket[i] = bucket_of_[static_cast<size_t>(bins[static_cast<size_t>(i)])];
  }

 private:
  static constexpr int kBins = 1 << 13;
  static constexpr size_t kBlock = 256;

  double place(uint64_t key) const {
    if (scale_ == Scale::key) return static_cast<double>(static_cast<int64_t>(key ^ kSignBit));
    return std::bit_cast<double>(key ^ (((key >> 63) - 1) | kSignBit));
  }
  void find_bins(const uint64_t* keys, int64_t n, int32_t* bins) const {
    if (scale_ == Scale::number) return sorting::find_bins(keys, n, low_, factor_, kBins - 1, bins);
    for (int64_t i = 0; i < n; ++i)
      bins[i] =
          static_cast<int32_t>(std::clamp((place(keys[i]) - low_) * factor_, 0.0, static_cast<double>(kBins - 1)));
  }
  Scale scale_;
  bool balanced_ = false;
  double low_ = 0, factor_ = 0;
  int64_t buckets_ = 1;
  std::array<uint16_t, kBins> bucket_of_{};
};

// The fastest of the two that cuts the sample evenly.
class Splitters {
 public:
  Splitters(const std::vector<Key>& sample, int64_t wanted) : bins_(sample, Bins::Scale::number) {
    if (!bins_.balanced()) bins_ = Bins(sample, Bins::Scale::key);
    if (!bins_.balanced()) tree_.emplace(sample, wanted);
  }
  int64_t buckets() const { return tree_ ? tree_->buckets() : bins_.buckets(); }
  void find(const uint64_t* keys, int64_t n, uint16_t* bucket) const {
    if (tree_)
      tree_->find(keys, n, bucket);
    else
      bins_.find(keys, n, bucket);
  }

 private:
  Bins bins_;
  std::optional<SplitterTree> tree_;
};

template <class Entry>
Entry entry_of(uint64_t key, int64_t row) {
  if constexpr (sizeof(Entry) == sizeof(KeyedRow))
    return {key, static_cast<uint64_t>(row)};
  else
    return {key};
}

// Keys at places that depend on n alone; scattered, so that no period of the data hides from them.
std::vector<Key> take_sample(Context& ctx, const KeySource& source, int64_t n, int64_t size) {
  std::vector<Key> sample(static_cast<size_t>(size));
  const int64_t stride = n / size;
  for (int64_t i = 0; i < size; ++i) {
    const uint64_t jump = static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15 >> 32;
    const int64_t at = i * stride + static_cast<int64_t>(jump % static_cast<uint64_t>(stride));
    source.read(at, at + 1, &sample[static_cast<size_t>(i)].key);
  }
  Buffer buffer;
  Scratch<Key> scratch{ctx, buffer};
  sort_bucket(sample.data(), size, scratch);
  return sample;
}

void poll(const Call& call) {
  if (call.ctx.session != nullptr) call.ctx.session->poll(call.span);
}

// body(begin, end, keys) for tiles of rows [begin, end).
template <class F>
void each_tile(const KeySource& source, int64_t begin, int64_t end, const F& body) {
  std::array<uint64_t, KeySource::kTile> keys;
  for (int64_t i = begin; i < end; i += KeySource::kTile) {
    const int64_t stop = std::min(end, i + KeySource::kTile);
    source.read(i, stop, keys.data());
    body(i, stop - i, keys.data());
  }
}

template <class Entry>
struct LargeSort {
  const Call& call;
  const KeySource& source;
  int64_t n;
  Entry* out;
  Splitters splitters;
  int64_t grain;  // rows per chunk of the passes
  int64_t buckets, chunks;
  std::vector<int64_t> places;  // chunks x buckets: counts, then where the chunk's next entry of the bucket goes
  std::vector<int64_t> ends;    // of buckets in out

  LargeSort(const Call& c, const KeySource& s, int64_t rows, Entry* o, int64_t wanted)
      : call(c), source(s), n(rows), out(o), splitters(take_sample(c.ctx, s, rows, wanted * kOversample), wanted) {
    grain = std::max<int64_t>(int64_t{1} << 16, (n + 127) / 128);
    buckets = splitters.buckets();
    chunks = (n + grain - 1) / grain;
    places.assign(static_cast<size_t>(chunks * buckets), 0);
    ends.resize(static_cast<size_t>(buckets));
  }

  void count() {
    parallel_chunks(n, grain, call.ctx.threads, [&](int64_t begin, int64_t end) {
      poll(call);
      int64_t* mine = &places[static_cast<size_t>(begin / grain * buckets)];
      each_tile(source, begin, end, [&](int64_t, int64_t size, const uint64_t* keys) {
        std::array<uint16_t, KeySource::kTile> bucket;
        splitters.find(keys, size, bucket.data());
        for (int64_t k = 0; k < size; ++k) ++mine[bucket[static_cast<size_t>(k)]];
      });
    });
    int64_t sum = 0;
    for (int64_t b = 0; b < buckets; ++b) {
      for (int64_t c = 0; c < chunks; ++c) sum += std::exchange(places[static_cast<size_t>(c * buckets + b)], sum);
      ends[static_cast<size_t>(b)] = sum;
    }
  }

  void scatter() {
    parallel_chunks(n, grain, call.ctx.threads, [&](int64_t begin, int64_t end) {
      poll(call);
      int64_t* mine = &places[static_cast<size_t>(begin / grain * buckets)];
      each_tile(source, begin, end, [&](int64_t row, int64_t size, const uint64_t* keys) {
        std::array<uint16_t, KeySource::kTile> bucket;
        splitters.find(keys, size, bucket.data());
        for (int64_t k = 0; k < size; ++k)
          out[mine[bucket[static_cast<size_t>(k)]]++] = entry_of<Entry>(keys[k], row + k);
      });
    });
  }

  void sort_buckets(const SortedRange& sorted) {
    const int64_t group = std::max<int64_t>(1, buckets / 128);
    parallel_chunks(buckets, group, call.ctx.threads, [&](int64_t begin, int64_t end) {
      poll(call);
      Buffer buffer;
      Scratch<Entry> scratch{call.ctx, buffer};
      for (int64_t b = begin; b < end; ++b) {
        const int64_t from = b == 0 ? 0 : ends[static_cast<size_t>(b - 1)], to = ends[static_cast<size_t>(b)];
        sort_bucket(out + from, to - from, scratch);
        if (sorted && to > from) sorted(from, to);
      }
    });
  }
};

template <class Entry>
void sort_entries(const Call& call, const KeySource& source, int64_t n, Entry* out, const SortedRange& sorted) {
  if (n < 4 * kBucket) {
    each_tile(source, 0, n, [&](int64_t row, int64_t size, const uint64_t* keys) {
      for (int64_t k = 0; k < size; ++k) out[row + k] = entry_of<Entry>(keys[k], row + k);
    });
    Buffer buffer;
    Scratch<Entry> scratch{call.ctx, buffer};
    sort_bucket(out, n, scratch);
    if (sorted && n > 0) sorted(0, n);
    return;
  }
  const auto wanted = std::bit_floor(static_cast<uint64_t>(std::min(n / kBucket, kMostBuckets)));
  LargeSort<Entry> sort(call, source, n, out, static_cast<int64_t>(wanted));
  sort.count();
  sort.scatter();
  sort.sort_buckets(sorted);
}

}  // namespace

void ColumnKeys::read(int64_t begin, int64_t end, uint64_t* keys) const {
  double tile[kTile];
  const double* v = column_.read(begin, end, tile);
  if (sorting::write_keys(v, end - begin, decreasing_, keys)) minus_zero_.store(true, std::memory_order_relaxed);
}

void sort_keys(const Call& call, const KeySource& source, int64_t n, Key* out, const SortedRange& sorted) {
  sort_entries(call, source, n, out, sorted);
}

void sort_rows(const Call& call, const KeySource& source, int64_t n, KeyedRow* out, const SortedRange& sorted) {
  sort_entries(call, source, n, out, sorted);
}

void sort_in_place(Context& ctx, KeyedRow* entries, int64_t n, Buffer& scratch) {
  Scratch<KeyedRow> grows{ctx, scratch};
  sort_bucket(entries, n, grows);
}

}  // namespace hopline
