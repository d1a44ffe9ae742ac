// Reorganisations that several operators share. T is double or float.
#pragma once
#include <cstdint>

#include "runtime/ops/call.h"

namespace hopline {

// A block that its caller owns alone may be given by moving: its storage is reused where that is possible.

// Any store in, any store out.
template <class T>
MatrixRef transpose(Context& ctx, MatrixRef m);

// rows * cols equals the number of cells. By row: cells are read and written row after row; else column after column.
template <class T>
MatrixRef reshape(Context& ctx, MatrixRef m, int64_t rows, int64_t cols, bool by_row);

// The block for writing when `m` is its only owner, else null (m stays).
std::shared_ptr<MatrixBlock> own(MatrixRef& m);

}  // namespace hopline
