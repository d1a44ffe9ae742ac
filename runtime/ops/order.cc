// order(): rows sorted by one or more columns.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/column.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/sorting.h"

namespace hopline {

namespace {

constexpr size_t kTarget = 0, kBy = 1, kDecreasing = 2, kIndexReturn = 3;
constexpr int64_t kGrain = 1 << 15;         // rows per task of simple passes
constexpr int64_t kLargeGroup = 1 << 17;    // rows of equal keys that are worth all threads
constexpr uint64_t kGroupStart = kSignBit;  // in KeyedRow::row: the first of a run of equal keys
constexpr int64_t kMostCodes = 4096;        // distinct integers that a counting sort takes
constexpr int64_t kCountingRows = 1 << 14;  // rows from which it pays

void check_column(const InferCall& infer, double by, int64_t cols) {
  if (!(by >= 1) || (cols >= 0 && to_integer(by) > cols))
    infer.fail("order: by names no column: expected 1 to {}, found {}", cols < 0 ? "?" : std::to_string(cols), by);
}

void infer_order(InferCall& infer) {
  const Meta& target = infer.in[kTarget];
  const Meta& by = infer.in[kBy];
  if (by.kind == Kind::matrix && by.sizes_known() && by.rows != 1 && by.cols != 1)
    infer.fail("order: expected by to be a number or a vector of column numbers, found {}", dims(by));
  if (const auto column = by.kind == Kind::matrix ? std::nullopt : infer.real(kBy))
    check_column(infer, *column, target.cols);
  const auto index = infer.boolean(kIndexReturn);
  infer.out[0] = matrix_meta(target.rows, -1);
  if (!index) {
    if (target.cols == 1) infer.out[0].cols = 1;
  } else if (*index) {
    infer.out[0].cols = 1;
    infer.out[0].nnz = target.rows;
  } else {
    infer.out[0].cols = target.cols;
    infer.out[0].nnz = target.nnz;
  }
}

Cost cost_order(const InferCall& infer) {
  const Meta& target = infer.in[kTarget];
  const double rows = static_cast<double>(std::max<int64_t>(target.rows, 1));
  const double cells = rows * static_cast<double>(std::max<int64_t>(target.cols, 1));
  const double per_row = infer.in[kBy].kind == Kind::matrix ? 32 : 16;
  return {rows * 40, rows * 16 + cells * 8, cells * 8, rows * per_row};
}

// What was asked for, with everything checked.
struct Request {
  Call& call;
  MatrixRef target;
  std::vector<int64_t> by;  // columns, from 0
  bool decreasing, index;
  int64_t rows() const { return target->rows(); }
};

int64_t column_number(const Call& call, double by, int64_t cols) {
  const int64_t column = to_integer(by);
  if (!(by >= 1) || column > cols) call.fail("order: by names no column: expected 1 to {}, found {}", cols, by);
  return column - 1;
}

template <class T>
Request read_request(Call& call) {
  Request r{call, call.matrix_ref(kTarget), {}, call.boolean(kDecreasing), call.boolean(kIndexReturn)};
  const int64_t cols = r.target->cols();
  if (call.is_matrix(kBy)) {
    const MatrixRef by = to_dense<T>(call.ctx, call.matrix_ref(kBy));
    if (by->cells() == 0) call.fail("order: expected at least one column in by, found {}x{}", by->rows(), by->cols());
    std::vector<bool> seen(static_cast<size_t>(cols));
    for (int64_t i = 0; i < by->cells(); ++i) {
      const int64_t column = column_number(call, static_cast<double>(by->dense<T>()[i]), cols);
      if (!seen[static_cast<size_t>(column)]) r.by.push_back(column);
      seen[static_cast<size_t>(column)] = true;
    }
  } else {
    r.by.push_back(column_number(call, call.real(kBy), cols));
  }
  if (r.index && sizeof(T) == 4 && r.rows() > 1 << 24)
    call.fail("order: row numbers above 2^24 do not fit single precision, found {} rows", r.rows());
  return r;
}

// Are the rows in order as they are? Ends at the first pair that is not.
bool in_order(const KeySource& keys, int64_t n) {
  uint64_t tile[KeySource::kTile], last = 0;
  for (int64_t i = 0; i < n; i += KeySource::kTile) {
    const int64_t stop = std::min(n, i + KeySource::kTile);
    keys.read(i, stop, tile);
    bool fine = last <= tile[0];
    for (int64_t k = 1; k < stop - i; ++k) fine &= tile[k - 1] <= tile[k];
    if (!fine) return false;
    last = tile[stop - i - 1];
  }
  return true;
}

// 1, 2, ..., n, or backwards.
MatrixRef row_numbers(Context& ctx, int64_t n, bool backwards) {
  const double from = backwards ? static_cast<double>(n) : 1;
  return new_virtual(ctx, n, 1, Sequence{from, backwards ? -1.0 : 1.0, false}, n);
}

void keep_as_is(const Request& r) {
  if (r.index)
    r.call.set(row_numbers(r.call.ctx, r.rows(), false));
  else
    r.call.set(r.target);
}

// --- output ---------------------------------------------------------------------------------------------------------

template <class T>
MatrixRef gather_sparse(const Request& r, const KeyedRow* sorted) {
  const Csr& from = r.target->csr();
  const auto* offsets = from.offsets.as<int64_t>();
  auto out = new_sparse<T>(r.call.ctx, r.rows(), r.target->cols(), offsets[r.rows()]);
  Csr& to = out->csr();
  auto* starts = to.offsets.as<int64_t>();
  starts[0] = 0;
  for (int64_t i = 0; i < r.rows(); ++i) {
    const auto row = sorted[i].row;
    starts[i + 1] = starts[i] + offsets[row + 1] - offsets[row];
  }
  const size_t width = from.wide ? 8 : 4;
  parallel_chunks(r.rows(), kGrain, r.call.ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = offsets[sorted[i].row];
      const auto size = static_cast<size_t>(starts[i + 1] - starts[i]);
      std::memcpy(to.values.as<T>() + starts[i], from.values.as<T>() + at, size * sizeof(T));
      std::memcpy(to.columns.as<char>() + static_cast<size_t>(starts[i]) * width,
                  from.columns.as<char>() + static_cast<size_t>(at) * width, size * width);
    }
  });
  return out;
}

template <class T>
void copy_row(const T* from, T* to, int64_t cols) {
  if (cols < 16)
    for (int64_t c = 0; c < cols; ++c) to[c] = from[c];
  else
    std::memcpy(to, from, static_cast<size_t>(cols) * sizeof(T));
}

// Where sorted rows go: numbers or, for dense targets, the rows themselves.
template <class T>
struct RowWriter {
  T* out;
  const T* cells;  // null: row numbers
  int64_t cols;
  void write(const KeyedRow* sorted, int64_t begin, int64_t end) const {
    if (cells == nullptr) {
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(sorted[i].row + 1);
      return;
    }
    constexpr int64_t kAhead = 16;
    for (int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end) __builtin_prefetch(cells + static_cast<int64_t>(sorted[i + kAhead].row) * cols);
      copy_row(cells + static_cast<int64_t>(sorted[i].row) * cols, out + i * cols, cols);
    }
  }
};

// --- several columns ------------------------------------------------------------------------------------------------

uint64_t key_of(const Column& column, uint64_t row, bool decreasing) {
  double tile;
  const double v = *column.read(static_cast<int64_t>(row), static_cast<int64_t>(row) + 1, &tile);
  return decreasing ? descending_key(v) : ascending_key(v);
}

// Keys of a column in the order that the rows have so far.
class ReorderedKeys final : public KeySource {
 public:
  ReorderedKeys(const Column& column, bool decreasing, const KeyedRow* entries)
      : column_(column), decreasing_(decreasing), entries_(entries) {}
  void read(int64_t begin, int64_t end, uint64_t* keys) const override {
    for (int64_t i = begin; i < end; ++i) keys[i - begin] = key_of(column_, entries_[i].row, decreasing_);
  }

 private:
  const Column& column_;
  bool decreasing_;
  const KeyedRow* entries_;
};

// Marks the first entry of each run of equal keys.
void mark_groups(KeyedRow* e, int64_t n) {
  uint64_t previous = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || e[i].key != previous) e[i].row |= kGroupStart;
    previous = e[i].key;
  }
}

void sort_large_group(const Request& r, const Column& column, KeyedRow* group, int64_t n) {
  group[0].row &= ~kGroupStart;
  Buffer buffer = r.call.ctx.memory.allocate(static_cast<size_t>(n) * sizeof(KeyedRow));
  auto* sorted = buffer.as<KeyedRow>();
  const ReorderedKeys keys(column, r.decreasing, group);
  sort_rows(r.call, keys, n, sorted, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sorted[i].row = group[sorted[i].row].row;
  });
  std::memcpy(group, sorted, static_cast<size_t>(n) * sizeof(KeyedRow));
  mark_groups(group, n);
}

// Sorts every group of rows that are equal so far by one more column, and marks the groups that are left.
struct Refinement {
  const Request& r;
  KeyedRow* entries;
  int64_t n;

  // The first group start of each chunk (n where it has none): found before any group moves.
  std::vector<int64_t> first_starts() const {
    std::vector<int64_t> first(static_cast<size_t>((n + kGrain - 1) / kGrain) + 1, n);
    parallel_chunks(n, kGrain, r.call.ctx.threads, [&](int64_t begin, int64_t end) {
      int64_t i = begin;
      while (i < end && (entries[i].row & kGroupStart) == 0) ++i;
      if (i < end) first[static_cast<size_t>(begin / kGrain)] = i;
    });
    for (size_t c = first.size() - 1; c-- > 0;)
      if (first[c] == n) first[c] = first[c + 1];
    return first;
  }

  void sort_group(const Column& column, int64_t begin, int64_t end, Buffer& scratch) const {
    entries[begin].row &= ~kGroupStart;
    for (int64_t k = begin; k < end; ++k) entries[k].key = key_of(column, entries[k].row, r.decreasing);
    sort_in_place(r.call.ctx, entries + begin, end - begin, scratch);
    mark_groups(entries + begin, end - begin);
  }

  void run(const Column& column) const {
    const std::vector<int64_t> first = first_starts();
    std::mutex mutex;
    std::vector<std::pair<int64_t, int64_t>> large;
    parallel_chunks(n, kGrain, r.call.ctx.threads, [&](int64_t chunk_begin, int64_t) {
      Buffer scratch;
      const auto chunk = static_cast<size_t>(chunk_begin / kGrain);
      const int64_t stop = first[chunk + 1];
      for (int64_t begin = first[chunk]; begin < stop;) {
        int64_t end = begin + 1;
        while (end < stop && (entries[end].row & kGroupStart) == 0) ++end;
        if (end - begin >= kLargeGroup) {
          const std::lock_guard lock(mutex);
          large.emplace_back(begin, end);
        } else if (end - begin > 1) {
          sort_group(column, begin, end, scratch);
        }
        begin = end;
      }
    });
    for (const auto& [begin, end] : large) sort_large_group(r, column, entries + begin, end - begin);
  }
};

// --- one column of few integers -------------------------------------------------------------------------------------

struct IntegerRange {
  double low = 0, high = 0;
  bool integers = true;
  void add(const double* v, int64_t n) {
    bool whole = true;
    for (int64_t i = 0; i < n; ++i) {
      whole &= std::floor(v[i]) == v[i];  // false for NaN
      low = std::min(low, v[i]), high = std::max(high, v[i]);
    }
    integers &= whole && high - low < kMostCodes;
  }
  void merge(const IntegerRange& other) {
    low = std::min(low, other.low), high = std::max(high, other.high);
    integers &= other.integers && high - low < kMostCodes;
  }
};

// Do all values lie in a short range of integers? Looks at a few tiles first.
IntegerRange integer_range(const Request& r, const Column& column) {
  const int64_t n = r.rows();
  double tile[Column::kTile];
  const double first = *column.read(0, 1, tile);
  IntegerRange range{first, first, true};
  for (int64_t t = 0; t < 4 && range.integers; ++t) {
    const int64_t at = t * (n / 4), stop = std::min(n, at + 256);
    range.add(column.read(at, stop, tile), stop - at);
  }
  if (!range.integers) return range;
  std::vector<IntegerRange> parts(static_cast<size_t>((n + kGrain - 1) / kGrain), range);
  std::atomic<bool> failed{false};
  parallel_chunks(n, kGrain, r.call.ctx.threads, [&](int64_t begin, int64_t end) {
    IntegerRange& mine = parts[static_cast<size_t>(begin / kGrain)];
    double cells[Column::kTile];
    for (int64_t i = begin; i < end && mine.integers && !failed; i += Column::kTile) {
      const int64_t stop = std::min(end, i + Column::kTile);
      mine.add(column.read(i, stop, cells), stop - i);
    }
    if (!mine.integers) failed = true;
  });
  range.integers = !failed;
  for (const IntegerRange& part : parts) range.merge(part);
  return range;
}

// A counting sort: write(row, place) for every row, in parallel.
template <class Write>
void count_and_place(const Request& r, const Column& column, const IntegerRange& range, const Write& write) {
  const int64_t n = r.rows(), grain = std::max(kGrain, (n + 63) / 64), chunks = (n + grain - 1) / grain;
  const auto codes = static_cast<int64_t>(range.high - range.low) + 1;
  std::vector<int64_t> places(static_cast<size_t>(chunks * codes), 0);
  const auto each_code = [&](int64_t begin, int64_t end, const auto& body) {
    double tile[Column::kTile];
    for (int64_t i = begin; i < end; i += Column::kTile) {
      const int64_t size = std::min(end - i, Column::kTile);
      const double* v = column.read(i, i + size, tile);
      for (int64_t k = 0; k < size; ++k)
        body(i + k, static_cast<int64_t>(r.decreasing ? range.high - v[k] : v[k] - range.low));
    }
  };
  parallel_chunks(n, grain, r.call.ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t* mine = &places[static_cast<size_t>(begin / grain * codes)];
    each_code(begin, end, [&](int64_t, int64_t code) { ++mine[code]; });
  });
  int64_t sum = 0;
  for (int64_t code = 0; code < codes; ++code)
    for (int64_t c = 0; c < chunks; ++c) sum += std::exchange(places[static_cast<size_t>(c * codes + code)], sum);
  parallel_chunks(n, grain, r.call.ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t* mine = &places[static_cast<size_t>(begin / grain * codes)];
    each_code(begin, end, [&](int64_t row, int64_t code) { write(row, mine[code]++); });
  });
}

template <class T>
bool order_integers(const Request& r, const Column& column) {
  if (r.rows() < kCountingRows || (!r.index && !r.target->is_dense())) return false;
  const IntegerRange range = integer_range(r, column);
  if (!range.integers) return false;
  const int64_t cols = r.index ? 1 : r.target->cols();
  auto out = new_dense<T>(r.call.ctx, r.rows(), cols);
  T* to = out->template dense<T>();
  if (r.index) {
    count_and_place(r, column, range, [&](int64_t row, int64_t place) { to[place] = static_cast<T>(row + 1); });
  } else {
    const T* from = r.target->dense<T>();
    count_and_place(r, column, range,
                    [&](int64_t row, int64_t place) { copy_row(from + row * cols, to + place * cols, cols); });
  }
  out->set_nnz(r.index ? r.rows() : r.target->nnz_if_known());
  r.call.set(std::move(out));
  return true;
}

// --- one column, values only ----------------------------------------------------------------------------------------

// Zeros in the order in which they stand in the column: keys do not know their signs.
template <class T>
void restore_zeros(const Request& r, const Column& column, T* out) {
  const int64_t n = r.rows();
  T* at = r.decreasing ? std::partition_point(out, out + n, [](T v) { return v > 0; })
                       : std::partition_point(out, out + n, [](T v) { return v < 0; });
  double tile[Column::kTile];
  for (int64_t i = 0; i < n; i += Column::kTile) {
    const int64_t size = std::min(n - i, Column::kTile);
    const double* v = column.read(i, i + size, tile);
    for (int64_t k = 0; k < size; ++k)
      if (v[k] == 0) *at++ = static_cast<T>(v[k]);
  }
}

template <class T>
void order_values(const Request& r, const Column& column, const ColumnKeys& keys) {
  auto out = new_dense<T>(r.call.ctx, r.rows(), 1);
  T* to = out->template dense<T>();
  Buffer scratch;
  if (sizeof(T) < sizeof(Key)) scratch = r.call.ctx.memory.allocate(static_cast<size_t>(r.rows()) * sizeof(Key));
  Key* sorted = sizeof(T) < sizeof(Key) ? scratch.as<Key>() : reinterpret_cast<Key*>(to);
  sort_keys(r.call, keys, r.rows(), sorted, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint64_t key;  // the keys may lie where the values go
      std::memcpy(&key, sorted + i, sizeof key);
      const T v = static_cast<T>(r.decreasing ? number_of_descending(key) : number_of_ascending(key));
      std::memcpy(to + i, &v, sizeof v);
    }
  });
  if (keys.minus_zero()) restore_zeros(r, column, to);
  out->set_nnz(r.target->nnz_if_known());
  r.call.set(std::move(out));
}

// --- kernels --------------------------------------------------------------------------------------------------------

template <class T>
void order_rows(const Request& r, const ColumnKeys& keys) {
  Call& call = r.call;
  const int64_t n = r.rows(), cols = r.index ? 1 : r.target->cols();
  Buffer buffer = call.ctx.memory.allocate(static_cast<size_t>(n) * sizeof(KeyedRow));
  auto* sorted = buffer.as<KeyedRow>();
  const bool sparse = !r.index && r.target->is_sparse();
  std::shared_ptr<MatrixBlock> out;
  RowWriter<T> writer{nullptr, r.index ? nullptr : r.target->is_dense() ? r.target->dense<T>() : nullptr, cols};
  if (!sparse) {
    out = new_dense<T>(call.ctx, n, cols);
    writer.out = out->template dense<T>();
    out->set_nnz(r.index ? n : r.target->nnz_if_known());
  }
  const auto write = [&](int64_t begin, int64_t end) { writer.write(sorted, begin, end); };
  const bool at_once = r.by.size() == 1 && !sparse;
  sort_rows(call, keys, n, sorted, at_once ? SortedRange(write) : SortedRange());
  if (r.by.size() > 1) {
    mark_groups(sorted, n);
    for (size_t k = 1; k < r.by.size(); ++k) Refinement{r, sorted, n}.run(Column(*r.target, r.by[k]));
    for (int64_t i = 0; i < n; ++i) sorted[i].row &= ~kGroupStart;
  }
  if (sparse) return call.set(gather_sparse<T>(r, sorted));
  if (!at_once) parallel_chunks(n, kGrain, call.ctx.threads, write);
  call.set(std::move(out));
}

template <class T>
void order_blocks(Call& call) {
  Request r = read_request<T>(call);
  if (r.rows() < 2) return keep_as_is(r);
  if (!r.index) r.target = materialize<T>(call.ctx, r.target);
  const Column column(*r.target, r.by[0]);
  const ColumnKeys keys(column, r.decreasing);
  if (r.by.size() == 1) {
    if (in_order(keys, r.rows())) return keep_as_is(r);
    if (order_integers<T>(r, column)) return;
    if (!r.index && r.target->cols() == 1) return order_values<T>(r, column, keys);
  }
  order_rows<T>(r, keys);
}

// Constants, and sequences whose neighbours differ: nothing to compare.
bool is_monotone(const Call& call) {
  const MatrixBlock& m = call.matrix(kTarget);
  if (!m.is_virtual()) return false;
  if (std::holds_alternative<Constant>(m.cells_rule())) return true;
  const auto* s = std::get_if<Sequence>(&m.cells_rule());
  if (s == nullptr || m.cols() != 1 || call.ctx.precision != Precision::f64) return false;
  const double last = s->from + static_cast<double>(m.rows()) * s->increment;
  return std::max(std::fabs(s->from), std::fabs(last)) < std::fabs(s->increment) * 0x1p50;
}

template <class T>
void order_monotone(Call& call) {
  const Request r = read_request<T>(call);
  const auto* s = std::get_if<Sequence>(&r.target->cells_rule());
  if (s == nullptr || (s->increment < 0) == r.decreasing || r.rows() < 2) return keep_as_is(r);
  const double last = s->from + static_cast<double>(r.rows() - 1) * s->increment;
  if (r.index) return call.set(row_numbers(call.ctx, r.rows(), true));
  // The cells of a sequence read backwards need not be from - i * increment to the last bit.
  if (std::floor(s->from) != s->from || std::floor(s->increment) != s->increment) return order_blocks<T>(call);
  call.set(new_virtual(call.ctx, r.rows(), 1, Sequence{last, -s->increment, false}, r.target->nnz_if_known()));
}

template <class T>
void order_plain(Call& call) {
  const Request r = read_request<T>(call);
  std::vector<uint64_t> keys(static_cast<size_t>(r.rows()));
  std::vector<int64_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), 0);
  for (size_t k = r.by.size(); k-- > 0;) {
    const Column column(*r.target, r.by[k]);
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(column, i, r.decreasing);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](int64_t a, int64_t b) { return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)]; });
  }
  const int64_t cols = r.index ? 1 : r.target->cols();
  auto out = new_dense<T>(call.ctx, r.rows(), cols);
  T* to = out->template dense<T>();
  const MatrixRef cells = r.index ? nullptr : to_dense<T>(call.ctx, r.target);
  for (int64_t i = 0; i < r.rows(); ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    if (r.index)
      to[i] = static_cast<T>(row + 1);
    else
      copy_row(cells->dense<T>() + row * cols, to + i * cols, cols);
  }
  call.set(std::move(out));
}

#define HOPLINE_KERNEL(name) [](Call& call) { with_real(call.ctx, [&](auto t) { name<decltype(t)>(call); }); }

constexpr Kernel kOrderKernels[] = {
    {"monotone", is_monotone, HOPLINE_KERNEL(order_monotone)},
    {"sample_sort", nullptr, HOPLINE_KERNEL(order_blocks)},
    {"reference", nullptr, HOPLINE_KERNEL(order_plain)},
};

constexpr Op kOps[] = {
    {.name = "order",
     .params = Params{param::matrix("target"), param::of("by", kNumber | kMatrix, "1"),
                      param::of("decreasing", kNumber, "FALSE"), param::of("index.return", kNumber, "FALSE")}
                   .by(Naming::named),
     .laws = {.failure = Failure::by_data},
     .infer = infer_order,
     .cost = cost_order,
     .kernels = kOrderKernels,
     .doc =
         "Rows of target sorted by column by (or by several, given as a vector of column numbers), stably, NaN last; "
         "with index.return=TRUE the row numbers in that order.",
     .example = "X = matrix(\"3 1 2\", rows=3, cols=1)\n"
                "print(toString(order(target=X, by=1, index.return=TRUE)))\n"
                "# expect: 2.000\n# expect: 3.000\n# expect: 1.000\n# expect:\n"},
};

}  // namespace

OpFamily order_ops() { return kOps; }

}  // namespace hopline
