// The text of a file, or of a folder of parts, readable at any offset and cut into chunks of whole lines for parallel
// reading. Compressed parts and pipes are held decompressed in buffers of the run; plain files are read as they are
// needed, with pread: a file that changes under the reader is an error, where a mapping would end the process.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/files.h"
#include "runtime/memory/buffer.h"

namespace hopline {

constexpr size_t kPadding = 64;  // zero bytes after a chunk: number parsing may look past its end

struct TextPart {
  std::string path;
  int64_t begin = 0;             // first byte of data: past a byte order mark and a header
  int64_t size = 0;              // bytes of text, decompressed
  InputFile file;                // plain files; closed when there are many parts, then opened again for each chunk
  std::vector<Buffer> segments;  // decompressed text: kSegment bytes each
  bool held = false;             // text stands in `segments`
};

struct Text {
  std::vector<TextPart> parts;
  std::vector<int64_t> chunk_begins;  // number of the first chunk of each part, then the total

  int64_t chunks() const { return chunk_begins.back(); }
  int64_t bytes() const;  // of data, all parts
  void cut();             // sets chunk_begins; to be called again when begin or size of a part changed
};

// Opens and decompresses; a byte order mark is skipped.
Text open_text(const FileJob& job, const std::vector<std::string>& files);
// Up to out.size() bytes from `offset` of a part; returns how many there were.
size_t read_text(const FileJob& job, const TextPart& part, int64_t offset, std::span<char> out);
// Takes line ends and blanks off the end of every part, then cuts again.
void drop_blank_ends(const FileJob& job, Text& text);

// Whole lines of a part: those that begin in the chunk. The last one ends with '\n' even where the file's does not.
struct Lines {
  const TextPart* part = nullptr;
  int64_t offset = 0;  // of `begin` in the part
  int64_t offset_of(const char* p) const { return offset + (p - begin); }
  const char* begin = nullptr;
  const char* end = nullptr;  // followed by kPadding zero bytes
  Buffer bytes;
};
Lines load_lines(const FileJob& job, const Text& text, int64_t chunk);
// How many lines begin in the chunk.
int64_t count_lines(const FileJob& job, const Text& text, int64_t chunk);
// The first `most` bytes of the part's data, fewer where it is shorter.
std::string head(const FileJob& job, const TextPart& part, size_t most);

// "FILE:LINE" of a byte of a part, for messages; reads the part up to there.
std::string place(const FileJob& job, const TextPart& part, int64_t offset);

}  // namespace hopline
