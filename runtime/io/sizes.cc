#include "runtime/io/readers.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

std::string size(int64_t n) { return n < 0 ? "?" : std::to_string(n); }

}  // namespace

void check_file_sizes(const FileJob& job, const FileOptions& want, int64_t rows, int64_t cols,
                      const std::string& path) {
  if ((want.rows < 0 || want.rows == rows) && (want.cols < 0 || want.cols == cols)) return;
  job.fail("file does not match its declared size: expected {}x{}, found {}x{} ({})", size(want.rows), size(want.cols),
           rows, cols, path);
}

int64_t checked_cells(const FileJob& job, int64_t rows, int64_t cols, const std::string& path) {
  int64_t cells = 0;
  constexpr int64_t kMost = INT64_MAX / 16;
  if (rows < 0 || cols < 0 || rows > kMost || cols > kMost || __builtin_mul_overflow(rows, cols, &cells) ||
      cells > kMost)
    job.fail("matrix is too large: {}x{} ({})", rows, cols, path);
  return cells;
}

MatrixRef zero_matrix(Context& ctx, int64_t rows, int64_t cols) { return new_zeros(ctx, rows, cols); }

}  // namespace hopline
