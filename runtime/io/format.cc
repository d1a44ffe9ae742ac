#include "runtime/io/format.h"

#include <algorithm>

namespace hopline {

namespace {

struct FormatName {
  std::string_view name;
  Format format;
};
// The first name of a format is the one that is written.
constexpr FormatName kFormats[] = {
    {"csv", Format::csv},       {"text", Format::text},     {"mm", Format::matrix_market},
    {"libsvm", Format::libsvm}, {"binary", Format::binary}, {"npy", Format::npy},
    {"idx", Format::idx},       {"ijv", Format::text},      {"textcell", Format::text},
};
constexpr FormatName kEndings[] = {
    {".csv", Format::csv},          {".tsv", Format::csv},        {".mtx", Format::matrix_market},
    {".mm", Format::matrix_market}, {".ijv", Format::text},       {".text", Format::text},
    {".libsvm", Format::libsvm},    {".svm", Format::libsvm},     {".bin", Format::binary},
    {".npy", Format::npy},          {".idx", Format::idx},        {"-idx1-ubyte", Format::idx},
    {"-idx3-ubyte", Format::idx},   {".idx1-ubyte", Format::idx}, {".idx3-ubyte", Format::idx},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

std::string_view format_name(Format format) {
  return std::find_if(std::begin(kFormats), std::end(kFormats), [=](const FormatName& f) { return f.format == format; })
      ->name;
}

std::optional<Format> format_named(std::string_view name) {
  const std::string wanted = lower(name);
  for (const FormatName& f : kFormats)
    if (f.name == wanted) return f.format;
  return std::nullopt;
}

std::string format_names() {
  std::string out;
  for (const FormatName& f : kFormats) {
    if (f.name != format_name(f.format)) continue;
    if (!out.empty()) out += ", ";
    out += f.name;
  }
  return out;
}

std::optional<Format> format_of_name(std::string_view path) {
  std::string name = lower(path);
  for (const std::string_view packed : {".gz", ".zst", ".zstd"})
    if (name.ends_with(packed)) {
      name.resize(name.size() - packed.size());
      break;
    }
  for (const FormatName& f : kEndings)
    if (name.ends_with(f.name)) return f.format;
  return std::nullopt;
}

std::optional<Format> format_of_content(std::string_view start) {
  if (start.starts_with("%%")) return Format::matrix_market;
  if (start.starts_with("\x93NUMPY")) return Format::npy;
  if (start.starts_with("HOPLINE\x1a")) return Format::binary;
  if (start.size() > 3 && start.starts_with("SEQ") && start[3] < ' ')
    return Format::binary;  // of Hadoop: refused there
  return std::nullopt;
}

}  // namespace hopline
