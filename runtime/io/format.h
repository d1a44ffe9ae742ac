// The file formats and what a read or write says about a file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hopline {

enum class Format : uint8_t { text, csv, matrix_market, libsvm, binary, npy, idx };

std::string_view format_name(Format format);  // as in format= and .mtd
// Names in any case, "ijv" for text included; nullopt when unknown.
std::optional<Format> format_named(std::string_view name);
std::string format_names();  // "csv, text, mm, ..." for messages
// From the end of a file's name, .gz and .zst aside; nullopt when it says nothing.
std::optional<Format> format_of_name(std::string_view path);
// From the first bytes of the (decompressed) text; nullopt when they say nothing.
std::optional<Format> format_of_content(std::string_view start);

// How a file's text is to be read or written; sizes and nnz are -1 where nobody said.
struct FileOptions {
  int64_t rows = -1, cols = -1, nnz = -1;
  std::string separator = ",";
  std::string index_separator = ":";  // libsvm
  bool header = false;
  bool fill = true;  // csv: empty cells are `fill_value`; else an error
  double fill_value = 0;
  std::vector<std::string> na_strings;  // csv: texts that mean NaN
  bool sparse = false;                  // csv on write: zeros are left empty
};

}  // namespace hopline
