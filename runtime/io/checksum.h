// XXH64 with seed 0: the checksum of a block of the binary format. About 10 GB/s on one core.
#pragma once
#include <cstdint>
#include <span>

namespace hopline {

uint64_t checksum(std::span<const char> bytes);

}  // namespace hopline
