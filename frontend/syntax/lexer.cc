#include "frontend/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "DmlParser.h"
#include "frontend/syntax/tokens.h"

namespace hopline {
namespace {

using Type = grammar::DmlParser;  // names of the token types

struct Word {
  std::string_view text;
  size_t type;
};

constexpr Word kWords[] = {
    {"FALSE", Type::FALSE},
    {"TRUE", Type::TRUE},
    {"as", Type::AS},
    {"else", Type::ELSE},
    {"for", Type::FOR},
    {"function", Type::FUNCTION},
    {"if", Type::IF},
    {"ifdef", Type::IFDEF},
    {"in", Type::IN},
    {"parfor", Type::PARFOR},
    {"return", Type::RETURN},
    {"setwd", Type::SETWD},
    {"source", Type::SOURCE},
    {"while", Type::WHILE},
    {"int", Type::VALUE_TYPE},
    {"Int", Type::VALUE_TYPE},
    {"double", Type::VALUE_TYPE},
    {"Double", Type::VALUE_TYPE},
    {"string", Type::VALUE_TYPE},
    {"String", Type::VALUE_TYPE},
    {"boolean", Type::VALUE_TYPE},
    {"Boolean", Type::VALUE_TYPE},
    {"integer", Type::VALUE_TYPE},
    {"Integer", Type::VALUE_TYPE},
    {"unknown", Type::VALUE_TYPE},
    {"Unknown", Type::VALUE_TYPE},
    {"implemented", Type::IMPLEMENTED},
    {"externalFunction", Type::EXTERNAL},
};

// The only names with a dot.
constexpr std::string_view kDotted[] = {
    "as.scalar", "as.matrix", "as.frame",    "as.double",    "as.integer",   "as.logical", "as.list",   "as.boolean",
    "is.na",     "is.nan",    "is.infinite", "index.return", "empty.return", "lower.tail", "lower.tri", "upper.tri"};

// The longer of two with the same start comes first.
constexpr Word kSymbols[] = {
    {"%*%", Type::MATRIX_PRODUCT},
    {"%/%", Type::INTEGER_DIVIDE},
    {"%%", Type::MODULUS},
    {"<-", Type::ARROW},
    {"<=", Type::LESS_EQUAL},
    {">=", Type::GREATER_EQUAL},
    {"==", Type::EQUAL},
    {"!=", Type::NOT_EQUAL},
    {"+=", Type::ADD_ASSIGN},
    {"&&", Type::AND},
    {"||", Type::OR},
    {"(", Type::OPEN},
    {")", Type::CLOSE},
    {"[", Type::OPEN_BRACKET},
    {"]", Type::CLOSE_BRACKET},
    {"{", Type::OPEN_BRACE},
    {"}", Type::CLOSE_BRACE},
    {",", Type::COMMA},
    {";", Type::SEMICOLON},
    {":", Type::COLON},
    {"=", Type::ASSIGN},
    {"^", Type::POWER},
    {"-", Type::MINUS},
    {"+", Type::PLUS},
    {"*", Type::TIMES},
    {"/", Type::DIVIDE},
    {"<", Type::LESS},
    {">", Type::GREATER},
    {"!", Type::NOT},
    {"&", Type::AND},
    {"|", Type::OR},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool can_start_token(char c) {
  return is_word(c) || is_space(c) || std::string_view("#\"'$.%<>=!+&|()[]{},;:^-*/").find(c) != std::string_view::npos;
}

// Length of the UTF-8 character at the front, 1 for a byte that starts none.
size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  if (first >= 0xF5 || length > text.size()) return 1;
  for (size_t i = 1; i < length; ++i)
    if ((text[i] & 0xC0) != 0x80) return 1;
  return length;
}

std::string shown(std::string_view text) {
  constexpr size_t kShown = 40;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

bool too_large(std::string_view digits) {
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  constexpr std::string_view kLargest = "9223372036854775808";  // with a minus before it
  return digits.size() > kLargest.size() || (digits.size() == kLargest.size() && digits > kLargest);
}

}  // namespace

std::string token_name(size_t type) {
  switch (type) {
    case antlr4::Token::EOF:
      return "end of file";
    case Type::ID:
      return "a name";
    case Type::PARAMETER:
      return "a $parameter";
    case Type::INTEGER:
    case Type::REAL:
      return "a number";
    case Type::STRING:
      return "a string";
    case Type::VALUE_TYPE:
      return "a type";
    case Type::TARGET_OPEN:
      return "'['";
    default:
      break;
  }
  const auto same = [&](const Word& w) { return w.type == type; };
  for (const std::span<const Word> table : {std::span<const Word>(kWords), std::span<const Word>(kSymbols)})
    if (auto at = std::find_if(table.begin(), table.end(), same); at != table.end())
      return fmt::format("'{}'", at->text);
  return "nothing";
}

bool is_reserved_word(size_t type) {
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const Word& w) { return w.type == type; });
}

void Lexer::report(size_t begin, size_t length, std::string message) {
  if (line_ == reported_line_) return;
  reported_line_ = line_;
  errors_.push_back(
      {{file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(length), nullptr}, std::move(message)});
}

// White space, comments, and the mark that some editors put at the start of a UTF-8 file.
void Lexer::skip_space() {
  if (begin_ == 0 && text_.starts_with("\xEF\xBB\xBF")) begin_ = 3;
  while (begin_ < text_.size()) {
    const char c = text_[begin_];
    if (is_space(c)) {
      line_ += c == '\n';
      ++begin_;
    } else if (c == '#') {
      while (begin_ < text_.size() && text_[begin_] != '\n' && text_[begin_] != '\r') ++begin_;
    } else if (c == '/' && at(begin_ + 1) == '*') {
      const size_t close = text_.find("*/", begin_ + 2);
      if (close == std::string_view::npos) {
        report(begin_, 2, "comment is not closed: expected */ before the end of the file");
        begin_ = text_.size();
        return;
      }
      line_ += static_cast<size_t>(std::count(text_.begin() + begin_, text_.begin() + close, '\n'));
      begin_ = close + 2;
    } else {
      return;
    }
  }
}

Lexeme Lexer::next() {
  while (true) {
    begin_ = end_;
    skip_space();
    end_ = begin_;
    if (begin_ >= text_.size()) return {antlr4::Token::EOF, text_.size(), text_.size(), line_};
    const size_t line = line_;
    const char c = text_[begin_];
    size_t type = antlr4::Token::INVALID_TYPE;
    if (is_letter(c) || c == '_')
      type = word();
    else if (is_digit(c) || (c == '.' && is_digit(at(begin_ + 1))))
      type = number();
    else if (c == '"' || c == '\'')
      type = string();
    else if (c == '$')
      type = parameter();
    else
      type = symbol();
    if (type != antlr4::Token::INVALID_TYPE) return {type, begin_, end_, line};
    junk();
  }
}

size_t Lexer::word() {
  const auto rest_of_word = [&](size_t from) {
    while (is_word(at(from))) ++from;
    return from;
  };
  end_ = rest_of_word(begin_);
  if (text_[begin_] == '_') {
    report(begin_, end_ - begin_,
           fmt::format("a name cannot start with '_': found '{}'", shown(text_.substr(begin_, end_ - begin_))));
    return Type::ID;
  }
  if (at(end_) == '.') {
    size_t whole = end_;
    while (is_word(at(whole)) || at(whole) == '.') ++whole;
    const std::string_view name = text_.substr(begin_, whole - begin_);
    end_ = whole;
    if (std::find(std::begin(kDotted), std::end(kDotted), name) == std::end(kDotted))
      report(begin_, name.size(), fmt::format("a name cannot contain a dot: found '{}'", shown(name)));
    return Type::ID;
  }
  if (at(end_) == ':' && at(end_ + 1) == ':' && is_letter(at(end_ + 2))) {
    end_ = rest_of_word(end_ + 2);
    return Type::ID;
  }
  const std::string_view text = text_.substr(begin_, end_ - begin_);
  for (const Word& w : kWords)
    if (w.text == text) return w.type;
  return Type::ID;
}

size_t Lexer::number() {
  size_t at_end = begin_;
  const auto digits = [&] {
    while (is_digit(at(at_end))) ++at_end;
  };
  size_t type = Type::INTEGER;
  digits();
  if (at(at_end) == '.') {
    type = Type::REAL;
    ++at_end;
    digits();
  }
  if (at(at_end) == 'e' || at(at_end) == 'E') {
    const size_t sign = at(at_end + 1) == '+' || at(at_end + 1) == '-' ? 1 : 0;
    if (is_digit(at(at_end + 1 + sign))) {
      type = Type::REAL;
      at_end += 1 + sign;
      digits();
    }
  }
  end_ = at_end;
  const std::string_view text = text_.substr(begin_, end_ - begin_);
  if ((at(end_) == 'L' || at(end_) == 'l') && !is_word(at(end_ + 1))) {
    ++end_;
    report(
        begin_, end_ - begin_,
        fmt::format("a number has no suffix: expected '{}', found '{}{}'", shown(text), shown(text), text_[end_ - 1]));
  } else if (type == Type::INTEGER && too_large(text)) {
    report(begin_, text.size(),
           fmt::format("integer out of range: expected at most 9223372036854775807, found {}", shown(text)));
    return Type::REAL;
  }
  return type;
}

size_t Lexer::string() {
  const char quote = text_[begin_];
  const size_t first_line = line_;
  for (end_ = begin_ + 1; end_ < text_.size(); ++end_) {
    const char c = text_[end_];
    if (c == quote) {
      ++end_;
      return Type::STRING;
    }
    line_ += c == '\n';
    if (c != '\\') continue;
    ++end_;
    const char escaped = at(end_);
    if (std::string_view("btnfr\"'\\").find(escaped) == std::string_view::npos && end_ < text_.size())
      report(
          end_ - 1, 2,
          fmt::format("unknown escape in a string: expected \\b, \\t, \\n, \\f, \\r, \\\", \\' or \\\\, found '\\{}'",
                      text_.substr(end_, character_length(text_.substr(end_)))));
    line_ += escaped == '\n';
  }
  end_ = text_.size();
  line_ = first_line;
  report(begin_, 1, fmt::format("string is not closed: expected {} before the end of the file", quote));
  return Type::STRING;
}

size_t Lexer::parameter() {
  end_ = begin_ + 1;
  const bool positional = is_digit(at(end_));
  if (!positional && !is_letter(at(end_))) return antlr4::Token::INVALID_TYPE;
  while (positional ? is_digit(at(end_)) : is_word(at(end_))) ++end_;
  return Type::PARAMETER;
}

size_t Lexer::symbol() {
  const std::string_view rest = text_.substr(begin_);
  for (const Word& s : kSymbols) {
    if (!rest.starts_with(s.text)) continue;
    end_ = begin_ + s.text.size();
    return s.type;
  }
  return antlr4::Token::INVALID_TYPE;
}

// Skips a run of characters that start no token, with one message.
void Lexer::junk() {
  end_ = begin_ + character_length(text_.substr(begin_));
  const size_t first = end_ - begin_;
  while (end_ < text_.size() && !can_start_token(text_[end_])) ++end_;
  const auto byte = static_cast<unsigned char>(text_[begin_]);
  std::string message = first == 1 && (byte < 0x20 || byte >= 0x7F)
                            ? fmt::format("unexpected byte 0x{:02x}", byte)
                            : fmt::format("unexpected character '{}'", text_.substr(begin_, first));
  report(begin_, end_ - begin_, std::move(message));
}

}  // namespace hopline
