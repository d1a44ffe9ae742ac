// Vector loops of the dense transpose.
#pragma once
#include <cstdint>

namespace hopline::tiles {

// out[c * out_stride + r] = in[r * in_stride + c] for r < rows, c < cols.
void transpose(const double* in, int64_t in_stride, int64_t rows, int64_t cols, double* out, int64_t out_stride);
void transpose(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out, int64_t out_stride);
// Copies n cells past the caches, whole cache lines at a time; flush() once before others read them.
void stream(const double* in, int64_t n, double* out);
void stream(const float* in, int64_t n, float* out);
void flush();

}  // namespace hopline::tiles
