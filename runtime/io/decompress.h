// gzip and zstd, recognised by their first bytes.
#pragma once
#include "runtime/io/text.h"

namespace hopline {

constexpr size_t kSegment = size_t{4} << 20;  // bytes of a segment of held text

// When the part's file is compressed (or no regular file), reads it whole into segments and sets size and held. A
// truncated or damaged stream is an Error{io}. Memory grows with what was really decompressed, within the run's limit.
void decompress(const FileJob& job, TextPart& part);

}  // namespace hopline
