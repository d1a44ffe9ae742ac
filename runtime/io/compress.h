// gzip and zstd for files whose name asks for it. What is compressed piece by piece is one file: members and frames
// follow one another.
#pragma once
#include <span>
#include <string_view>

#include "runtime/io/files.h"

namespace hopline {

class TextBuffer;

enum class Compression : uint8_t { none, gzip, zstd };

Compression compression_of_name(std::string_view path);  // .gz, .zst, .zstd
// Appends one whole member or frame to `out`; returns it.
std::span<const char> compress(const FilePlace& place, Compression how, std::span<const char> bytes, TextBuffer& out);

}  // namespace hopline
