// Operands of cell-wise functions: how they broadcast, and their cells tile by tile whatever their store.
#pragma once
#include <cstdint>
#include <memory>

#include "runtime/base/parallel.h"
#include "runtime/ops/call.h"

namespace hopline {

// How an operand covers the result: cell for cell, one value, its one row repeated, its one column repeated.
enum class Form : uint8_t { whole, one, row, column };

struct Broadcast {
  bool fits = false;
  int64_t rows = 0, cols = 0;  // of the result
  Form left = Form::whole, right = Form::whole;
};
// The rule of the language: equal sizes; on the right a row vector, a column vector or a 1x1 matrix; a column with a
// row.
Broadcast broadcast(int64_t left_rows, int64_t left_cols, int64_t right_rows, int64_t right_cols);

// One operand of a result of known sizes. A scalar, a 1x1 matrix on the right and a constant block are `one`.
struct Operand {
  Form form = Form::one;
  bool empty = false;              // a matrix without non-zeros, as far as it knows
  double value = 0;                // of `one`
  const MatrixRef* ref = nullptr;  // of the others
  const MatrixBlock& block() const { return **ref; }
  bool is_dense() const { return form != Form::one && block().is_dense(); }
  bool is_sparse() const { return form != Form::one && block().is_sparse(); }
};
struct OperandPair {
  int64_t rows = 0, cols = 0;
  Operand left, right;
  int64_t cells() const { return rows * cols; }
};
// Of two inputs of which at least one is a matrix, whose sizes infer() has accepted.
OperandPair operands(const Value& left, const Value& right);
Operand operand(const Value& value, Form form);

constexpr int64_t kTile = 2048;          // cells per tile: three of them stay in L1
constexpr int64_t kCellGrain = 1 << 16;  // cells per task of a cheap function
int64_t cell_grain(int flops);           // fewer where a cell costs more

// body(begin, n) for the tiles of [0, cells), in tasks of `grain` cells.
template <class F>
void for_tiles(Context& ctx, int64_t cells, int64_t grain, const F& body) {
  parallel_chunks(cells, grain, ctx.threads, [&](int64_t begin, int64_t end) {
    for (; begin < end; begin += kTile) body(begin, end - begin < kTile ? end - begin : kTile);
  });
}

// The cells of an operand as if it had the sizes of the result. Reading is thread-safe. The operand's block must live
// on; it may be written where its cells have been read.
template <class T>
class TileReader {
 public:
  TileReader(Context& ctx, const Operand& operand, int64_t rows, int64_t cols);
  // Cells [begin, begin + n) of the result, n <= kTile: a pointer into the operand, or `scratch` filled.
  const T* read(int64_t begin, int64_t n, T* scratch) const;

 private:
  void scatter(int64_t begin, int64_t n, T* out) const;
  void repeat_row(int64_t begin, int64_t n, T* out) const;
  void repeat_column(int64_t begin, int64_t n, T* out) const;
  Form form_;
  int64_t cols_;
  const MatrixBlock* block_ = nullptr;  // kept by the caller
  MatrixRef vector_;                    // a row or a column made dense
  const T* dense_ = nullptr;
  Buffer repeated_;  // a constant tile, or a narrow row often enough that every tile is a piece of it
};

}  // namespace hopline
