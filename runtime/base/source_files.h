// The texts of a program's scripts; turns a Span into file, line, column and a caret line.
#pragma once
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/span.h"

namespace hopline {

struct Position {
  std::string_view file;
  uint32_t line = 0, column = 0;  // 1-based; columns count characters, not bytes
  std::string_view text;          // the whole source line, without its end
};

// Files may be added while others are read: eval loads scripts at run time.
class SourceFiles {
 public:
  // Returns the number of the file. Text is UTF-8. Numbers start at 1: Span::file 0 means "nowhere".
  uint32_t add(std::string name, std::string text);
  Position position(const Span& span) const;
  std::string_view name(uint32_t file) const;
  std::string_view text(uint32_t file) const;
  uint32_t size() const;

 private:
  struct File {
    std::string name, text;
    std::vector<uint32_t> line_begins;
  };
  const File* find(uint32_t file) const;  // null: there is none

  mutable std::mutex mutex_;
  std::deque<File> files_;  // deque: views stay valid
};

}  // namespace hopline
