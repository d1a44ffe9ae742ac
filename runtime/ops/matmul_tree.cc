// Sums over parts of the inner dimension, merged by a fixed binary tree.
#include <algorithm>
#include <bit>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/matmul_kernels.h"

namespace hopline {

namespace {

constexpr int64_t kTasksPerThread = 32;
constexpr int64_t kMostGroupBytes = int64_t{64} << 20;

int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

int64_t count_tiles(const TreeSum& s) {
  const int64_t rows = parts(s.m, s.tile_m), cols = parts(s.n, s.tile_n);
  return s.upper ? rows * (rows + 1) / 2 : rows * cols;
}

Tile tile_at(const TreeSum& s, int64_t number) {
  int64_t row = 0, col = number;
  const int64_t cols = parts(s.n, s.tile_n);
  if (s.upper) {
    for (int64_t in_row = cols; col >= in_row; --in_row) col -= in_row, ++row;
    col += row;
  } else {
    row = number / cols, col = number % cols;
  }
  return {row * s.tile_m, std::min(s.m, (row + 1) * s.tile_m), col * s.tile_n, std::min(s.n, (col + 1) * s.tile_n)};
}

// Leaves that one task sums: a whole subtree, so a power of two. It shapes the schedule, never the result.
int64_t leaves_per_task(const TreeSum& s, int threads, size_t cell) {
  if (threads <= 1) return s.leaves;
  const int64_t tiles = count_tiles(s);
  const int64_t affordable = 1 + kMostGroupBytes / std::max<int64_t>(1, s.m * s.n * static_cast<int64_t>(cell));
  const int64_t groups = std::min(affordable, std::max<int64_t>(1, kTasksPerThread * threads / tiles));
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(parts(s.leaves, groups))));
}

template <class T>
void add_rows(const TreeSum& s, const Tile& t, T* to, int64_t to_ld, const T* from, int64_t from_ld) {
  const MatmulKernels<T>& f = matmul_kernels<T>();
  for (int64_t i = t.row_begin; i < t.row_end; ++i) {
    const int64_t first = s.upper ? std::max(i, t.col_begin) - t.col_begin : 0, row = i - t.row_begin;
    if (first >= t.col_end - t.col_begin) continue;
    f.add_scaled(t.col_end - t.col_begin - first, 1, from + row * from_ld + first, to + row * to_ld + first);
  }
}

// The subtree of leaves [begin, end) of one tile, left in out: a stack of complete subtrees, as a binary counter.
template <class T>
void sum_subtree(Context& ctx, const Span& span, const TreeSum& s, const Tile& tile, int64_t begin, int64_t end, T* out,
                 int64_t ld, const TreePart<T>& part) {
  struct Entry {
    T* cells;
    int64_t ld;
    int level;
    Buffer buffer;
  };
  std::vector<Entry> stack;
  std::vector<Buffer> spare;
  const int64_t width = tile.col_end - tile.col_begin;
  const size_t bytes = static_cast<size_t>((tile.row_end - tile.row_begin) * width) * sizeof(T);
  const auto merge_last = [&] {
    Entry right = std::move(stack.back());
    stack.pop_back();
    Entry& left = stack.back();
    add_rows<T>(s, tile, left.cells, left.ld, right.cells, right.ld);
    ++left.level;
    spare.push_back(std::move(right.buffer));
  };
  for (int64_t leaf = begin; leaf < end; ++leaf) {
    if (ctx.session != nullptr) ctx.session->poll(span);
    if (stack.empty()) {
      stack.push_back({out, ld, 0, {}});
    } else {
      if (spare.empty()) spare.push_back(ctx.memory.allocate(bytes));
      Buffer buffer = std::move(spare.back());
      spare.pop_back();
      T* cells = buffer.as<T>();
      stack.push_back({cells, width, 0, std::move(buffer)});
    }
    part(tile, leaf, stack.back().cells, stack.back().ld);
    while (stack.size() > 1 && stack[stack.size() - 2].level == stack.back().level) merge_last();
  }
  while (stack.size() > 1) merge_last();
}

}  // namespace

template <class T>
void tree_sum(Context& ctx, const Span& span, const TreeSum& s, T* c, int64_t ldc, int threads,
              const TreePart<T>& part) {
  if (s.m == 0 || s.n == 0) return;
  const int64_t tiles = count_tiles(s), each = leaves_per_task(s, threads, sizeof(T)), groups = parts(s.leaves, each);
  // The first group works in the result itself, each other one in a matrix of its own.
  Buffer others;
  if (groups > 1) others = ctx.memory.allocate(static_cast<size_t>((groups - 1) * s.m * s.n) * sizeof(T));
  const auto cells_of = [&](int64_t group, int64_t row, int64_t col) {
    return group == 0 ? c + row * ldc + col : others.as<T>() + ((group - 1) * s.m + row) * s.n + col;
  };
  const auto task = [&](int64_t number) {
    const Tile tile = tile_at(s, number % tiles);
    const int64_t group = number / tiles, begin = group * each;
    sum_subtree(ctx, span, s, tile, begin, std::min(s.leaves, begin + each),
                cells_of(group, tile.row_begin, tile.col_begin), group == 0 ? ldc : s.n, part);
  };
  if (tiles * groups == 1 || threads <= 1)
    for (int64_t i = 0; i < tiles * groups; ++i) task(i);
  else
    parallel_for(tiles * groups, threads, task);
  if (groups == 1) return;
  parallel_chunks(s.m, std::max<int64_t>(1, (1 << 14) / s.n), threads, [&](int64_t begin, int64_t end) {
    const Tile rows{begin, end, 0, s.n};
    for (int64_t step = 1; step < groups; step *= 2)
      for (int64_t g = 0; g + step < groups; g += 2 * step)
        add_rows<T>(s, rows, cells_of(g, begin, 0), g == 0 ? ldc : s.n, cells_of(g + step, begin, 0), s.n);
  });
}

double tree_sum_scratch(const TreeSum& s, int threads, size_t cell) {
  const int64_t each = leaves_per_task(s, threads, cell), groups = parts(s.leaves, each);
  const double tile = static_cast<double>(s.tile_m) * static_cast<double>(s.tile_n) * static_cast<double>(cell);
  const double tasks = static_cast<double>(std::min<int64_t>(threads, count_tiles(s) * groups));
  const double depth = std::bit_width(static_cast<uint64_t>(std::min(each, s.leaves) - 1));
  return static_cast<double>(groups - 1) * static_cast<double>(s.m * s.n) * static_cast<double>(cell) +
         tasks * depth * tile;
}

template void tree_sum<double>(Context&, const Span&, const TreeSum&, double*, int64_t, int, const TreePart<double>&);
template void tree_sum<float>(Context&, const Span&, const TreeSum&, float*, int64_t, int, const TreePart<float>&);

}  // namespace hopline
