#include "frontend/syntax/tokens.h"

#include "DmlParser.h"
#include "frontend/syntax/lexer.h"

namespace hopline {
namespace {

using antlr4::CommonToken;
using antlr4::Token;
using Type = grammar::DmlParser;

bool is_assignment(size_t type) { return type == Type::ASSIGN || type == Type::ARROW || type == Type::ADD_ASSIGN; }

size_t opener_of(size_t closer) {
  switch (closer) {
    case Type::CLOSE:
      return Type::OPEN;
    case Type::CLOSE_BRACKET:
      return Type::OPEN_BRACKET;
    case Type::CLOSE_BRACE:
      return Type::OPEN_BRACE;
    default:
      return Token::INVALID_TYPE;
  }
}

}  // namespace

Tokens::Tokens(std::string_view text, uint32_t file, std::vector<Diagnostic>& errors)
    : text_(text), file_(file), stream_(this) {
  if (text.size() > kLargestScript)
    fail({file, 0, 1, nullptr}, "script is too large: expected at most {} MB, found {} MB", kLargestScript >> 20,
         text.size() >> 20);
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    fail({file, static_cast<uint32_t>(zero), 1, nullptr}, "expected a script as UTF-8 text, found a zero byte");
  Lexer lexer(text, file, errors);
  const std::pair<antlr4::TokenSource*, antlr4::CharStream*> source(this, nullptr);
  do {
    const Lexeme lexeme = lexer.next();
    auto& token = list_.emplace_back(
        std::make_unique<CommonToken>(source, lexeme.type, Token::DEFAULT_CHANNEL, lexeme.begin, lexeme.end - 1));
    token->setLine(lexeme.line);
    if (errors.size() > kMostErrors) {
      errors.resize(kMostErrors);
      throw Error(ErrorKind::script, errors);
    }
  } while (list_.back()->getType() != Token::EOF);
  match_brackets();
  stream_.fill();
}

Span Tokens::span(const Token& token) const {
  const auto begin = static_cast<uint32_t>(token.getStartIndex());
  return {file_, begin, static_cast<uint32_t>(token.getStopIndex() + 1) - begin, nullptr};
}

std::string_view Tokens::text(const Token& token) const {
  return text_.substr(token.getStartIndex(), token.getStopIndex() + 1 - token.getStartIndex());
}

void Tokens::match_brackets() {
  std::vector<size_t> open;  // positions in the list
  for (size_t i = 0; i < list_.size(); ++i) {
    const size_t type = list_[i]->getType();
    if (type == Type::OPEN || type == Type::OPEN_BRACKET || type == Type::OPEN_BRACE) {
      open.push_back(i);
      deepest_ = std::max(deepest_, static_cast<int>(open.size()));
      if (deepest_ > kNestingLimit)
        fail(span(*list_[i]), "nesting is too deep: expected at most {} levels of brackets", kNestingLimit);
      continue;
    }
    const size_t opener = opener_of(type);
    if (opener == Token::INVALID_TYPE || open.empty() || list_[open.back()]->getType() != opener) continue;
    const size_t begin = open.back();
    open.pop_back();
    const bool among_statements = open.empty() || list_[open.back()]->getType() == Type::OPEN_BRACE;
    if (type == Type::CLOSE_BRACKET && among_statements && is_assignment(list_[i + 1]->getType()))
      list_[begin]->setType(Type::TARGET_OPEN);
    // f(g(x);) is accepted for the sake of published scripts: a call within brackets may be followed by semicolons.
    if (type == Type::CLOSE && !among_statements && begin > 0 && list_[begin - 1]->getType() == Type::ID)
      for (size_t k = i + 1; list_[k]->getType() == Type::SEMICOLON; ++k) list_[k]->setChannel(Token::HIDDEN_CHANNEL);
  }
  if (!open.empty()) innermost_open_ = list_[open.back()].get();
}

}  // namespace hopline
