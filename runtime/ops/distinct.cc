// unique and countDistinct: values sorted, then compared with their neighbours.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

enum class Direction : uint8_t { all, rows, columns };

Direction direction_of(const Span& span, std::string_view name, const std::string& text) {
  if (text == "rc" || text == "cr") return Direction::all;
  if (text == "r") return Direction::rows;
  if (text != "c") fail(span, "{}: expected dir to be rc, r or c, found {}", name, text);
  return Direction::columns;
}

// rowCountDistinct and colCountDistinct have no dir.
std::optional<size_t> dir_place(const Op& op) {
  for (size_t i = 0; i < op.params.count; ++i)
    if (op.params.list[i].name == "dir") return i;
  return std::nullopt;
}

std::optional<Direction> known_direction(InferCall& infer) {
  const auto place = dir_place(infer.op);
  if (!place) return infer.op.name.starts_with("row") ? Direction::rows : Direction::columns;
  const auto text = infer.string(*place);
  return text ? std::optional(direction_of(infer.span, infer.op.name, *text)) : std::nullopt;
}

Direction direction(const Call& call) {
  const auto place = dir_place(call.op);
  if (!place) return call.op.name.starts_with("row") ? Direction::rows : Direction::columns;
  return direction_of(call.span, call.op.name, call.string(*place));
}

void infer_count(InferCall& infer) {
  const Meta& x = infer.in[0];
  const auto dir = known_direction(infer);
  infer.out[0] = {};  // without dir not even the kind is known
  if (!dir) return;
  infer.out[0] = *dir == Direction::all    ? scalar_meta(Kind::integer)
                 : *dir == Direction::rows ? matrix_meta(x.rows, 1)
                                           : matrix_meta(1, x.cols);
}

void infer_unique(InferCall& infer) {
  const Meta& x = infer.in[0];
  const auto dir = known_direction(infer);
  infer.out[0] = matrix_meta(-1, -1);
  if (dir == Direction::all) infer.out[0].cols = 1;
  if (dir == Direction::rows) infer.out[0].rows = x.rows;
  if (dir == Direction::columns) infer.out[0].cols = x.cols;
}

Cost cost_distinct(const InferCall& infer) {
  const Meta& x = infer.in[0];
  const double cells =
      static_cast<double>(std::max<int64_t>(x.rows, 1)) * static_cast<double>(std::max<int64_t>(x.cols, 1));
  return {30 * cells, 24 * cells, 8 * cells, 16 * cells};
}

// --- the values, cut into segments ----------------------------------------------------------------------------------

// Keys of the stored cells: all of them, or those of each row or column on their own.
struct Segments {
  Buffer keys;
  std::vector<int64_t> starts;  // one more than there are segments; ends[i] <= starts[i + 1] once duplicates are gone
  std::vector<int64_t> ends;
  int64_t length = 0;  // cells of a segment, with the zeros that are not stored
  int64_t count() const { return static_cast<int64_t>(ends.size()); }
  Key* segment(int64_t i) { return keys.as<Key>() + starts[static_cast<size_t>(i)]; }
  int64_t size(int64_t i) const { return ends[static_cast<size_t>(i)] - starts[static_cast<size_t>(i)]; }
};

template <class T>
class StoredKeys final : public KeySource {
 public:
  explicit StoredKeys(const T* values) : values_(values) {}
  void read(int64_t begin, int64_t end, uint64_t* keys) const override {
    for (int64_t i = begin; i < end; ++i) keys[i - begin] = ascending_key(static_cast<double>(values_[i]));
  }

 private:
  const T* values_;
};

int64_t column_at(const Csr& s, int64_t k) { return s.wide ? s.columns.as<int64_t>()[k] : s.columns.as<int32_t>()[k]; }

template <class T>
const T* stored(const MatrixBlock& m) {
  return m.is_sparse() ? m.csr().values.as<T>() : m.dense<T>();
}
int64_t stored_count(const MatrixBlock& m) { return m.is_sparse() ? m.nnz_if_known() : m.cells(); }

template <class T>
Segments row_segments(Call& call, const MatrixBlock& m) {
  Segments s;
  s.length = m.cols();
  s.keys = call.ctx.memory.allocate(static_cast<size_t>(stored_count(m)) * sizeof(Key));
  for (int64_t r = 0; r <= m.rows(); ++r)
    s.starts.push_back(m.is_sparse() ? m.csr().offsets.as<int64_t>()[r] : r * m.cols());
  const T* values = stored<T>(m);
  Key* keys = s.keys.as<Key>();
  parallel_chunks(stored_count(m), 1 << 16, call.ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) keys[i].key = ascending_key(static_cast<double>(values[i]));
  });
  s.ends.assign(s.starts.begin() + 1, s.starts.end());
  return s;
}

template <class T>
Segments column_segments(Call& call, const MatrixBlock& m) {
  Segments s;
  const int64_t rows = m.rows(), cols = m.cols();
  s.length = rows;
  s.keys = call.ctx.memory.allocate(static_cast<size_t>(stored_count(m)) * sizeof(Key));
  s.starts.assign(static_cast<size_t>(cols) + 1, 0);
  Key* keys = s.keys.as<Key>();
  const T* values = stored<T>(m);
  if (m.is_sparse()) {
    for (int64_t k = 0; k < stored_count(m); ++k) ++s.starts[static_cast<size_t>(column_at(m.csr(), k)) + 1];
    for (size_t c = 1; c < s.starts.size(); ++c) s.starts[c] += s.starts[c - 1];
    std::vector<int64_t> next(s.starts.begin(), s.starts.end() - 1);
    for (int64_t k = 0; k < stored_count(m); ++k)
      keys[next[static_cast<size_t>(column_at(m.csr(), k))]++].key = ascending_key(static_cast<double>(values[k]));
  } else {
    for (size_t c = 1; c < s.starts.size(); ++c) s.starts[c] = static_cast<int64_t>(c) * rows;
    constexpr int64_t kBlock = 64;
    parallel_chunks(rows, kBlock, call.ctx.threads, [&](int64_t begin, int64_t end) {
      for (int64_t first = 0; first < cols; first += kBlock)
        for (int64_t r = begin; r < end; ++r)
          for (int64_t c = first; c < std::min(cols, first + kBlock); ++c)
            keys[c * rows + r].key = ascending_key(static_cast<double>(values[r * cols + c]));
    });
  }
  s.ends.assign(s.starts.begin() + 1, s.starts.end());
  return s;
}

template <class T>
Segments whole_segment(Call& call, const MatrixBlock& m) {
  Segments s;
  s.length = m.cells();
  s.starts = {0, stored_count(m)};
  s.ends = {stored_count(m)};
  s.keys = call.ctx.memory.allocate(static_cast<size_t>(stored_count(m)) * sizeof(Key));
  const StoredKeys<T> keys(stored<T>(m));
  sort_keys(call, keys, stored_count(m), s.keys.as<Key>(), {});
  return s;
}

bool less(Key a, Key b) { return a.key < b.key; }

// Sorted segments without duplicates. Zeros that are not stored are not in them.
template <class T>
Segments distinct(Call& call, const MatrixBlock& m, Direction dir) {
  if (dir == Direction::columns && m.cols() == 1) dir = Direction::all;
  if (dir == Direction::rows && m.rows() == 1) dir = Direction::all;
  Segments s = dir == Direction::all    ? whole_segment<T>(call, m)
               : dir == Direction::rows ? row_segments<T>(call, m)
                                        : column_segments<T>(call, m);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, s.length));
  parallel_chunks(s.count(), grain, call.ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Key *first = s.segment(i), *last = first + s.size(i);
      if (dir != Direction::all) std::sort(first, last, less);
      last = std::unique(first, last, [](Key a, Key b) { return a.key == b.key; });
      s.ends[static_cast<size_t>(i)] = s.starts[static_cast<size_t>(i)] + (last - first);
    }
  });
  return s;
}

// Distinct values of segment i, given how many cells it stored before duplicates went.
int64_t count_of(Segments& s, int64_t i) {
  const int64_t stored_cells = s.starts[static_cast<size_t>(i) + 1] - s.starts[static_cast<size_t>(i)];
  return s.size(i) + (stored_cells < s.length ? 1 : 0);
}

// Writes them, ascending, to out[0], out[step], ...; returns how many.
template <class T>
int64_t write_values(Segments& s, int64_t i, T* out, int64_t step) {
  const uint64_t zero = ascending_key(0.0);
  bool missing = count_of(s, i) > s.size(i);
  int64_t n = 0;
  for (Key *k = s.segment(i), *end = k + s.size(i); k < end; ++k) {
    if (missing && k->key > zero) out[n++ * step] = 0, missing = false;
    out[n++ * step] = static_cast<T>(number_of_ascending(k->key));
  }
  if (missing) out[n++ * step] = 0;
  return n;
}

// --- the operators --------------------------------------------------------------------------------------------------

MatrixRef shaped(Call& call, Direction dir, std::shared_ptr<MatrixBlock> counts) {
  if (dir == Direction::columns) counts->reshape_dense(1, counts->cells());
  return counts;
}

template <class T>
void count_distinct(Call& call) {
  const Direction dir = direction(call);
  const MatrixRef m = materialize<T>(call.ctx, call.matrix_ref(0));
  Segments s = distinct<T>(call, *m, dir);
  if (dir == Direction::all) {
    call.out[0] = count_of(s, 0);
    return;
  }
  const int64_t n = dir == Direction::rows ? m->rows() : m->cols();
  if (m->cells() == 0)
    return call.set(new_zeros(call.ctx, dir == Direction::rows ? n : 1, dir == Direction::rows ? 1 : n));
  auto out = new_dense<T>(call.ctx, n, 1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t count = count_of(s, i);
    if (sizeof(T) == 4 && count > 1 << 24)
      call.fail("{}: a count above 2^24 does not fit single precision, found {}", call.op.name, count);
    out->template dense<T>()[i] = static_cast<T>(count);
  }
  call.set(shaped(call, dir, std::move(out)));
}

template <class T>
void unique(Call& call) {
  const Direction dir = direction(call);
  const MatrixRef m = materialize<T>(call.ctx, call.matrix_ref(0));
  if (m->cells() == 0)
    return call.set(new_zeros(call.ctx, dir == Direction::rows ? m->rows() : 0,
                              dir == Direction::all       ? 1
                              : dir == Direction::columns ? m->cols()
                                                          : 0));
  Segments s = distinct<T>(call, *m, dir);
  int64_t most = 0;
  for (int64_t i = 0; i < s.count(); ++i) most = std::max(most, count_of(s, i));
  const bool across = dir == Direction::rows;  // a segment becomes a row of the result
  const int64_t segments = s.count();
  auto out = across ? new_dense<T>(call.ctx, segments, most) : new_dense<T>(call.ctx, most, segments);
  T* to = out->template dense<T>();
  parallel_chunks(segments, std::max<int64_t>(1, (1 << 14) / most), call.ctx.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* first = to + (across ? i * most : i);
      const int64_t step = across ? 1 : segments;
      for (int64_t k = write_values(s, i, first, step); k < most; ++k) first[k * step] = 0;
    }
  });
  call.set(settle<T>(call.ctx, std::move(out)));
}

#define HOPLINE_KERNEL(name) [](Call& call) { with_real(call.ctx, [&](auto t) { name<decltype(t)>(call); }); }

constexpr Kernel kCountKernels[] = {{"sort", nullptr, HOPLINE_KERNEL(count_distinct)}};
constexpr Kernel kUniqueKernels[] = {{"sort", nullptr, HOPLINE_KERNEL(unique)}};

constexpr Op count_row(std::string_view name, Params params, std::string_view doc, std::string_view example) {
  Op row;
  row.name = name;
  row.params = params;
  row.infer = infer_count;
  row.cost = cost_distinct;
  row.kernels = kCountKernels;
  row.doc = doc;
  row.example = example;
  return row;
}

constexpr Param kDir = param::text("dir", "\"rc\"");
constexpr Param kType = param::text("type", "\"KMV\"");

constexpr Op kOps[] = {
    {.name = "unique",
     .params = {param::matrix("X"), kDir},
     .laws = {.failure = Failure::by_data, .size_from_data = true},
     .infer = infer_unique,
     .cost = cost_distinct,
     .kernels = kUniqueKernels,
     .doc = "The distinct values of X, ascending, as a column; with dir=\"r\" of each row, with \"c\" of each column, "
            "filled "
            "up with zeros.",
     .example = "U = unique(matrix(\"3 1 3 2\", 2, 2))\nprint(nrow(U))  # expect: 3\nprint(as.scalar(U[1, 1]))  # "
                "expect: 1.0"},
    count_row("countDistinct", {param::matrix("X"), kDir},
              "Count of distinct values of X; with dir=\"r\" of each row, with \"c\" of each column.",
              "print(countDistinct(matrix(\"0 2 2 0\", 2, 2)))  # expect: 2"),
    count_row("rowCountDistinct", {param::matrix("X")}, "Count of distinct values of each row.",
              "print(sum(rowCountDistinct(matrix(\"1 2 3 3\", 2, 2))))  # expect: 3.0"),
    count_row("colCountDistinct", {param::matrix("X")}, "Count of distinct values of each column.",
              "print(sum(colCountDistinct(matrix(\"1 2 1 3\", 2, 2))))  # expect: 3.0"),
    count_row("countDistinctApprox", {param::matrix("X"), kType, kDir},
              "As countDistinct, whose exact count it gives; type is accepted without effect.",
              "print(countDistinctApprox(matrix(\"0 2 2 0\", 2, 2)))  # expect: 2"),
    count_row("rowCountDistinctApprox", {param::matrix("X"), kType},
              "As rowCountDistinct; type is accepted without effect.",
              "print(sum(rowCountDistinctApprox(matrix(\"1 2 3 3\", 2, 2))))  # expect: 3.0"),
    count_row("colCountDistinctApprox", {param::matrix("X"), kType},
              "As colCountDistinct; type is accepted without effect.",
              "print(sum(colCountDistinctApprox(matrix(\"1 2 1 3\", 2, 2))))  # expect: 3.0"),
};

}  // namespace

OpFamily distinct_ops() { return kOps; }

}  // namespace hopline
