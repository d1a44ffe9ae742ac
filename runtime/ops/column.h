// One column of a matrix read as doubles, tile by tile, whatever the block's store and precision.
#pragma once
#include <cstdint>

#include "runtime/data/matrix_block.h"

namespace hopline {

class Column {
 public:
  static constexpr int64_t kTile = 1024;

  explicit Column(const MatrixBlock& m, int64_t col = 0) : block_(&m), col_(col) {}
  explicit Column(double everywhere) : constant_(everywhere) {}

  // Rows [begin, end), at most kTile: where they lie, or copied to `tile`.
  const double* read(int64_t begin, int64_t end, double* tile) const;
  // The value that every row has, if the column is known to have one.
  const double* everywhere() const;
  // from + i * increment, if the column is known to be that.
  const Sequence* sequence() const;

 private:
  const MatrixBlock* block_ = nullptr;
  int64_t col_ = 0;
  double constant_ = 0;
};

}  // namespace hopline
