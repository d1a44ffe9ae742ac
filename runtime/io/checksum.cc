#include "runtime/io/checksum.h"

#include <bit>
#include <cstring>

namespace hopline {

namespace {

static_assert(std::endian::native == std::endian::little, "files are read and written as little-endian words");

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                   kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;

template <class Word>
uint64_t word(const char* p) {
  Word w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

uint64_t round(uint64_t lane, uint64_t input) { return std::rotl(lane + input * kPrime2, 31) * kPrime1; }
uint64_t merge(uint64_t hash, uint64_t lane) { return (hash ^ round(0, lane)) * kPrime1 + kPrime4; }

}  // namespace

uint64_t checksum(std::span<const char> bytes) {
  const char* p = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = kPrime5;
  if (left >= 32) {
    uint64_t a = kPrime1 + kPrime2, b = kPrime2, c = 0, d = 0 - kPrime1;
    for (; left >= 32; p += 32, left -= 32) {
      a = round(a, word<uint64_t>(p)), b = round(b, word<uint64_t>(p + 8));
      c = round(c, word<uint64_t>(p + 16)), d = round(d, word<uint64_t>(p + 24));
    }
    hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += bytes.size();
  for (; left >= 8; p += 8, left -= 8) hash = std::rotl(hash ^ round(0, word<uint64_t>(p)), 27) * kPrime1 + kPrime4;
  if (left >= 4) hash = std::rotl(hash ^ word<uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3, p += 4, left -= 4;
  for (; left > 0; ++p, --left) hash = std::rotl(hash ^ word<uint8_t>(p) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace hopline
