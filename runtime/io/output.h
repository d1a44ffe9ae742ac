// Files that a run writes. Bytes go to a temporary name in the target's folder; publish() renames them into place, data
// first, metadata last, so a reader sees the old file or the new one and an error leaves the old one alone.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/io/compress.h"
#include "runtime/io/files.h"

namespace hopline {

// Where a write goes: symbolic links followed, missing folders made.
struct Target {
  std::string path;
  PathKind kind = PathKind::missing;  // what stands there now; special: written directly, without metadata
};
// Refuses a folder that is no earlier output: one without metadata beside it whose files are no parts.
Target output_target(const FileJob& job, const std::string& path);

// A file or folder under its temporary name; removed unless published.
class Temporary {
 public:
  enum class Type : uint8_t { file, folder };
  Temporary(const FileJob& job, const Target& target, Type type);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::string& path() const { return path_; }  // of a folder: write its entries there
  const std::string& target() const { return target_; }

  Compression compression() const { return compression_; }
  void write(std::span<const char> bytes);         // file only
  void write_packed(std::span<const char> bytes);  // bytes that are compressed already where the name asks for it
  void finish();                                   // closes the file; a late error of the system comes here

 private:
  friend void publish(const FileJob& job, Temporary& data, Temporary* metadata);
  FileJob job_;
  std::string path_, target_;
  Descriptor fd_;
  bool direct_ = false;  // a device: no temporary name
  Compression compression_ = Compression::none;
};

// Puts the data, then its metadata in place. An output that stands there as a folder is moved aside, replaced, removed.
// Without metadata, that of an earlier output is removed.
void publish(const FileJob& job, Temporary& data, Temporary* metadata);

class TextBuffer;
// What a piece is formatted to: usually out.bytes(), or bytes elsewhere that live as long as the write.
using FormatPiece = std::function<std::span<const char>(int64_t piece, TextBuffer& out)>;
// Calls format for the pieces in parallel and writes their bytes in the order of the pieces.
void write_pieces(const FileJob& job, Temporary& file, int64_t pieces, const FormatPiece& format);

}  // namespace hopline
