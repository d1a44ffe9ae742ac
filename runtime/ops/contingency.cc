// table(): counts or sums of weights by pairs of codes.
#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/codes.h"
#include "runtime/ops/column.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/sorting.h"

namespace hopline {

namespace {

constexpr int64_t kGrain = 1 << 16;    // rows per chunk at least
constexpr int64_t kMostChunks = 64;    // each has its own counters
constexpr int64_t kSmallTable = 4096;  // cells that are counted in place however few rows there are
constexpr int64_t kMostRows = int64_t{1} << 47;

// Places of the arguments by the number of parameters of the row.
struct Places {
  int weight, rows, cols;
};
Places places(const Op& op) {
  switch (op.params.count) {
    case 2:
      return {-1, -1, -1};
    case 3:
      return {2, -1, -1};
    case 4:
      return {-1, 2, 3};
    default:
      return {2, 3, 4};
  }
}

void check_vector(const InferCall& infer, size_t i) {
  const Meta& m = infer.in[i];
  if (m.kind != Kind::matrix) return;
  if (m.cols >= 0 && m.cols != 1)
    infer.fail("table: expected column vectors, found {} {}", infer.op.params.list[i].name, dims(m));
  if (m.rows >= 0 && infer.in[0].rows >= 0 && m.rows != infer.in[0].rows)
    infer.fail("table: expected vectors of one length, found {} and {}", dims(infer.in[0]), dims(m));
}

int64_t known_size(InferCall& infer, int i) {
  const auto size = infer.integer(static_cast<size_t>(i));
  if (!size) return -1;
  if (*size < 0)
    infer.fail("table: expected {} of at least 0, found {}", infer.op.params.list[static_cast<size_t>(i)].name, *size);
  return *size;
}

void check_cells(const Span& span, int64_t rows, int64_t cols) {
  int64_t cells = 0;
  if (rows > kMostRows || __builtin_mul_overflow(rows, cols, &cells))
    fail(ErrorKind::resource, span, "table: the result is too large, found {}x{}", rows, cols);
}

void infer_table(InferCall& infer) {
  const Places at = places(infer.op);
  check_vector(infer, 0);
  check_vector(infer, 1);
  if (at.weight >= 0) check_vector(infer, static_cast<size_t>(at.weight));
  infer.out[0] = matrix_meta(-1, -1);
  if (at.rows < 0) return;
  infer.out[0] = matrix_meta(known_size(infer, at.rows), known_size(infer, at.cols));
  if (infer.out[0].sizes_known()) check_cells(infer.span, infer.out[0].rows, infer.out[0].cols);
}

Cost cost_table(const InferCall& infer) {
  const double n = static_cast<double>(std::max<int64_t>(infer.in[0].rows, 1));
  const double read = 8 * static_cast<double>(infer.op.params.count == 3 || infer.op.params.count > 4 ? 3 : 2);
  return {6 * n, read * n, 12 * n, 16 * n};
}

// --- the request ----------------------------------------------------------------------------------------------------

struct Table {
  Call& call;
  Column a, b, w;
  int64_t n;
  const double* weight;  // of every row; null where rows have their own
  int64_t rows = -1, cols = -1;

  int64_t cells() const { return rows * cols; }
  void poll() const {
    if (call.ctx.session != nullptr) call.ctx.session->poll(call.span);
  }
};

Column column_of(const Call& call, int i) {
  if (i < 0) return Column(1.0);
  const auto k = static_cast<size_t>(i);
  return call.is_matrix(k) ? Column(call.matrix(k)) : Column(call.real(k));
}

Table read_table(Call& call) {
  const Places at = places(call.op);
  Table t{call, column_of(call, 0), column_of(call, 1), column_of(call, at.weight), call.matrix(0).rows(), nullptr};
  t.weight = t.w.everywhere();
  if (at.rows >= 0) {
    t.rows = call.integer(static_cast<size_t>(at.rows));
    t.cols = call.integer(static_cast<size_t>(at.cols));
  }
  return t;
}

[[noreturn]] void fail_code(const Table& t, int64_t row) {
  double a, b;
  const double va = *t.a.read(row, row + 1, &a), vb = *t.b.read(row, row + 1, &b);
  t.call.fail("table: codes must be positive, found ({}, {}) in row {}", va, vb, row + 1);
}

// Row and column (from 0) of each pair of codes of a tile; -1 in `row` for pairs to skip: NaN, or beyond rows and cols.
class CodeTile {
 public:
  std::array<int64_t, Column::kTile> row, col;
  bool beyond = false;  // was a pair without NaN skipped?

  void read(const Table& t, int64_t begin, int64_t end, double rows, double cols) {
    std::array<double, Column::kTile> a_tile, b_tile;
    const double* a = t.a.read(begin, end, a_tile.data());
    const double* b = t.b.read(begin, end, b_tile.data());
    const auto n = static_cast<size_t>(end - begin);
    bool plain = true;  // no NaN, nothing to skip
    for (size_t i = 0; i < n; ++i) {
      const double x = a[i] + kCodeSlack, y = b[i] + kCodeSlack;
      plain &= static_cast<int>(x >= 1) & static_cast<int>(x < rows + 1) & static_cast<int>(y >= 1) &
               static_cast<int>(y < cols + 1);
    }
    beyond = false;
    if (!plain) return read_with_care(t, begin, n, a, b, rows, cols);
    for (size_t i = 0; i < n; ++i) {
      row[i] = static_cast<int64_t>(a[i] + kCodeSlack) - 1;
      col[i] = static_cast<int64_t>(b[i] + kCodeSlack) - 1;
    }
  }

 private:
  void read_with_care(const Table& t, int64_t begin, size_t n, const double* a, const double* b, double rows,
                      double cols) {
    for (size_t i = 0; i < n; ++i) {
      const double x = a[i] + kCodeSlack, y = b[i] + kCodeSlack;
      const bool inside = x < rows + 1 && y < cols + 1, numbers = x == x && y == y;
      if (numbers && (x < 1 || y < 1)) fail_code(t, begin + static_cast<int64_t>(i));
      beyond |= numbers && !inside;
      row[i] = static_cast<int64_t>(inside ? x : 0) - 1;
      col[i] = static_cast<int64_t>(inside ? y : 0) - 1;
    }
  }
};

// Tiles of rows [begin, end): body(first row, size, tile).
template <class F>
void each_tile(const Table& t, int64_t begin, int64_t end, const F& body) {
  t.poll();
  CodeTile tile;
  const auto rows = static_cast<double>(t.rows), cols = static_cast<double>(t.cols);
  for (int64_t i = begin; i < end; i += Column::kTile) {
    const int64_t stop = std::min(end, i + Column::kTile);
    tile.read(t, i, stop, rows, cols);
    body(i, stop - i, tile);
  }
}

// Sizes of the result where the script gives none: the largest codes.
void find_sizes(Table& t) {
  std::mutex mutex;
  int64_t rows = 0, cols = 0;
  t.rows = t.cols = int64_t{1} << 62;
  parallel_chunks(t.n, kGrain, t.call.ctx.threads, [&](int64_t begin, int64_t end) {
    int64_t high_row = 0, high_col = 0;
    each_tile(t, begin, end, [&](int64_t, int64_t size, const CodeTile& tile) {
      if (tile.beyond) t.call.fail("table: the codes are too large for the sizes of a matrix; give rows and cols");
      for (size_t i = 0; i < static_cast<size_t>(size); ++i) {
        high_row = std::max(high_row, tile.row[i] + 1);
        high_col = std::max(high_col, tile.col[i] + 1);
      }
    });
    const std::lock_guard lock(mutex);
    rows = std::max(rows, high_row), cols = std::max(cols, high_col);
  });
  t.rows = rows, t.cols = cols;
}

template <class T>
T count_cell(const Table& t, int64_t count) {
  if (sizeof(T) == 4 && *t.weight == 1 && count > 1 << 24)
    t.call.fail("table: a count above 2^24 does not fit single precision, found {}", count);
  return count == 0 ? T{0} : static_cast<T>(static_cast<double>(count) * *t.weight);
}

// --- counters for every cell ----------------------------------------------------------------------------------------

template <class Counter, class T, class Add, class Finish>
void count_cells(const Table& t, const Add& add, const Finish& finish) {
  Context& ctx = t.call.ctx;
  const int64_t cells = t.cells();
  const int64_t chunks =
      std::clamp<int64_t>(t.n / std::max(kGrain, 2 * cells), 1 + t.n / INT32_MAX, kMostChunks + t.n / INT32_MAX);
  const int64_t grain = std::max<int64_t>(1, (t.n + chunks - 1) / chunks);
  Buffer buffer = ctx.memory.allocate(static_cast<size_t>(chunks * cells) * sizeof(Counter));
  auto* counters = buffer.as<Counter>();
  parallel_chunks(chunks * cells, kGrain, ctx.threads,
                  [&](int64_t begin, int64_t end) { std::fill(counters + begin, counters + end, Counter{}); });
  parallel_chunks(t.n, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    Counter* mine = counters + begin / grain * cells;
    each_tile(t, begin, end, [&](int64_t row, int64_t size, const CodeTile& tile) { add(mine, row, size, tile); });
  });
  auto out = new_dense<T>(ctx, t.rows, t.cols);
  T* to = out->template dense<T>();
  parallel_chunks(cells, kGrain, ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) to[k] = finish(counters + k, chunks);
  });
  t.call.set(settle<T>(ctx, std::move(out)));
}

template <class T>
void table_dense(const Table& t) {
  const int64_t cells = t.cells(), cols = t.cols;
  if (t.weight != nullptr) {
    count_cells<uint32_t, T>(
        t,
        [cols](uint32_t* counters, int64_t, int64_t size, const CodeTile& tile) {
          for (size_t i = 0; i < static_cast<size_t>(size); ++i)
            if (tile.row[i] >= 0) ++counters[tile.row[i] * cols + tile.col[i]];
        },
        [&](const uint32_t* first, int64_t chunks) {
          int64_t count = 0;
          for (int64_t c = 0; c < chunks; ++c) count += first[c * cells];
          return count_cell<T>(t, count);
        });
    return;
  }
  count_cells<Compensated, T>(
      t,
      [&t, cols](Compensated* sums, int64_t row, int64_t size, const CodeTile& tile) {
        std::array<double, Column::kTile> w_tile;
        const double* w = t.w.read(row, row + size, w_tile.data());
        for (size_t i = 0; i < static_cast<size_t>(size); ++i)
          if (tile.row[i] >= 0) sums[tile.row[i] * cols + tile.col[i]].add(w[i]);
      },
      [&](const Compensated* first, int64_t chunks) {
        Compensated sum = first[0];
        for (int64_t c = 1; c < chunks; ++c) sum.add(first[c * cells]);
        return static_cast<T>(sum.value());
      });
}

// --- entries in the order of a CSR block ----------------------------------------------------------------------------

template <class T>
void put_column(Csr& csr, int64_t at, int64_t col) {
  if (csr.wide)
    csr.columns.as<int64_t>()[at] = col;
  else
    csr.columns.as<int32_t>()[at] = static_cast<int32_t>(col);
}

// Builds CSR from chunks of entries that ascend by row, then column. entries(chunk, emit) calls emit(row, col, value);
// it runs twice. last_row(chunk): of the entries before the chunk, -1 if there is none; entries of the chunk are above
// it, or in it.
template <class T, class Entries>
MatrixRef build_csr(const Table& t, int64_t chunks, const Entries& entries) {
  Context& ctx = t.call.ctx;
  struct Part {
    int64_t size = 0, last_row = -1;
  };
  std::vector<Part> parts(static_cast<size_t>(chunks));
  parallel_chunks(chunks, 1, ctx.threads, [&](int64_t c, int64_t) {
    Part part;
    entries(c, [&](int64_t row, int64_t, T value) { part.size += value != 0, part.last_row = row; });
    parts[static_cast<size_t>(c)] = part;
  });
  Part sum;
  for (Part& part : parts) {
    const Part before = sum;
    sum = {sum.size + part.size, std::max(sum.last_row, part.last_row)};
    part = before;
  }
  auto out = new_sparse<T>(ctx, t.rows, t.cols, sum.size);
  Csr& csr = out->csr();
  auto* offsets = csr.offsets.template as<int64_t>();
  T* values = csr.values.template as<T>();
  parallel_chunks(chunks, 1, ctx.threads, [&](int64_t c, int64_t) {
    int64_t at = parts[static_cast<size_t>(c)].size, last = parts[static_cast<size_t>(c)].last_row;
    entries(c, [&](int64_t row, int64_t col, T value) {
      for (; last < row; ++last) offsets[last + 1] = at;  // where rows last + 1 to row begin
      if (value == 0) return;
      put_column<T>(csr, at, col);
      values[at++] = value;
    });
  });
  std::fill(offsets + sum.last_row + 1, offsets + t.rows + 1, sum.size);
  return out;
}

template <class T>
void set_settled(const Table& t, MatrixRef m) {
  const bool sparse = t.cols > 1 && static_cast<double>(m->nnz_if_known()) < kSparse * static_cast<double>(t.cells());
  t.call.set(sparse ? std::move(m) : to_dense<T>(t.call.ctx, m));
}

// Do the codes in A ascend strictly, as those of seq(1, n) do? Ends at the first pair that does not.
bool ascends(const Table& t) {
  constexpr double kExact = 0x1p52;  // below it, adding 1 makes a difference
  if (const Sequence* s = t.a.sequence())
    return s->increment >= 1 && s->from >= 1 && s->from + static_cast<double>(t.n) * s->increment < kExact;
  std::array<double, Column::kTile> tile;
  double last = 0;
  for (int64_t i = 0; i < t.n; i += Column::kTile) {
    const int64_t stop = std::min(t.n, i + Column::kTile);
    const double* a = t.a.read(i, stop, tile.data());
    bool fine = a[0] >= last + 1;
    for (int64_t k = 1; k < stop - i; ++k) fine &= a[k] >= a[k - 1] + 1;
    last = a[stop - i - 1];
    if (!fine || !(last < kExact)) return false;
  }
  return true;
}

// At most one entry in each row of the result: the selection matrix of table(seq(1, n), v).
template <class T>
void table_selection(const Table& t) {
  const int64_t chunks = (t.n + kGrain - 1) / kGrain;
  set_settled<T>(t, build_csr<T>(t, chunks, [&](int64_t c, const auto& emit) {
                   const int64_t begin = c * kGrain, end = std::min(t.n, begin + kGrain);
                   each_tile(t, begin, end, [&](int64_t row, int64_t size, const CodeTile& tile) {
                     std::array<double, Column::kTile> w_tile;
                     const double* w = t.w.read(row, row + size, w_tile.data());
                     for (size_t i = 0; i < static_cast<size_t>(size); ++i)
                       if (tile.row[i] >= 0) emit(tile.row[i], tile.col[i], static_cast<T>(w[i]));
                   });
                 }));
}

// --- large key spaces: sort -----------------------------------------------------------------------------------------

class PairKeys final : public KeySource {
 public:
  explicit PairKeys(const Table& t) : t_(t) {}
  void read(int64_t begin, int64_t end, uint64_t* keys) const override {
    CodeTile tile;
    tile.read(t_, begin, end, static_cast<double>(t_.rows), static_cast<double>(t_.cols));
    for (size_t i = 0; i < static_cast<size_t>(end - begin); ++i)
      keys[i] = tile.row[i] < 0 ? kNanKey : static_cast<uint64_t>(tile.row[i] * t_.cols + tile.col[i]);
  }

 private:
  const Table& t_;
};

double sum_of_run(const Table& t, const KeyedRow* begin, const KeyedRow* end) {
  if (t.weight != nullptr) return static_cast<double>(end - begin) * *t.weight;
  Compensated sum;
  for (const KeyedRow* e = begin; e < end; ++e) {
    double tile;
    const auto row = static_cast<int64_t>(e->row);
    sum.add(*t.w.read(row, row + 1, &tile));
  }
  return sum.value();
}

template <class T>
void table_sorted(const Table& t) {
  Buffer buffer = t.call.ctx.memory.allocate(static_cast<size_t>(t.n) * sizeof(KeyedRow));
  auto* sorted = buffer.as<KeyedRow>();
  const PairKeys keys(t);
  sort_rows(t.call, keys, t.n, sorted, {});
  const KeyedRow* end = sorted + t.n;
  while (end > sorted && end[-1].key == kNanKey) --end;
  const int64_t chunks = (end - sorted + kGrain - 1) / kGrain;
  set_settled<T>(t, build_csr<T>(t, chunks, [&](int64_t c, const auto& emit) {
                   const KeyedRow* e = sorted + c * kGrain;
                   const KeyedRow* stop = std::min<const KeyedRow*>(end, e + kGrain);  // runs that begin before it
                   while (e > sorted && e < stop && e->key == e[-1].key) ++e;
                   while (e < stop) {
                     const KeyedRow* begin = e;
                     while (e < end && e->key == begin->key) ++e;
                     if (t.weight != nullptr) count_cell<T>(t, e - begin);
                     const auto key = static_cast<int64_t>(begin->key);
                     emit(key / t.cols, key % t.cols, static_cast<T>(sum_of_run(t, begin, e)));
                   }
                 }));
}

// --- kernels --------------------------------------------------------------------------------------------------------

template <class T>
void table_fast(Call& call) {
  Table t = read_table(call);
  if (t.rows < 0) {
    find_sizes(t);
    check_cells(call.span, t.rows, t.cols);
  }
  if (t.cells() == 0) {
    each_tile(t, 0, t.n, [](int64_t, int64_t, const CodeTile&) {});  // for the codes' errors
    return call.set(new_zeros(call.ctx, t.rows, t.cols));
  }
  if (t.cells() <= std::max(kSmallTable, 2 * t.n)) return table_dense<T>(t);
  if (ascends(t)) return table_selection<T>(t);
  if (t.cells() <= 4 * t.n) return table_dense<T>(t);
  table_sorted<T>(t);
}

template <class T>
void table_plain(Call& call) {
  Table t = read_table(call);
  if (t.rows < 0) find_sizes(t);
  check_cells(call.span, t.rows, t.cols);
  std::map<std::pair<int64_t, int64_t>, Compensated> sums;
  each_tile(t, 0, t.n, [&](int64_t row, int64_t size, const CodeTile& tile) {
    std::array<double, Column::kTile> w_tile;
    const double* w = t.w.read(row, row + size, w_tile.data());
    for (size_t i = 0; i < static_cast<size_t>(size); ++i)
      if (tile.row[i] >= 0) sums[{tile.row[i], tile.col[i]}].add(w[i]);
  });
  set_settled<T>(t, build_csr<T>(t, 1, [&](int64_t, const auto& emit) {
                   for (const auto& [at, sum] : sums) {
                     if (sizeof(T) == 4 && t.weight != nullptr && *t.weight == 1)
                       count_cell<T>(t, static_cast<int64_t>(sum.value()));
                     emit(at.first, at.second, static_cast<T>(sum.value()));
                   }
                 }));
}

#define HOPLINE_KERNEL(name) [](Call& call) { with_real(call.ctx, [&](auto t) { name<decltype(t)>(call); }); }

constexpr Kernel kTableKernels[] = {
    {"table", nullptr, HOPLINE_KERNEL(table_fast)},
    {"reference", nullptr, HOPLINE_KERNEL(table_plain)},
};

constexpr Kinds kVectorOrNumber = kMatrix | kNumber;
constexpr Laws kByData{.failure = Failure::by_data, .size_from_data = true};

constexpr Op kOps[] = {
    {.name = "table",
     .params = Params{param::matrix("A"), param::of("B", kVectorOrNumber)},
     .laws = kByData,
     .infer = infer_table,
     .cost = cost_table,
     .kernels = kTableKernels,
     .doc = "Contingency table: cell (a, b) counts the rows with code a in column vector A and b in B (or number B).",
     .example = "T = table(matrix(\"1 2 2\", 3, 1), matrix(\"1 3 3\", 3, 1))\nprint(nrow(T) + \"x\" + ncol(T))  # "
                "expect: 2x3\n"
                "print(as.scalar(T[2, 3]))  # expect: 2.0"},
    {.name = "table",
     .params = Params{param::matrix("A"), param::of("B", kVectorOrNumber), param::of("W", kVectorOrNumber)},
     .laws = kByData,
     .infer = infer_table,
     .cost = cost_table,
     .kernels = kTableKernels,
     .doc = "Weighted contingency table: cell (a, b) adds the weights W of the rows with codes a in A and b in B.",
     .example =
         "T = table(matrix(\"1 2 2\", 3, 1), 1, matrix(\"5 0.5 2\", 3, 1))\nprint(as.scalar(T[2, 1]))  # expect: 2.5"},
    {.name = "table",
     .params =
         Params{param::matrix("A"), param::of("B", kVectorOrNumber), param::number("rows"), param::number("cols")},
     .laws = {.failure = Failure::by_data},
     .infer = infer_table,
     .cost = cost_table,
     .kernels = kTableKernels,
     .doc = "Contingency table of rows x cols cells; codes beyond are dropped. table(seq(1, n), v, n, k) is one-hot "
            "coding.",
     .example = "T = table(seq(1, 3), matrix(\"2 1 9\", 3, 1), 3, 2)\nprint(sum(T))  # expect: "
                "2.0\nprint(as.scalar(T[1, 2]))  # expect: 1.0"},
    {.name = "table",
     .params = Params{param::matrix("A"), param::of("B", kVectorOrNumber), param::of("W", kVectorOrNumber),
                      param::number("rows"), param::number("cols"), param::number("outputEmptyBlocks", "TRUE")},
     .laws = {.failure = Failure::by_data},
     .infer = infer_table,
     .cost = cost_table,
     .kernels = kTableKernels,
     .doc =
         "Weighted contingency table of rows x cols cells; codes beyond are dropped; outputEmptyBlocks has no effect.",
     .example = "T = table(seq(1, 2), matrix(\"2 1\", 2, 1), 0.5, 2, 2)\nprint(sum(T))  # expect: 1.0"},
};

}  // namespace

OpFamily table_ops() { return kOps; }

}  // namespace hopline
