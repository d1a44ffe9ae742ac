// Cells that stand in a file as numbers of one machine type: npy and idx.
#pragma once
#include "runtime/io/readers.h"
#include "runtime/io/writers.h"

namespace hopline {

struct RawCells {
  enum class Element : uint8_t { f64, f32, i8, i16, i32, i64, u8, u16, u32, u64, boolean } element = Element::f64;
  bool big_endian = false;
  bool column_major = false;
  int64_t rows = 0, cols = 0;
  int64_t offset = 0;  // of the first cell in the part
  std::string_view what = "npy";
};

int64_t element_bytes(RawCells::Element element);
// The part must end where the cells do: anything else is an Error{io} before a cell is allocated.
MatrixRef read_raw_cells(const FileJob& job, const TextPart& part, const RawCells& raw);
// All cells of the run's precision, row-major, little or big-endian.
void write_raw_cells(const FileJob& job, const MatrixBlock& m, Temporary& file, bool big_endian);
// The only part of a file that cannot be cut into parts.
const TextPart& single_part(const FileJob& job, const Text& text, std::string_view what);

}  // namespace hopline
