// Writers of the text formats: pieces of about kPieceCells cells are formatted in parallel and written in order.
#include <algorithm>
#include <cstring>

#include "runtime/io/text_buffer.h"
#include "runtime/io/writers.h"
#include "runtime/ops/call.h"
#include "runtime/ops/virtual_cells.h"

namespace hopline {

namespace {

constexpr int64_t kPieceCells = 8192;

int64_t column_of(const Csr& csr, int64_t k) {
  return csr.wide ? csr.columns.as<int64_t>()[k] : csr.columns.as<int32_t>()[k];
}

// Rows of a piece so that it has about kPieceCells cells that matter.
int64_t rows_of_piece(const MatrixBlock& m) {
  const int64_t cells = m.is_sparse() ? m.nnz_if_known() + m.rows() : m.cells();
  return std::max<int64_t>(1, kPieceCells / std::max<int64_t>(1, cells / std::max<int64_t>(1, m.rows())));
}

// Calls f(column, value) for the non-zeros of a row. `scratch` has room for a tile of kPieceCells.
template <class T, class F>
void for_each_nonzero(const MatrixBlock& m, int64_t row, T* scratch, const F& f) {
  if (m.is_sparse()) {
    const Csr& csr = m.csr();
    const auto* offsets = csr.offsets.as<int64_t>();
    const T* values = csr.values.as<T>();
    for (int64_t k = offsets[row]; k < offsets[row + 1]; ++k) f(column_of(csr, k), values[k]);
    return;
  }
  for (int64_t c = 0; c < m.cols(); c += kPieceCells) {
    const int64_t end = std::min(m.cols(), c + kPieceCells);
    const T* cells = cells_of(m, row * m.cols() + c, row * m.cols() + end, scratch);
    for (int64_t i = 0; i < end - c; ++i)
      if (cells[i] != 0) f(c + i, cells[i]);
  }
}

// Pieces of whole rows; format(row, scratch, out).
template <class T, class F>
void write_rows(const FileJob& job, const MatrixBlock& m, Temporary& file, const F& format) {
  const int64_t grain = rows_of_piece(m), pieces = (m.rows() + grain - 1) / grain;
  write_pieces(job, file, pieces, [&](int64_t piece, TextBuffer& out) {
    const Buffer scratch = job.ctx.memory.allocate(kPieceCells * sizeof(T));
    const int64_t end = std::min(m.rows(), (piece + 1) * grain);
    for (int64_t r = piece * grain; r < end; ++r) format(r, const_cast<T*>(scratch.as<T>()), out);
    return out.bytes();
  });
}

template <class T>
void write_csv_cells(const FileJob& job, const MatrixBlock& m, Temporary& file, const FileOptions& options) {
  const std::string_view separator = options.separator;
  const int64_t cells = m.cells(), cols = m.cols();
  write_pieces(job, file, (cells + kPieceCells - 1) / kPieceCells, [&](int64_t piece, TextBuffer& out) {
    const Buffer scratch = job.ctx.memory.allocate(kPieceCells * sizeof(T));
    const int64_t begin = piece * kPieceCells, end = std::min(cells, begin + kPieceCells);
    const T* values = cells_of(m, begin, end, const_cast<T*>(scratch.as<T>()));
    int64_t left = cols - begin % cols;  // cells of the row that are still to come
    for (int64_t i = 0; i < end - begin; ++i) {
      const T v = values[i];
      if (v != 0)
        out.append_number(v);
      else if (!options.sparse)
        out.append('0');
      if (--left != 0) {
        out.append(separator);
      } else {
        out.append('\n');
        left = cols;
      }
    }
    return out.bytes();
  });
}

template <class T>
void write_cells(const FileJob& job, const MatrixBlock& m, Temporary& file) {
  write_rows<T>(job, m, file, [&](int64_t row, T* scratch, TextBuffer& out) {
    for_each_nonzero(m, row, scratch, [&](int64_t column, T value) {
      out.append(row + 1);
      out.append(' ');
      out.append(column + 1);
      out.append(' ');
      out.append_number(value);
      out.append('\n');
    });
  });
}

void write_text(Temporary& file, std::string_view text) { file.write({text.data(), text.size()}); }

}  // namespace

template <class T>
const T* cells_of(const MatrixBlock& m, int64_t begin, int64_t end, T* scratch) {
  if (m.is_dense()) return m.dense<T>() + begin;
  if (m.is_virtual()) {
    read_cells(m, begin, end, scratch);
    return scratch;
  }
  std::fill_n(scratch, end - begin, T{0});
  const Csr& csr = m.csr();
  const auto* offsets = csr.offsets.as<int64_t>();
  const T* values = csr.values.as<T>();
  for (int64_t row = begin / m.cols(); row * m.cols() < end; ++row) {
    const int64_t base = row * m.cols();
    int64_t k = offsets[row];
    if (base < begin) {  // the first row is cut: skip to its first column here
      int64_t high = offsets[row + 1];
      while (k < high) {
        const int64_t middle = k + (high - k) / 2;
        if (base + column_of(csr, middle) < begin)
          k = middle + 1;
        else
          high = middle;
      }
    }
    for (; k < offsets[row + 1] && base + column_of(csr, k) < end; ++k)
      scratch[base + column_of(csr, k) - begin] = values[k];
  }
  return scratch;
}
template const double* cells_of<double>(const MatrixBlock&, int64_t, int64_t, double*);
template const float* cells_of<float>(const MatrixBlock&, int64_t, int64_t, float*);

void write_csv(const FileJob& job, const MatrixBlock& m, Temporary& file, const FileOptions& options) {
  const std::string_view sep = options.separator;
  if (sep.empty() || sep.find_first_of("0123456789+-.\n\r\"") != sep.npos)
    job.fail("bad csv option: sep must not be empty or hold digits, signs, points, quotes or line ends, found {}",
             quote(sep));
  if (options.header && m.cols() > 0) {
    TextBuffer header(job.ctx.memory);
    for (int64_t c = 1; c <= m.cols(); ++c) {
      if (c > 1) header.append(sep);
      header.append('C');
      header.append(c);
    }
    header.append('\n');
    file.write(header.bytes());
  }
  if (m.cells() == 0) return;
  with_real(job.ctx, [&](auto zero) { write_csv_cells<decltype(zero)>(job, m, file, options); });
}

void write_text_cells(const FileJob& job, const MatrixBlock& m, Temporary& file) {
  with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    if (count_nnz<T>(job.ctx, m) == 0) return write_text(file, "1 1 0\n");
    write_cells<T>(job, m, file);
  });
}

void write_matrix_market(const FileJob& job, const MatrixBlock& m, Temporary& file) {
  with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    write_text(file, fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", m.rows(), m.cols(),
                                 count_nnz<T>(job.ctx, m)));
    if (count_nnz<T>(job.ctx, m) != 0) write_cells<T>(job, m, file);
  });
}

void write_libsvm(const FileJob& job, const MatrixBlock& m, Temporary& file, const FileOptions& options) {
  if (m.cols() == 0) job.fail("cannot write {}: libsvm needs a column of labels, found 0 columns", file.target());
  with_real(job.ctx, [&](auto zero) {
    using T = decltype(zero);
    write_rows<T>(job, m, file, [&](int64_t row, T* scratch, TextBuffer& out) {
      const int64_t last = m.cols() - 1;
      T label = 0;
      // The label stands first in the line and last in the row.
      for_each_nonzero(m, row, scratch, [&](int64_t column, T value) { label = column == last ? value : label; });
      out.append_number(label);
      for_each_nonzero(m, row, scratch, [&](int64_t column, T value) {
        if (column == last) return;
        out.append(options.separator);
        out.append(column + 1);
        out.append(options.index_separator);
        out.append_number(value);
      });
      out.append('\n');
    });
  });
}

void write_matrix(const FileJob& job, const MatrixBlock& m, Temporary& file, Format format,
                  const FileOptions& options) {
  if (m.is_sparse()) static_cast<void>(m.csr());  // rows that still grow become CSR here, not in the middle of a team
  switch (format) {
    case Format::csv:
      return write_csv(job, m, file, options);
    case Format::text:
      return write_text_cells(job, m, file);
    case Format::matrix_market:
      return write_matrix_market(job, m, file);
    case Format::libsvm:
      return write_libsvm(job, m, file, options);
    case Format::binary:
      return write_binary(job, m, file);
    case Format::npy:
      return write_npy(job, m, file);
    case Format::idx:
      return write_idx(job, m, file);
  }
}

}  // namespace hopline
