// Turns what ANTLR knows about a syntax error into one line for the script's author. Private to frontend/syntax.
#pragma once
#include "DmlParser.h"
#include "frontend/syntax/tokens.h"

namespace hopline {

// Collects errors: at most one per source line, since what follows the first is mostly its echo. Throws
// TooManyErrors at the limit.
class ErrorCollector final : public antlr4::BaseErrorListener {
 public:
  struct TooManyErrors {};
  ErrorCollector(const Tokens& tokens, std::vector<Diagnostic>& errors) : tokens_(tokens), errors_(errors) {}
  void syntaxError(antlr4::Recognizer* recognizer, antlr4::Token* found, size_t line, size_t column,
                   const std::string& message, std::exception_ptr exception) override;

 private:
  const Tokens& tokens_;
  std::vector<Diagnostic>& errors_;
  size_t last_line_ = 0;
};

// Skips to a token that can follow, which is a bracket, a comma or a semicolon, or stands first on its line: so the
// rest of a bad line gives no further errors.
class LineRecovery final : public antlr4::DefaultErrorStrategy {
 protected:
  void consumeUntil(antlr4::Parser* parser, const antlr4::misc::IntervalSet& follow) override;
};

}  // namespace hopline
