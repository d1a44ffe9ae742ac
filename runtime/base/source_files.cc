#include "runtime/base/source_files.h"

#include <algorithm>

namespace hopline {

uint32_t SourceFiles::add(std::string name, std::string text) {
  std::vector<uint32_t> line_begins{0};
  for (uint32_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') line_begins.push_back(i + 1);
  const std::lock_guard lock(mutex_);
  files_.push_back(File{std::move(name), std::move(text), std::move(line_begins)});
  return static_cast<uint32_t>(files_.size());
}

uint32_t SourceFiles::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(files_.size());
}

const SourceFiles::File* SourceFiles::find(uint32_t file) const {
  const std::lock_guard lock(mutex_);
  return file == 0 || file > files_.size() ? nullptr : &files_[file - 1];
}

std::string_view SourceFiles::name(uint32_t file) const {
  const File* found = find(file);
  return found == nullptr ? std::string_view() : std::string_view(found->name);
}

std::string_view SourceFiles::text(uint32_t file) const {
  const File* found = find(file);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Position SourceFiles::position(const Span& span) const {
  const File* found = find(span.file);
  if (found == nullptr) return {};
  const File& file = *found;
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
