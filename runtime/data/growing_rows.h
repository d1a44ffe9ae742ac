// Rows of sparse vectors: a CSR block while left indexing fills it. Writing a row costs its own entries, not the whole
// matrix. Columns are int32_t, or int64_t when wide.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/data/matrix_block.h"
#include "runtime/memory/buffer.h"

namespace hopline {

class GrowingRows {
 public:
  // Keeps the buffers of `csr`, whose rows become the first contents; an empty Csr (no buffers) means all zero.
  GrowingRows(Memory& memory, int64_t rows, Precision precision, Csr csr);

  struct Row {
    int64_t count, capacity;
    void* columns;
    void* values;
  };
  const Row& row(int64_t r) const { return rows_.as<Row>()[r]; }
  bool wide() const { return wide_; }
  // Cells [low, high) of row r become the given entries (columns ascend, values not 0); returns by how many the count
  // of entries changed.
  template <class T, class Column>
  int64_t replace(int64_t r, int64_t low, int64_t high, const Column* columns, const T* values, int64_t n);
  int64_t bytes() const;
  // The CSR of what the rows hold.
  Csr to_csr() const;

 private:
  void* take(size_t bytes);  // from the last chunk

  Memory& memory_;
  int64_t num_rows_;
  size_t value_bytes_;
  bool wide_;
  Buffer rows_;
  std::vector<Buffer> chunks_;
  char* free_ = nullptr;
  size_t left_ = 0, next_chunk_ = size_t{1} << 16;
};

}  // namespace hopline
