// The table that the build generates from scripts/builtin/*.dml and scripts/nn/**.dml (embed_scripts.cmake).
#pragma once
#include <cstddef>
#include <string_view>

namespace hopline {

struct EmbeddedFile {
  std::string_view name;
  const char *begin, *end;
};
extern const EmbeddedFile embedded_files[];  // sorted by name
extern const size_t num_embedded_files;

}  // namespace hopline
