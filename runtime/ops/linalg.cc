// Solving, decompositions and Fourier transforms: rows, sizes and costs.
#include "runtime/ops/linalg.h"

#include <algorithm>

#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

constexpr double kCell = sizeof(double);

double size_of(int64_t n) { return static_cast<double>(std::max<int64_t>(0, n)); }

void expect_square(InferCall& c) {
  const Meta& a = c.in[0];
  if (a.sizes_known() && a.rows != a.cols) c.fail("{} expects a square matrix, found {}", c.op.name, dims(a));
}
int64_t square_size(const InferCall& c) { return std::max(c.in[0].rows, c.in[0].cols); }

void infer_solve(InferCall& c) {
  if (c.in[0].rows >= 0 && c.in[1].rows >= 0 && c.in[0].rows != c.in[1].rows)
    c.fail("solve(A, b) expects as many rows in b as in A, found {} and {}", dims(c.in[0]), dims(c.in[1]));
  c.out[0] = matrix_meta(c.in[0].cols, c.in[1].cols);
}

Cost cost_solve(const InferCall& c) {
  const double m = size_of(c.in[0].rows), n = size_of(c.in[0].cols), r = size_of(c.in[1].cols);
  Cost cost;
  cost.flops = m == n ? 2.0 / 3 * n * n * n + 2 * n * n * r : 2 * std::max(m, n) * std::min(m, n) * std::min(m, n);
  cost.bytes_read = (m * n + m * r) * kCell;
  cost.bytes_written = n * r * kCell;
  cost.scratch = (m * n + (m == n ? 0 : std::max(m, n) * r)) * kCell;
  return cost;
}

void infer_square(InferCall& c) {
  expect_square(c);
  const int64_t n = square_size(c);
  for (Meta& out : c.out) out = matrix_meta(n, n);
}
void infer_determinant(InferCall& c) {
  expect_square(c);
  c.out[0] = scalar_meta(Kind::real);
}
void infer_eigen(InferCall& c) {
  expect_square(c);
  const int64_t n = square_size(c);
  c.out[0] = matrix_meta(n, 1), c.out[1] = matrix_meta(n, n);
}
void infer_qr(InferCall& c) { c.out[0] = c.out[1] = matrix_meta(c.in[0].rows, c.in[0].cols); }
void infer_svd(InferCall& c) {
  const Meta& a = c.in[0];
  const int64_t k = a.sizes_known() ? std::min(a.rows, a.cols) : -1;
  c.out[0] = matrix_meta(a.rows, k), c.out[1] = matrix_meta(k, k), c.out[2] = matrix_meta(a.cols, k);
}

// factor: multiplications and additions per cube of the size; copies: temporaries of the input's size.
template <int kFlopsPerCube, int kCopies>
Cost cost_cubic(const InferCall& c) {
  const double m = size_of(c.in[0].rows), n = size_of(c.in[0].cols), k = std::min(m, n);
  return {.flops = static_cast<double>(kFlopsPerCube) / 3 * m * n * k,
          .bytes_read = m * n * kCell,
          .bytes_written = m * n * kCell * static_cast<double>(c.out.size()),
          .scratch = (m * n * kCopies + 64 * std::max(m, n)) * kCell};
}
Cost cost_svd(const InferCall& c) {
  Cost cost = cost_cubic<48, 1>(c);
  const double k = std::min(size_of(c.in[0].rows), size_of(c.in[0].cols));
  if (k <= 8192) cost.scratch += (4 * k * k + 7 * k) * kCell;
  return cost;
}

bool power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

template <bool kBothWays>
void infer_transform(InferCall& c) {
  const Meta& re = c.in[0];
  if ((re.cols >= 0 && !power_of_two(re.cols)) || (kBothWays && re.rows >= 0 && !power_of_two(re.rows)))
    c.fail("{} expects {} a power of two, found {}", c.op.name,
           kBothWays ? "numbers of rows and columns that are" : "a number of columns that is", dims(re));
  if (c.in.size() > 1 && c.in[1].kind == Kind::matrix && c.in[1].sizes_known() && re.sizes_known() &&
      (c.in[1].rows != re.rows || c.in[1].cols != re.cols))
    c.fail("{} expects real and imaginary parts of equal sizes, found {} and {}", c.op.name, dims(re), dims(c.in[1]));
  c.out[0] = c.out[1] = matrix_meta(re.rows, re.cols);
}

void infer_stft(InferCall& c) {
  const size_t options = c.in.size() - 2;
  const Meta& re = c.in[0];
  const auto window = c.integer(options), overlap = c.integer(options + 1);
  if (window && !power_of_two(*window)) c.fail("stft expects a window of a power of two cells, found {}", *window);
  if (overlap && *overlap < 0) c.fail("stft expects an overlap of at least 0, found {}", *overlap);
  if (window && overlap && *overlap >= *window)
    c.fail("stft expects an overlap below the window, found {} and {}", *overlap, *window);
  if (options == 2 && c.in[1].sizes_known() && re.sizes_known() && (c.in[1].rows != re.rows || c.in[1].cols != re.cols))
    c.fail("stft expects real and imaginary parts of equal sizes, found {} and {}", dims(re), dims(c.in[1]));
  int64_t width = -1;
  if (window && overlap && re.cols >= 0) {
    const int64_t step = *window - *overlap;
    const int64_t frames = re.cols <= *overlap ? 0 : (re.cols - *overlap - 1) / step + 1;
    if (frames > INT64_MAX / 8 / *window) c.fail("the result of stft is too wide: {} frames of {}", frames, *window);
    width = frames * *window;
  }
  c.out[0] = c.out[1] = matrix_meta(re.rows, width);
}

Cost cost_transform(const InferCall& c) {
  const double cells = size_of(c.in[0].rows) * size_of(c.in[0].cols);
  return {.flops = 5 * cells * 32,
          .bytes_read = cells * kCell,
          .bytes_written = 2 * cells * kCell,
          .scratch = 16 * std::max(size_of(c.in[0].rows), size_of(c.in[0].cols)) * kCell};
}

constexpr Kernel kSolve[] = {{"blocked", nullptr, solve_kernel}};
constexpr Kernel kInverse[] = {{"blocked", nullptr, inverse_kernel}};
constexpr Kernel kDeterminant[] = {{"blocked", nullptr, determinant_kernel}};
constexpr Kernel kCholesky[] = {{"blocked", nullptr, cholesky_kernel}};
constexpr Kernel kLu[] = {{"blocked", nullptr, lu_kernel}};
constexpr Kernel kQr[] = {{"lapack", nullptr, qr_kernel}};
constexpr Kernel kEigen[] = {{"lapack", nullptr, eigen_kernel}};
constexpr Kernel kSvd[] = {{"lapack", nullptr, svd_kernel}};
constexpr Kernel kFft[] = {{"radix2", nullptr, fft_kernel}};
constexpr Kernel kInverseFft[] = {{"radix2", nullptr, inverse_fft_kernel}};
constexpr Kernel kFftRows[] = {{"radix2", nullptr, fft_rows_kernel}};
constexpr Kernel kInverseFftRows[] = {{"radix2", nullptr, inverse_fft_rows_kernel}};
constexpr Kernel kStft[] = {{"radix2", nullptr, stft_kernel}};

constexpr Kernel kEinsum[] = {{"pairwise", nullptr, einsum_kernel}};

constexpr Laws kMayFail{.failure = Failure::by_data};

constexpr Op kOps[] = {
    {.name = "solve",
     .params = {param::matrix("A"), param::matrix("b")},
     .laws = kMayFail,
     .infer = infer_solve,
     .cost = cost_solve,
     .kernels = kSolve,
     .doc = "X with A %*% X = b; least squares where A has more rows than columns, least norm where it has fewer.",
     .example =
         "A = matrix(\"2 1 1 3\", rows=2, cols=2)\n"
         "b = matrix(\"3 5\", rows=2, cols=1)\n"
         "x = solve(A, b)\n"
         "print(round(as.scalar(x[1,1]) * 1000) + \" \" + round(as.scalar(x[2,1]) * 1000))  # expect: 800.0 1400.0\n"},
    {.name = "inv",
     .aliases = {"inverse"},
     .params = {param::matrix("A")},
     .laws = kMayFail,
     .infer = infer_square,
     .cost = cost_cubic<8, 1>,
     .kernels = kInverse,
     .doc = "Inverse of a square matrix.",
     .example = "A = matrix(\"2 0 0 4\", rows=2, cols=2)\n"
                "B = inv(A)\n"
                "print(as.scalar(B[1,1]) + \" \" + as.scalar(B[2,2]))  # expect: 0.5 0.25\n"},
    {.name = "det",
     .params = {param::matrix("A")},
     .infer = infer_determinant,
     .cost = cost_cubic<2, 1>,
     .kernels = kDeterminant,
     .doc = "Determinant of a square matrix.",
     .example = "A = matrix(\"2 1 1 3\", rows=2, cols=2)\n"
                "print(round(det(A)))  # expect: 5.0\n"},
    {.name = "cholesky",
     .params = {param::matrix("A")},
     .laws = kMayFail,
     .infer = infer_square,
     .cost = cost_cubic<1, 0>,
     .kernels = kCholesky,
     .doc = "Lower triangular L with A = L %*% t(L), for a symmetric positive definite A.",
     .example =
         "A = matrix(\"4 2 2 5\", rows=2, cols=2)\n"
         "L = cholesky(A)\n"
         "print(as.scalar(L[1,1]) + \" \" + as.scalar(L[2,1]) + \" \" + as.scalar(L[2,2]))  # expect: 2.0 1.0 2.0\n"},
    {.name = "eigen",
     .params = {param::matrix("A")},
     .outputs = 2,
     .laws = kMayFail,
     .infer = infer_eigen,
     .cost = cost_cubic<27, 1>,
     .kernels = kEigen,
     .doc = "[w, V] = eigen(A): eigenvalues in ascending order (real parts) and their unit vectors as columns.",
     .example = "A = matrix(\"2 0 0 1\", rows=2, cols=2)\n"
                "[w, V] = eigen(A)\n"
                "print(as.scalar(w[1,1]) + \" \" + as.scalar(w[2,1]))  # expect: 1.0 2.0\n"},
    {.name = "svd",
     .params = {param::matrix("A")},
     .outputs = 3,
     .laws = kMayFail,
     .infer = infer_svd,
     .cost = cost_svd,
     .kernels = kSvd,
     .doc = "[U, S, V] = svd(A): A = U %*% S %*% t(V), S diagonal with descending singular values.",
     .example = "A = matrix(\"3 0 0 4\", rows=2, cols=2)\n"
                "[U, S, V] = svd(A)\n"
                "print(as.scalar(S[1,1]) + \" \" + as.scalar(S[2,2]))  # expect: 4.0 3.0\n"},
    {.name = "lu",
     .params = {param::matrix("A")},
     .outputs = 3,
     .laws = kMayFail,
     .infer = infer_square,
     .cost = cost_cubic<2, 1>,
     .kernels = kLu,
     .doc = "[P, L, U] = lu(A): P %*% A = L %*% U, L unit lower triangular, U upper triangular, P an exchange of rows.",
     .example =
         "A = matrix(\"1 2 4 4\", rows=2, cols=2)\n"
         "[P, L, U] = lu(A)\n"
         "print(as.scalar(L[2,1]) + \" \" + as.scalar(U[1,1]) + \" \" + as.scalar(U[2,2]))  # expect: 0.25 4.0 1.0\n"},
    {.name = "qr",
     .params = {param::matrix("A")},
     .outputs = 2,
     .infer = infer_qr,
     .cost = cost_cubic<4, 1>,
     .kernels = kQr,
     .doc =
         "[H, R] = qr(A): R upper triangular; column j of H is Householder vector h of I - 2 / (t(h) h) * h %*% t(h).",
     .example = "A = matrix(\"3 1 4 2\", rows=2, cols=2)\n"
                "[H, R] = qr(A)\n"
                "print(round(as.scalar(R[1,1])))  # expect: -5.0\n"},
    {.name = "fft",
     .params = {param::matrix("X")},
     .outputs = 2,
     .infer = infer_transform<true>,
     .cost = cost_transform,
     .kernels = kFft,
     .doc = "[Re, Im] = fft(X): Fourier transform over rows and columns, whose numbers are powers of two.",
     .example = "[Re, Im] = fft(matrix(\"1 2 3 4\", rows=1, cols=4))\n"
                "print(as.scalar(Re[1,1]) + \" \" + as.scalar(Im[1,2]))  # expect: 10.0 2.0\n"},
    {.name = "ifft",
     .params = {param::matrix("Re"), param::optional("Im", kMatrix)},
     .outputs = 2,
     .infer = infer_transform<true>,
     .cost = cost_transform,
     .kernels = kInverseFft,
     .doc = "[Re, Im] = ifft(Re, Im): inverse of fft.",
     .example = "[Re, Im] = ifft(matrix(\"4 0 0 0\", rows=1, cols=4))\n"
                "print(as.scalar(Re[1,3]))  # expect: 1.0\n"},
    {.name = "fft_linearized",
     .params = {param::matrix("X")},
     .outputs = 2,
     .infer = infer_transform<false>,
     .cost = cost_transform,
     .kernels = kFftRows,
     .doc = "[Re, Im] = fft_linearized(X): Fourier transform of each row.",
     .example = "[Re, Im] = fft_linearized(matrix(1, rows=3, cols=4))\n"
                "print(as.scalar(Re[3,1]))  # expect: 4.0\n"},
    {.name = "ifft_linearized",
     .params = {param::matrix("Re"), param::optional("Im", kMatrix)},
     .outputs = 2,
     .infer = infer_transform<false>,
     .cost = cost_transform,
     .kernels = kInverseFftRows,
     .doc = "[Re, Im] = ifft_linearized(Re, Im): inverse of fft_linearized.",
     .example = "[Re, Im] = ifft_linearized(matrix(\"4 0 0 0\", rows=1, cols=4))\n"
                "print(as.scalar(Re[1,2]))  # expect: 1.0\n"},
    {.name = "stft",
     .params = {param::matrix("X"), param::number("window"), param::number("overlap")},
     .outputs = 2,
     .infer = infer_stft,
     .cost = cost_transform,
     .kernels = kStft,
     .doc = "[Re, Im] = stft(X, window, overlap): Fourier transforms of overlapping frames of each row, side by side.",
     .example = "[Re, Im] = stft(matrix(1, rows=1, cols=6), 4, 2)\n"
                "print(ncol(Re) + \" \" + as.scalar(Re[1,5]))  # expect: 8 4.0\n"},
    {.name = "stft",
     .params = {param::matrix("Re"), param::matrix("Im"), param::number("window"), param::number("overlap")},
     .outputs = 2,
     .infer = infer_stft,
     .cost = cost_transform,
     .kernels = kStft,
     .doc = "[Re, Im] = stft(Re, Im, window, overlap): the same for complex input.",
     .example = "[Re, Im] = stft(matrix(0, rows=1, cols=4), matrix(1, rows=1, cols=4), 4, 0)\n"
                "print(as.scalar(Im[1,1]))  # expect: 4.0\n"},
    {.name = "einsum",
     .params = Params{param::text("equation"), param::matrix("X")}.repeat_last(),
     .infer = infer_einsum,
     .cost = cost_einsum,
     .kernels = kEinsum,
     .doc = "Sum of products by named indexes: einsum(\"ij,jk->ik\", A, B); a scalar where nothing stands after ->.",
     .example = "A = matrix(\"1 2 3 4\", rows=2, cols=2)\n"
                "print(einsum(\"ii->\", A))  # expect: 5.0\n"
                "B = einsum(\"ij,jk->ik\", A, A)\n"
                "print(as.scalar(B[2,1]))  # expect: 15.0\n"},
};

}  // namespace

OpFamily linalg_ops() { return kOps; }

}  // namespace hopline
