// Bytes of a script -> tokens. Private to frontend/syntax.
#pragma once
#include <string_view>
#include <vector>

#include "runtime/base/error.h"

namespace hopline {

struct Lexeme {
  size_t type;  // of the grammar; EOF at the end of the text
  size_t begin, end;
  size_t line;  // 1-based
};

// Reads one token after another. What cannot be part of a script is reported, at most once per line, and skipped or
// given the type that was probably meant.
class Lexer {
 public:
  Lexer(std::string_view text, uint32_t file, std::vector<Diagnostic>& errors)
      : text_(text), file_(file), errors_(errors) {}
  Lexeme next();

 private:
  void skip_space();
  size_t word();
  size_t number();
  size_t string();
  size_t parameter();
  size_t symbol();
  void junk();
  char at(size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
  void report(size_t begin, size_t length, std::string message);

  std::string_view text_;
  uint32_t file_;
  std::vector<Diagnostic>& errors_;
  size_t begin_ = 0, end_ = 0;  // of the token that is being read
  size_t line_ = 1;
  size_t reported_line_ = 0;
};

}  // namespace hopline
