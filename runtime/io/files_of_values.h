// read() and write(): a value from a file or to one, with its metadata.
#pragma once
#include "runtime/data/value.h"
#include "runtime/io/metadata.h"

namespace hopline {

// What arguments and .mtd together say about a file.
struct FileDescription {
  Meta meta;                     // kind; sizes and nnz where known
  std::optional<Format> format;  // absent: by content or name
  FileOptions options;
  bool separator_given = false;
  bool count_checked = false;  // nnz is that of the cells as they stand in the file
};

// Arguments (in the form of Metadata) that contradict the .mtd are errors; format="csv" and "text" win over it.
FileDescription describe_file(const FilePlace& place, const std::string& path, const Metadata& arguments);
// The same for metadata that was read already.
FileDescription describe_file(const FilePlace& place, const std::string& path, const Metadata& arguments,
                              const std::optional<Metadata>& metadata);

Value read_value(const FileJob& job, const std::string& path, const Metadata& arguments);

struct WriteRequest {
  Format format = Format::text;
  FileOptions options;
  std::string description;
};
void write_value(const FileJob& job, const Value& value, const std::string& path, const WriteRequest& request);

}  // namespace hopline
