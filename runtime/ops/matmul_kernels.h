// Inner loops of products on one thread, compiled for each vector instruction set and chosen once for this CPU.
// Strides are in cells and 64-bit. `add`: onto what c or y holds, else it is overwritten.
#pragma once
#include <cstdint>

namespace hopline {

// Rows of a dense left side that the product with a sparse right side takes at a time.
constexpr int64_t kLaneRows = 8;

template <class T>
struct MatmulKernels {
  // C (m x n) = A (m x k) * B (k x n); A's cell (i, p) stands at a[i * a_row + p * a_col]. k > 0.
  void (*product)(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t ldb,
                  T* c, int64_t ldc, bool add);
  // y[i] = sum over p of a[i * lda + p] * x[p], i in [0, rows).
  void (*row_dots)(int64_t rows, int64_t k, const T* a, int64_t lda, const T* x, T* y, bool add);
  // y[j] += sum over i of x[i] * a[i * lda + j], i in [0, rows), j in [0, n).
  void (*add_weighted_rows)(int64_t rows, int64_t n, const T* a, int64_t lda, const T* x, T* y);
  // to[i] += factor * from[i].
  void (*add_scaled)(int64_t n, T factor, const T* from, T* to);
  // C (rows x n) = S * B for `rows` rows of a CSR matrix whose first has offsets[0]; B (k x n) is dense.
  void (*sparse_rows)(int64_t rows, int64_t n, const int64_t* offsets, const int32_t* columns, const T* values,
                      const T* b, int64_t ldb, T* c, int64_t ldc);
  // c[columns[e] * kLaneRows + lane] += values[e] * a[lane] for each of `entries` entries and each lane.
  void (*add_lanes)(int64_t entries, const int32_t* columns, const T* values, const T* a, T* c);
};

template <class T>
const MatmulKernels<T>& matmul_kernels();

}  // namespace hopline
