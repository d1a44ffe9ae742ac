// Vector loops over dense cells: counting and collecting those that are not 0.
#pragma once
#include <cstdint>

namespace hopline::cells {

int64_t count_nonzero(const double* cells, int64_t n);
int64_t count_nonzero(const float* cells, int64_t n);
// Writes the numbers (first_column + i) and values of the cells that are not 0; returns how many. The outputs have room
// for exactly as many.
int64_t collect(const double* cells, int64_t n, int64_t first_column, int32_t* columns, double* values);
int64_t collect(const float* cells, int64_t n, int64_t first_column, int32_t* columns, float* values);
int64_t collect(const double* cells, int64_t n, int64_t first_column, int64_t* columns, double* values);
int64_t collect(const float* cells, int64_t n, int64_t first_column, int64_t* columns, float* values);

}  // namespace hopline::cells
