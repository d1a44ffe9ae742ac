// "i j v" lines to a matrix: text cell and Matrix Market coordinate files.
#pragma once
#include "runtime/io/readers.h"

namespace hopline {

enum class Symmetry : uint8_t { general, symmetric, skew };

struct CellLines {
  int64_t rows = 0, cols = 0;
  std::string_view what = "text cell";  // "bad ... file"
  bool pattern = false;                 // no value: every cell named is 1
  bool comments = false;                // lines that begin with % are skipped
  Symmetry symmetry = Symmetry::general;
  int64_t entries = -1;  // lines with a cell; -1: any number
};

// A cell that stands twice, or outside of rows and cols, is an error; "1 1 0" stands for no cell at all.
MatrixRef read_cells_text(const FileJob& job, const Text& text, const CellLines& lines);

[[noreturn]] void bad_line(const FileJob& job, std::string_view what, const Lines& lines, const char* at,
                           const std::string& message);

}  // namespace hopline
