// Writers of matrices. Each writes the whole file; sizes stand in the file or in the .mtd that the caller writes.
#pragma once
#include "runtime/data/matrix_block.h"
#include "runtime/io/format.h"
#include "runtime/io/output.h"

namespace hopline {

void write_matrix(const FileJob& job, const MatrixBlock& m, Temporary& file, Format format, const FileOptions& options);

void write_csv(const FileJob& job, const MatrixBlock& m, Temporary& file, const FileOptions& options);
void write_text_cells(const FileJob& job, const MatrixBlock& m, Temporary& file);
void write_matrix_market(const FileJob& job, const MatrixBlock& m, Temporary& file);
void write_libsvm(const FileJob& job, const MatrixBlock& m, Temporary& file, const FileOptions& options);
void write_binary(const FileJob& job, const MatrixBlock& m, Temporary& file);
void write_npy(const FileJob& job, const MatrixBlock& m, Temporary& file);
void write_idx(const FileJob& job, const MatrixBlock& m, Temporary& file);

// Row-major cells [begin, end) of any block: a pointer into it, or `scratch` filled.
template <class T>
const T* cells_of(const MatrixBlock& m, int64_t begin, int64_t end, T* scratch);

}  // namespace hopline
