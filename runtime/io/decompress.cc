#include "runtime/io/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

constexpr size_t kInput = size_t{1} << 17;

// The file's bytes in order, with a window that can be topped up.
class Feed {
 public:
  Feed(const FileJob& job, const InputFile& file) : job_(job), file_(file), bytes_(job.ctx.memory.allocate(kInput)) {}
  // Bytes not yet consumed; at least `least` of them unless the file ends first.
  std::string_view window(size_t least) {
    char* data = bytes_.as<char>();
    if (end_ - begin_ < least) {
      std::memmove(data, data + begin_, end_ - begin_);
      end_ -= begin_, begin_ = 0;
    }
    while (end_ - begin_ < least && !ended_) {
      const size_t n = read_some(job_, file_, {data + end_, kInput - end_});
      ended_ = n == 0, end_ += n;
    }
    return {data + begin_, end_ - begin_};
  }
  void consume(size_t n) { begin_ += n; }

 private:
  const FileJob& job_;
  const InputFile& file_;
  Buffer bytes_;
  size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
};

// Room at the end of the held text.
std::span<char> room(const FileJob& job, TextPart& part) {
  const auto used = static_cast<size_t>(part.size);
  if (used == part.segments.size() * kSegment) {
    job.poll();
    part.segments.push_back(job.ctx.memory.allocate(kSegment));
  }
  return {part.segments.back().as<char>() + used % kSegment, kSegment - used % kSegment};
}

void hold_plain(const FileJob& job, Feed& feed, TextPart& part) {
  for (std::string_view in; !(in = feed.window(1)).empty();) {
    const std::span<char> out = room(job, part);
    const size_t n = std::min(in.size(), out.size());
    std::memcpy(out.data(), in.data(), n);
    feed.consume(n), part.size += static_cast<int64_t>(n);
  }
}

bool is_gzip(std::string_view in) { return in.starts_with("\x1f\x8b"); }
bool is_zstd(std::string_view in) { return in.starts_with("\x28\xb5\x2f\xfd"); }

struct Inflater {
  z_stream z{};
  explicit Inflater(const FileJob& job) {
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) job.fail("cannot start decompression");
  }
  ~Inflater() { inflateEnd(&z); }
};

void hold_gzip(const FileJob& job, Feed& feed, TextPart& part) {
  Inflater inflater(job);
  z_stream& z = inflater.z;
  for (;;) {
    const std::string_view in = feed.window(1);
    if (in.empty()) job.fail("damaged gzip file: it ends early: {}", part.path);
    const std::span<char> out = room(job, part);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data())), z.avail_in = static_cast<uInt>(in.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data()), z.avail_out = static_cast<uInt>(out.size());
    const int state = inflate(&z, Z_NO_FLUSH);
    feed.consume(in.size() - z.avail_in), part.size += static_cast<int64_t>(out.size() - z.avail_out);
    if (state == Z_STREAM_END) {
      std::string_view next = feed.window(2);
      while (!next.empty() && next.front() == '\0') feed.consume(1), next = feed.window(2);  // padding of tapes
      if (next.empty()) return;
      if (!is_gzip(next)) job.fail("damaged gzip file: bytes follow its end: {}", part.path);
      inflateReset(&z);
    } else if (state != Z_OK && state != Z_BUF_ERROR) {
      job.fail("damaged gzip file: {}: {}", z.msg != nullptr ? z.msg : "bad data", part.path);
    }
  }
}

void hold_zstd(const FileJob& job, Feed& feed, TextPart& part) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  if (stream == nullptr) job.fail("cannot start decompression");
  size_t wanted = 1;  // 0 between frames
  for (;;) {
    const std::string_view in = feed.window(1);
    if (in.empty() && wanted == 0) return;
    const std::span<char> out = room(job, part);
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    wanted = ZSTD_decompressStream(stream.get(), &to, &from);
    if (ZSTD_isError(wanted) != 0) job.fail("damaged zstd file: {}: {}", ZSTD_getErrorName(wanted), part.path);
    feed.consume(from.pos), part.size += static_cast<int64_t>(to.pos);
    if (in.empty() && wanted != 0 && to.pos == 0) job.fail("damaged zstd file: it ends early: {}", part.path);
  }
}

}  // namespace

void decompress(const FileJob& job, TextPart& part) {
  char magic[4] = {};
  std::string_view start;
  std::optional<Feed> feed;
  if (part.file.regular) {
    const size_t n = std::min<size_t>(sizeof magic, static_cast<size_t>(part.size));
    read_at(job, part.file, 0, {magic, n});
    start = {magic, n};
    if (!is_gzip(start) && !is_zstd(start)) return;
    feed.emplace(job, part.file);
  } else {
    feed.emplace(job, part.file);
    start = feed->window(sizeof magic);
  }
  part.held = true, part.size = 0;
  if (is_gzip(start))
    hold_gzip(job, *feed, part);
  else if (is_zstd(start))
    hold_zstd(job, *feed, part);
  else
    hold_plain(job, *feed, part);
}

}  // namespace hopline
