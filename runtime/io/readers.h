// Readers of matrices. Each takes hostile bytes: whatever does not fit is an Error{io} with file and line or offset,
// and no allocation is larger than the file justifies (row offsets of a sparse matrix excepted). Known sizes in the
// options are checked against the file; unknown ones come from it where the format can tell.
#pragma once
#include "runtime/data/matrix_block.h"
#include "runtime/io/format.h"
#include "runtime/io/text.h"

namespace hopline {

MatrixRef read_csv(const FileJob& job, Text& text, const FileOptions& options);
// "i j v" lines; needs rows and cols.
MatrixRef read_text_cells(const FileJob& job, Text& text, const FileOptions& options);
MatrixRef read_matrix_market(const FileJob& job, Text& text, const FileOptions& options);
// The label becomes the last column.
MatrixRef read_libsvm(const FileJob& job, Text& text, const FileOptions& options);
MatrixRef read_binary(const FileJob& job, Text& text, const FileOptions& options);
MatrixRef read_npy(const FileJob& job, Text& text, const FileOptions& options);
MatrixRef read_idx(const FileJob& job, Text& text, const FileOptions& options);

// Found sizes against wanted ones (-1: any); `what` describes the file.
void check_file_sizes(const FileJob& job, const FileOptions& options, int64_t rows, int64_t cols,
                      const std::string& path);
// rows * cols, or Error{io} where that is no size.
int64_t checked_cells(const FileJob& job, int64_t rows, int64_t cols, const std::string& path);
// A matrix without cells or without entries.
MatrixRef zero_matrix(Context& ctx, int64_t rows, int64_t cols);

}  // namespace hopline
