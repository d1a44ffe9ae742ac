// Rows of a sparse matrix gathered chunk by chunk in parallel, then joined to CSR.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/base/parallel.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"

namespace hopline {

template <class T>
class SparseRows {
 public:
  // before: rows that stand before each chunk, then the total. Columns are 64-bit when `wide`.
  SparseRows(Context& ctx, const std::vector<int64_t>& before, bool wide)
      : ctx_(ctx), before_(before), wide_(wide), pieces_(before.size() - 1) {
    offsets_ = ctx.memory.allocate(static_cast<size_t>(before.back() + 1) * sizeof(int64_t));
    offsets_.template as<int64_t>()[0] = 0;
  }

  // Entries of one chunk's rows, in order. Not thread-safe; different chunks are independent.
  class Piece {
   public:
    void add(int64_t column, T value) {
      if (value == 0) return;
      if (used_ == room_) grow();
      if (wide_)
        columns_.template as<int64_t>()[used_] = column;
      else
        columns_.template as<int32_t>()[used_] = static_cast<int32_t>(column);
      values_.template as<T>()[used_++] = value;
    }
    // False: the chunk has more rows than were announced.
    bool end_row() {
      if (rows_left_ == 0) return false;
      --rows_left_, *ends_++ = used_ - row_begin_, row_begin_ = used_;
      return true;
    }
    bool complete() const { return rows_left_ == 0; }

   private:
    friend class SparseRows;
    void grow() {
      const int64_t room = std::max<int64_t>(1024, room_ * 2);
      const size_t width = wide_ ? 8 : 4;
      Buffer columns = memory_->allocate(static_cast<size_t>(room) * width);
      Buffer values = memory_->allocate(static_cast<size_t>(room) * sizeof(T));
      if (used_ != 0) {
        std::memcpy(columns.as<char>(), columns_.template as<char>(), static_cast<size_t>(used_) * width);
        std::memcpy(values.as<char>(), values_.template as<char>(), static_cast<size_t>(used_) * sizeof(T));
      }
      columns_ = std::move(columns), values_ = std::move(values), room_ = room;
    }
    Memory* memory_ = nullptr;
    Buffer columns_, values_;
    int64_t used_ = 0, room_ = 0, row_begin_ = 0, rows_left_ = 0;
    int64_t* ends_ = nullptr;
    bool wide_ = false;
  };

  Piece& piece(int64_t chunk) {
    const auto i = static_cast<size_t>(chunk);
    Piece& p = pieces_[i];
    p.memory_ = &ctx_.memory, p.wide_ = wide_;
    p.rows_left_ = before_[i + 1] - before_[i];
    p.ends_ = offsets_.template as<int64_t>() + before_[i] + 1;
    return p;
  }

  std::shared_ptr<MatrixBlock> join(int64_t cols) {
    const int64_t rows = before_.back();
    int64_t* offsets = offsets_.template as<int64_t>();
    for (int64_t r = 0; r < rows; ++r) offsets[r + 1] += offsets[r];
    auto out = new_sparse<T>(ctx_, rows, cols, offsets[rows]);
    Csr& csr = out->csr();
    HOPLINE_CHECK(csr.wide == wide_);
    const size_t width = wide_ ? 8 : 4;
    parallel_for(static_cast<int64_t>(pieces_.size()), ctx_.threads, [&](int64_t i) {
      const Piece p = std::move(pieces_[static_cast<size_t>(i)]);
      if (p.used_ == 0) return;
      const auto at = static_cast<size_t>(offsets[before_[static_cast<size_t>(i)]]), n = static_cast<size_t>(p.used_);
      std::memcpy(csr.columns.as<char>() + at * width, p.columns_.template as<char>(), n * width);
      std::memcpy(csr.values.as<char>() + at * sizeof(T), p.values_.template as<char>(), n * sizeof(T));
    });
    csr.offsets = std::move(offsets_);
    return out;
  }

 private:
  Context& ctx_;
  const std::vector<int64_t>& before_;
  bool wide_;
  std::vector<Piece> pieces_;
  Buffer offsets_;
};

// Takes stored zeros out of a sparse block.
template <class T>
void drop_zeros(MatrixBlock& m) {
  Csr& csr = m.csr();
  auto* offsets = csr.offsets.as<int64_t>();
  T* values = csr.values.as<T>();
  int64_t to = 0, from = 0;
  for (int64_t r = 0; r < m.rows(); ++r) {
    for (; from < offsets[r + 1]; ++from) {
      if (values[from] == 0) continue;
      if (csr.wide)
        csr.columns.as<int64_t>()[to] = csr.columns.as<int64_t>()[from];
      else
        csr.columns.as<int32_t>()[to] = csr.columns.as<int32_t>()[from];
      values[to++] = values[from];
    }
    offsets[r + 1] = to;
  }
  m.set_nnz(to);
}

}  // namespace hopline
