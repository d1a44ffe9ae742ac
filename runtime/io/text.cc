#include "runtime/io/text.h"

#include <algorithm>
#include <cstring>

#include "runtime/io/decompress.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

constexpr int64_t kChunk = 1 << 18;  // bytes of a chunk: with the cells it becomes, within a core's L2 cache
constexpr size_t kMostOpen = 100;    // parts whose files stay open
constexpr size_t kExtension = 4096;  // first step past the end of a chunk in search of a line end

struct ByteBlock {
  typedef uint8_t Bytes __attribute__((vector_size(16)));
  Bytes v;
};

int64_t count_newlines(const char* p, const char* end) {
  using Bytes = ByteBlock::Bytes;
  int64_t total = 0;
  const Bytes newline = Bytes{} + static_cast<uint8_t>('\n');
  while (end - p >= 16) {
    const int64_t blocks = std::min<int64_t>((end - p) / 16, 255);  // a lane counts to 255
    Bytes lanes{};
    for (int64_t i = 0; i < blocks; ++i, p += 16) {
      Bytes bytes;
      std::memcpy(&bytes, p, 16);
      lanes -= reinterpret_cast<Bytes>(bytes == newline);
    }
    for (int i = 0; i < 16; ++i) total += lanes[i];
  }
  for (; p < end; ++p) total += *p == '\n';
  return total;
}

void read_plain(const FileJob& job, const TextPart& part, int64_t offset, std::span<char> out) {
  if (part.file.fd.open()) return read_at(job, part.file, offset, out);
  const InputFile again = open_input(job, part.path);
  read_at(job, again, offset, out);
}

// Part that holds the chunk, and the chunk's bytes [begin, end).
struct Cut {
  const TextPart* part;
  int64_t begin, end;
};

Cut cut_of(const Text& text, int64_t chunk) {
  const auto& begins = text.chunk_begins;
  const auto after = std::upper_bound(begins.begin(), begins.end(), chunk);
  const auto number = static_cast<size_t>(after - begins.begin()) - 1;
  const TextPart& part = text.parts[number];
  const int64_t begin = part.begin + (chunk - begins[number]) * kChunk;
  return {&part, begin, std::min(begin + kChunk, part.size)};
}

void grow(const FileJob& job, Buffer& bytes, size_t used, size_t wanted) {
  if (wanted <= bytes.bytes()) return;
  Buffer larger = job.ctx.memory.allocate(std::max(wanted, 2 * bytes.bytes()));
  std::memcpy(larger.as<char>(), bytes.as<char>(), used);
  bytes = std::move(larger);
}

// Reads on until the last line of the buffer is whole; returns the bytes in use.
size_t complete_line(const FileJob& job, const Cut& cut, Buffer& bytes, size_t used) {
  int64_t offset = cut.end;
  size_t step = kExtension;
  while (offset < cut.part->size) {
    const auto n = std::min<size_t>(step, static_cast<size_t>(cut.part->size - offset));
    grow(job, bytes, used, used + n + 1 + kPadding);
    char* at = bytes.as<char>() + used;
    read_text(job, *cut.part, offset, {at, n});
    if (const void* end = std::memchr(at, '\n', n))
      return used + static_cast<size_t>(static_cast<const char*>(end) + 1 - at);
    used += n, offset += static_cast<int64_t>(n), step *= 2;
    job.poll();
  }
  grow(job, bytes, used, used + 1 + kPadding);
  bytes.as<char>()[used] = '\n';
  return used + 1;
}

}  // namespace

int64_t Text::bytes() const {
  int64_t total = 0;
  for (const TextPart& p : parts) total += std::max<int64_t>(0, p.size - p.begin);
  return total;
}

void Text::cut() {
  chunk_begins.assign(1, 0);
  for (const TextPart& p : parts)
    chunk_begins.push_back(chunk_begins.back() + (std::max<int64_t>(0, p.size - p.begin) + kChunk - 1) / kChunk);
}

Text open_text(const FileJob& job, const std::vector<std::string>& files) {
  Text text;
  text.parts.reserve(files.size());
  for (const std::string& path : files) {
    job.poll();
    TextPart part;
    part.path = path;
    part.file = open_input(job, path);
    part.size = part.file.size;
    decompress(job, part);
    if (files.size() > kMostOpen || part.held) part.file.fd.close();
    if (head(job, part, 3) == "\xEF\xBB\xBF") part.begin = 3;
    text.parts.push_back(std::move(part));
  }
  text.cut();
  return text;
}

size_t read_text(const FileJob& job, const TextPart& part, int64_t offset, std::span<char> out) {
  const auto n = static_cast<size_t>(std::clamp<int64_t>(part.size - offset, 0, static_cast<int64_t>(out.size())));
  if (!part.held) {
    if (n != 0) read_plain(job, part, offset, out.first(n));
    return n;
  }
  for (size_t done = 0; done < n;) {
    const auto at = static_cast<size_t>(offset) + done;
    const size_t within = at % kSegment, step = std::min(n - done, kSegment - within);
    std::memcpy(out.data() + done, part.segments[at / kSegment].as<char>() + within, step);
    done += step;
  }
  return n;
}

std::string head(const FileJob& job, const TextPart& part, size_t most) {
  std::string out(std::min<size_t>(most, static_cast<size_t>(std::max<int64_t>(0, part.size - part.begin))), '\0');
  read_text(job, part, part.begin, out);
  return out;
}

void drop_blank_ends(const FileJob& job, Text& text) {
  char bytes[1024];
  for (TextPart& part : text.parts) {
    while (part.size > part.begin) {
      const int64_t n = std::min<int64_t>(part.size - part.begin, sizeof bytes);
      read_text(job, part, part.size - n, {bytes, static_cast<size_t>(n)});
      const size_t last = std::string_view(bytes, static_cast<size_t>(n)).find_last_not_of(" \t\r\n");
      if (last != std::string_view::npos) {
        part.size -= n - 1 - static_cast<int64_t>(last);
        break;
      }
      part.size -= n;
    }
  }
  text.cut();
}

Lines load_lines(const FileJob& job, const Text& text, int64_t chunk) {
  job.poll();
  const Cut cut = cut_of(text, chunk);
  Lines lines;
  lines.part = cut.part;
  const int64_t from =
      cut.begin == cut.part->begin ? cut.begin : cut.begin - 1;  // one byte back: does a line begin here?
  auto used = static_cast<size_t>(cut.end - from);
  lines.bytes = job.ctx.memory.allocate(static_cast<size_t>(kChunk) + 2 * kExtension);
  char* data = lines.bytes.as<char>();
  read_text(job, *cut.part, from, {data, used});
  size_t first = 0;
  if (from != cut.begin) {
    const void* end = std::memchr(data, '\n', used);
    first = end == nullptr ? used : static_cast<size_t>(static_cast<const char*>(end) + 1 - data);
    if (first == used) return lines;  // no line begins in this chunk
  }
  if (data[used - 1] != '\n') used = complete_line(job, cut, lines.bytes, used);
  grow(job, lines.bytes, used, used + kPadding);
  data = lines.bytes.as<char>();
  std::memset(data + used, 0, kPadding);
  lines.begin = data + first, lines.end = data + used;
  lines.offset = from + static_cast<int64_t>(first);
  return lines;
}

int64_t count_lines(const FileJob& job, const Text& text, int64_t chunk) {
  job.poll();
  const Cut cut = cut_of(text, chunk);
  const bool first = cut.begin == cut.part->begin;
  const int64_t from = first ? cut.begin : cut.begin - 1;
  const auto used = static_cast<size_t>(cut.end - 1 - from);
  const Buffer bytes = job.ctx.memory.allocate(static_cast<size_t>(kChunk) + 2 * kExtension);
  char* data = const_cast<char*>(bytes.as<char>());
  read_text(job, *cut.part, from, {data, used});
  return count_newlines(data, data + used) + (first ? 1 : 0);
}

std::string place(const FileJob& job, const TextPart& part, int64_t offset) {
  int64_t line = 1;
  std::string bytes(static_cast<size_t>(kChunk), '\0');
  for (int64_t at = 0; at < offset; at += kChunk) {
    const auto n = static_cast<size_t>(std::min(kChunk, offset - at));
    read_text(job, part, at, {bytes.data(), n});
    line += count_newlines(bytes.data(), bytes.data() + n);
  }
  return fmt::format("{}:{}", part.path, line);
}

}  // namespace hopline
