// The .mtd file beside a data file: JSON in both directions.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/kind.h"
#include "runtime/io/files.h"
#include "runtime/io/format.h"

namespace hopline {

// What the file says; absent keys are empty. Sizes of -1 ("unknown") are absent too.
struct Metadata {
  std::optional<std::string> data_type, value_type, schema, description;
  std::optional<std::string> format;  // as it is written there: it may be one that we cannot read
  std::optional<int64_t> rows, cols, nnz;
  std::optional<std::string> separator, index_separator;
  std::optional<bool> header, fill, sparse;
  std::optional<double> fill_value;
  std::optional<std::vector<std::string>> na_strings;
};

// nullopt when there is none beside `path`. Bad JSON, unknown, repeated or ill-typed keys: Error{io} with the file's
// name.
std::optional<Metadata> read_metadata(const FilePlace& job, const std::string& path);
std::optional<Metadata> parse_metadata(const FilePlace& job, const std::string& text, const std::string& name);

// Text of a .mtd file: the reference's keys in its order, four spaces, a line end. Of the options only what the format
// uses is written; `description` is left out when empty.
std::string metadata_text(const Meta& meta, Format format, const FileOptions& options, const std::string& description);

// Several NA texts in one string are joined by U+00B7.
std::vector<std::string> split_na_strings(const std::string& joined);

}  // namespace hopline
