#include "runtime/data/growing_rows.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"

namespace hopline {

namespace {

constexpr size_t kMostChunk = size_t{64} << 20;

std::mutex& finishing() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

GrowingRows::GrowingRows(Memory& memory, int64_t rows, Precision precision, Csr csr)
    : memory_(memory),
      num_rows_(rows),
      value_bytes_(precision == Precision::f64 ? 8 : 4),
      wide_(csr.wide),
      rows_(memory.allocate(static_cast<size_t>(rows) * sizeof(Row))) {
  Row* row = rows_.as<Row>();
  if (csr.offsets.empty()) {
    std::fill_n(row, rows, Row{0, 0, nullptr, nullptr});
    return;
  }
  const auto* offsets = csr.offsets.as<int64_t>();
  const size_t column_bytes = wide_ ? 8 : 4;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t count = offsets[r + 1] - offsets[r];
    const auto at = static_cast<size_t>(offsets[r]);
    row[r] = {count, count, csr.columns.as<char>() + at * column_bytes, csr.values.as<char>() + at * value_bytes_};
  }
  chunks_.push_back(std::move(csr.columns));
  chunks_.push_back(std::move(csr.values));
}

void* GrowingRows::take(size_t bytes) {
  bytes = (bytes + 7) / 8 * 8;
  if (bytes > left_) {
    const size_t chunk = std::max(bytes, next_chunk_);
    next_chunk_ = std::min(next_chunk_ * 2, kMostChunk);
    chunks_.push_back(memory_.allocate(chunk));
    free_ = chunks_.back().as<char>();
    left_ = chunks_.back().bytes();
  }
  void* data = free_;
  free_ += bytes, left_ -= bytes;
  return data;
}

template <class T, class Column>
int64_t GrowingRows::replace(int64_t r, int64_t low, int64_t high, const Column* columns, const T* values, int64_t n) {
  Row& row = rows_.as<Row>()[r];
  auto* old_columns = static_cast<Column*>(row.columns);
  auto* old_values = static_cast<T*>(row.values);
  const int64_t begin = std::lower_bound(old_columns, old_columns + row.count, low) - old_columns;
  const int64_t end = std::lower_bound(old_columns + begin, old_columns + row.count, high) - old_columns;
  const int64_t change = n - (end - begin), count = row.count + change, tail = row.count - end;
  if (count > row.capacity) {
    // A row that grows cell by cell doubles, one that is written at once gets what it needs.
    const int64_t capacity = row.count == 0 ? count : std::max(count, 2 * row.count);
    auto* new_columns = static_cast<Column*>(take(static_cast<size_t>(capacity) * sizeof(Column)));
    auto* new_values = static_cast<T*>(take(static_cast<size_t>(capacity) * sizeof(T)));
    std::copy_n(old_columns, begin, new_columns);
    std::copy_n(old_values, begin, new_values);
    std::copy_n(old_columns + end, tail, new_columns + begin + n);
    std::copy_n(old_values + end, tail, new_values + begin + n);
    row = {count, capacity, new_columns, new_values};
    old_columns = new_columns, old_values = new_values;
  } else if (change != 0) {
    std::memmove(old_columns + begin + n, old_columns + end, static_cast<size_t>(tail) * sizeof(Column));
    std::memmove(old_values + begin + n, old_values + end, static_cast<size_t>(tail) * sizeof(T));
    row.count = count;
  }
  std::copy_n(columns, n, old_columns + begin);
  std::copy_n(values, n, old_values + begin);
  return change;
}

int64_t GrowingRows::bytes() const {
  auto total = static_cast<int64_t>(rows_.bytes());
  for (const Buffer& b : chunks_) total += static_cast<int64_t>(b.bytes());
  return total;
}

Csr GrowingRows::to_csr() const {
  Csr out;
  out.wide = wide_;
  out.offsets = memory_.allocate(static_cast<size_t>(num_rows_ + 1) * sizeof(int64_t));
  auto* offsets = out.offsets.as<int64_t>();
  const Row* rows = rows_.as<Row>();
  offsets[0] = 0;
  for (int64_t r = 0; r < num_rows_; ++r) offsets[r + 1] = offsets[r] + rows[r].count;
  const auto nnz = static_cast<size_t>(offsets[num_rows_]);
  const size_t column_bytes = wide_ ? 8 : 4;
  out.columns = memory_.allocate(nnz * column_bytes);
  out.values = memory_.allocate(nnz * value_bytes_);
  parallel_chunks(num_rows_, 4096, available_threads(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const auto at = static_cast<size_t>(offsets[r]), n = static_cast<size_t>(rows[r].count);
      if (n == 0) continue;
      std::memcpy(out.columns.as<char>() + at * column_bytes, rows[r].columns, n * column_bytes);
      std::memcpy(out.values.as<char>() + at * value_bytes_, rows[r].values, n * value_bytes_);
    }
  });
  return out;
}

MatrixBlock::~MatrixBlock() { delete growing_.load(std::memory_order_relaxed); }

GrowingRows& MatrixBlock::grow(Memory& memory) {
  if (growing() == nullptr) {
    auto rows = std::make_unique<GrowingRows>(memory, rows_, precision_, std::move(std::get<Csr>(store_)));
    growing_.store(rows.release(), std::memory_order_release);
  }
  return *growing();
}

void MatrixBlock::finish_growing() const {
  const std::lock_guard lock(finishing());
  GrowingRows* rows = growing();
  if (rows == nullptr) return;
  store_ = rows->to_csr();
  growing_.store(nullptr, std::memory_order_release);
  delete rows;
}

template int64_t GrowingRows::replace(int64_t, int64_t, int64_t, const int32_t*, const double*, int64_t);
template int64_t GrowingRows::replace(int64_t, int64_t, int64_t, const int64_t*, const double*, int64_t);
template int64_t GrowingRows::replace(int64_t, int64_t, int64_t, const int32_t*, const float*, int64_t);
template int64_t GrowingRows::replace(int64_t, int64_t, int64_t, const int64_t*, const float*, int64_t);

}  // namespace hopline
