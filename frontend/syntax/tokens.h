// The tokens of a script, ready for the parser. Private to frontend/syntax.
#pragma once
#include <antlr4-runtime.h>

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"

namespace hopline {

constexpr int kNestingLimit = 10000;                 // levels of brackets
constexpr size_t kMostErrors = 20;                   // in one report
constexpr size_t kLargestScript = size_t{64} << 20;  // bytes; what is larger is data passed by mistake

// Lexes a whole file. What cannot be part of a script goes to `errors`, at most one per line, and is left out or
// replaced by what was probably meant; each '[' of an assignment's left side becomes TARGET_OPEN. Throws Error{script}
// on brackets nested more than kNestingLimit deep, on a script larger than kLargestScript or with a zero byte, and as
// soon as there are more than kMostErrors errors.
class Tokens final : public antlr4::TokenSource {
 public:
  Tokens(std::string_view text, uint32_t file, std::vector<Diagnostic>& errors);

  antlr4::CommonTokenStream& stream() { return stream_; }
  Span span(const antlr4::Token& token) const;
  std::string_view text(const antlr4::Token& token) const;
  const antlr4::Token* innermost_open() const { return innermost_open_; }  // a bracket that is never closed, or null
  int deepest() const { return deepest_; }                                 // levels of brackets

  // For ANTLR only.
  std::unique_ptr<antlr4::Token> nextToken() override { return std::move(list_[next_++]); }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() override { return 0; }
  antlr4::CharStream* getInputStream() override { return nullptr; }
  std::string getSourceName() override { return "script"; }
  antlr4::TokenFactory<antlr4::CommonToken>* getTokenFactory() override {
    return antlr4::CommonTokenFactory::DEFAULT.get();
  }

 private:
  void match_brackets();

  std::string_view text_;
  uint32_t file_;
  std::vector<std::unique_ptr<antlr4::CommonToken>> list_;
  size_t next_ = 0;
  const antlr4::Token* innermost_open_ = nullptr;
  int deepest_ = 0;
  antlr4::CommonTokenStream stream_;
};

// How a token is named in a message: "'if'", "a name", "end of file".
std::string token_name(size_t type);
bool is_reserved_word(size_t type);

}  // namespace hopline
