// The linear algebra library. OpenBLAS is opened at first use, never at start-up, on one thread per call: our own
// parallel_for runs blocks of fixed borders, so results do not depend on the number of threads.
#pragma once
#include <cstddef>
#include <string>

namespace hopline {

// Values of the CBLAS interface.
enum class BlasOrder : int { row_major = 101, column_major = 102 };
enum class BlasTranspose : int { no = 111, yes = 112 };
enum class BlasTriangle : int { upper = 121, lower = 122 };
enum class BlasDiagonal : int { stored = 131, unit = 132 };
enum class BlasSide : int { left = 141, right = 142 };

// Always complete: each routine is the library's, or our own plain loop where no library gives right products.
template <class T>
struct Blas {
  // C (m x n) = alpha * op(A) * op(B) + beta * C, with inner dimension k.
  void (*gemm)(BlasOrder, BlasTranspose, BlasTranspose, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
               int ldb, T beta, T* c, int ldc);
  // One triangle of C (n x n) = alpha * A * t(A) + beta * C; with BlasTranspose::yes t(A) * A.
  void (*syrk)(BlasOrder, BlasTriangle, BlasTranspose, int n, int k, T alpha, const T* a, int lda, T beta, T* c,
               int ldc);
  // B (m x n) = alpha * inverse(op(A)) * B, or alpha * B * inverse(op(A)) from the right.
  void (*trsm)(BlasOrder, BlasSide, BlasTriangle, BlasTranspose, BlasDiagonal, int m, int n, T alpha, const T* a,
               int lda, T* b, int ldb);
  // LAPACK, column-major. info > 0: the number (from 1) of the first zero pivot, or of the first bad leading minor.
  void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
  void (*potrf)(const char* triangle, const int* n, T* a, const int* lda, int* info, size_t);
};

// The rest of LAPACK; null when there is no library that gives right products.
template <class T>
struct Lapack {
  void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* work_size, int* info);
  void (*gels)(const char* transpose, const int* m, const int* n, const int* sides, T* a, const int* lda, T* b,
               const int* ldb, T* work, const int* work_size, int* info, size_t);
  void (*syevr)(const char* job, const char* range, const char* triangle, const int* n, T* a, const int* lda,
                const T* low, const T* high, const int* first, const int* last, const T* tolerance, int* found,
                T* values, T* vectors, const int* ldz, int* support, T* work, const int* work_size, int* int_work,
                const int* int_work_size, int* info, size_t, size_t, size_t);
  void (*geev)(const char* left, const char* right, const int* n, T* a, const int* lda, T* real, T* imaginary,
               T* left_vectors, const int* ldl, T* right_vectors, const int* ldr, T* work, const int* work_size,
               int* info, size_t, size_t);
  void (*gesdd)(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt,
                const int* ldvt, T* work, const int* work_size, int* int_work, int* info, size_t);
  void (*gesvd)(const char* job_u, const char* job_vt, const int* m, const int* n, T* a, const int* lda, T* s, T* u,
                const int* ldu, T* vt, const int* ldvt, T* work, const int* work_size, int* info, size_t, size_t);
};

// Thread-safe; opens the library when called first (about 5 ms).
template <class T>
const Blas<T>& blas();
template <class T>
const Lapack<T>* lapack();
// "OpenBLAS Zen", "libblas" or "built-in loops", for --stats and tests. Opens the library.
const std::string& blas_name();

}  // namespace hopline
