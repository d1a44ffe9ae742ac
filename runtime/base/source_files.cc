#include "runtime/base/source_files.h"

#include <algorithm>

namespace hopline {

uint32_t SourceFiles::add(std::string name, std::string text) {
  File& file = files_.emplace_back(File{std::move(name), std::move(text), {0}});
  for (uint32_t i = 0; i < file.text.size(); ++i)
    if (file.text[i] == '\n') file.line_begins.push_back(i + 1);
  return size();
}

std::string_view SourceFiles::name(uint32_t file) const {
  return file == 0 || file > size() ? std::string_view() : std::string_view(files_[file - 1].name);
}

std::string_view SourceFiles::text(uint32_t file) const {
  return file == 0 || file > size() ? std::string_view() : std::string_view(files_[file - 1].text);
}

Position SourceFiles::position(const Span& span) const {
  if (span.file == 0 || span.file > size()) return {};
  const File& file = files_[span.file - 1];
  const auto next = std::upper_bound(file.line_begins.begin(), file.line_begins.end(), span.begin);
  const auto line = static_cast<uint32_t>(next - file.line_begins.begin());
  const uint32_t begin = file.line_begins[line - 1];
  size_t end = next == file.line_begins.end() ? file.text.size() : *next - 1;
  if (end > begin && file.text[end - 1] == '\r') --end;
  const std::string_view text = std::string_view(file.text).substr(begin, end - begin);
  uint32_t column = 1;
  for (uint32_t i = begin; i < span.begin && i < file.text.size(); ++i)
    column += (static_cast<unsigned char>(file.text[i]) & 0xC0) != 0x80;
  return {file.name, line, column, text};
}

}  // namespace hopline
