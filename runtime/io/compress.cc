#include "runtime/io/compress.h"

#include <zlib.h>
#include <zstd.h>

#include "runtime/io/text_buffer.h"

namespace hopline {

namespace {

struct Deflater {
  z_stream z{};
  explicit Deflater(const FilePlace& place) {
    constexpr int kMemoryLevel = 8;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
      place.fail("cannot start compression");
  }
  ~Deflater() { deflateEnd(&z); }
};

std::span<const char> gzip(const FilePlace& place, std::span<const char> bytes, TextBuffer& out) {
  if (bytes.size() > UINT32_MAX / 2) place.fail("cannot compress a piece of {} bytes", bytes.size());
  Deflater deflater(place);
  z_stream& z = deflater.z;
  const uLong room = deflateBound(&z, static_cast<uLong>(bytes.size()));
  char* const to = out.room(room);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())), z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(to), z.avail_out = static_cast<uInt>(room);
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) place.fail("cannot compress");
  return {to, z.total_out};
}

std::span<const char> zstd(const FilePlace& place, std::span<const char> bytes, TextBuffer& out) {
  const size_t room = ZSTD_compressBound(bytes.size());
  char* const to = out.room(room);
  const size_t n = ZSTD_compress(to, room, bytes.data(), bytes.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(n) != 0) place.fail("cannot compress: {}", ZSTD_getErrorName(n));
  return {to, n};
}

}  // namespace

Compression compression_of_name(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::gzip;
  return path.ends_with(".zst") || path.ends_with(".zstd") ? Compression::zstd : Compression::none;
}

std::span<const char> compress(const FilePlace& place, Compression how, std::span<const char> bytes, TextBuffer& out) {
  if (how == Compression::none || bytes.empty()) return bytes;
  return how == Compression::gzip ? gzip(place, bytes, out) : zstd(place, bytes, out);
}

}  // namespace hopline
