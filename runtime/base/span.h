// Where something stands in a script. Carried by expressions, hops and instructions; errors print it.
#pragma once
#include <cstdint>
#include <string>

namespace hopline {

struct CallSite;

// Bytes [begin, begin + length) of file number `file` in the program's SourceFiles.
// `via` is the innermost call through which the code was inlined, or null; it lives as long as the program.
struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t length = 0;
  const CallSite* via = nullptr;
};

struct CallSite {
  Span at;               // the call; at.via is the next outer call
  std::string function;  // name of the function that was called
};

}  // namespace hopline
