// Cells of virtual blocks (constants, sequences, keyed random draws), computed on demand.
#pragma once
#include <cstdint>

#include "runtime/data/matrix_block.h"

namespace hopline {

// Writes cells [begin, end) (row-major numbers) of the block to out[0...].
template <class T>
void read_cells(const MatrixBlock& m, int64_t begin, int64_t end, T* out);
// One cell.
double read_cell(const MatrixBlock& m, int64_t row, int64_t col);
// Does the rule promise mostly zeros (a sparse draw, or the constant 0)?
bool virtual_is_sparse(const MatrixBlock& m);
// Cells [begin, end) of a random draw (design 6); in random.cc.
template <class T>
void draw_cells(const Random& draw, int64_t begin, int64_t end, T* out);

}  // namespace hopline
