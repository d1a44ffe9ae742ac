#include "frontend/syntax/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace hopline {
namespace {

using antlr4::Token;
using Type = grammar::DmlParser;

// Tokens that stand for one thing an author knows: named once, however many of them could come.
struct Group {
  const char* name;
  std::vector<size_t> witnesses;  // the group could come if all of these could
  std::vector<size_t> tokens;     // that the name covers
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"an expression",
       {Type::INTEGER, Type::NOT},
       {Type::ID, Type::INTEGER, Type::REAL, Type::STRING, Type::TRUE, Type::FALSE, Type::PARAMETER, Type::OPEN,
        Type::OPEN_BRACKET, Type::MINUS, Type::PLUS, Type::NOT, Type::FUNCTION, Type::EXTERNAL, Type::IFDEF}},
      {"a statement",
       {Type::ID, Type::IF, Type::WHILE},
       {Type::ID, Type::TARGET_OPEN, Type::IF, Type::WHILE, Type::FOR, Type::PARFOR, Type::SOURCE, Type::SETWD,
        Type::SEMICOLON, Type::ELSE, Token::EOF}},
      {"an operator",
       {Type::TIMES, Type::AND},
       {Type::POWER, Type::MINUS, Type::PLUS, Type::MATRIX_PRODUCT, Type::INTEGER_DIVIDE, Type::MODULUS, Type::TIMES,
        Type::DIVIDE, Type::LESS, Type::LESS_EQUAL, Type::GREATER, Type::GREATER_EQUAL, Type::EQUAL, Type::NOT_EQUAL,
        Type::AND, Type::OR, Type::OPEN, Type::OPEN_BRACKET}},
      {"'='", {Type::ASSIGN, Type::ARROW}, {Type::ASSIGN, Type::ARROW, Type::ADD_ASSIGN, Type::TARGET_OPEN}},
      {"a type", {Type::ID, Type::VALUE_TYPE}, {Type::ID, Type::VALUE_TYPE}},
      {"a string or $parameter", {Type::STRING, Type::PARAMETER}, {Type::STRING, Type::PARAMETER}},
  };
  return all;
}

std::string expected_text(const antlr4::misc::IntervalSet& expected, bool or_operator) {
  std::vector<size_t> types;
  for (ssize_t type : expected.toList()) types.push_back(static_cast<size_t>(type));
  std::vector<std::string> names;
  if (or_operator) names.emplace_back("an operator");
  const auto contains = [&](size_t type) { return std::find(types.begin(), types.end(), type) != types.end(); };
  std::vector<std::string> group_names;
  for (const Group& group : groups()) {
    if (!std::all_of(group.witnesses.begin(), group.witnesses.end(), contains)) continue;
    const auto covered = [&](size_t t) { return std::count(group.tokens.begin(), group.tokens.end(), t) != 0; };
    std::erase_if(types, covered);
    group_names.emplace_back(group.name);
  }
  for (size_t type : types) names.push_back(token_name(type));
  names.insert(names.end(), group_names.begin(), group_names.end());
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return out;
}

std::string found_text(const Token& found, std::string_view text) {
  if (found.getType() == Token::EOF) return "end of file";
  constexpr size_t kShown = 40;
  const size_t end = std::min(text.find_first_of("\r\n"), text.size());
  if (end <= kShown && end == text.size()) return fmt::format("'{}'", text);
  size_t cut = std::min(end, kShown);
  while (cut > 0 && (text[cut] & 0xC0) == 0x80) --cut;
  return fmt::format("'{}...'", text.substr(0, cut));
}

// What the author of such a script often has in mind.
const char* advice(size_t found, size_t before) {
  switch (found) {
    case Type::ARROW:
      return "; write 'a < -1' to compare with a negative number";
    case Type::COLON:
      return "; a range as a value is seq(from, to)";
    case Type::OPEN_BRACKET:
      return before == Type::CLOSE || before == Type::CLOSE_BRACKET ? "; only a variable can be indexed" : "";
    case Type::ASSIGN:
      return "; '==' compares";
    case Type::RETURN:
      return "; a function returns the values of its declared outputs";
    default:
      return is_reserved_word(found) ? " (a reserved word)" : "";
  }
}

bool ends_expression(size_t type) {
  switch (type) {
    case Type::ID:
    case Type::PARAMETER:
    case Type::INTEGER:
    case Type::REAL:
    case Type::STRING:
    case Type::TRUE:
    case Type::FALSE:
    case Type::CLOSE:
    case Type::CLOSE_BRACKET:
      return true;
    default:
      return false;
  }
}

bool is_punctuation(size_t type) {
  switch (type) {
    case Type::CLOSE:
    case Type::CLOSE_BRACKET:
    case Type::OPEN_BRACE:
    case Type::CLOSE_BRACE:
    case Type::COMMA:
    case Type::SEMICOLON:
      return true;
    default:
      return false;
  }
}

}  // namespace

void LineRecovery::consumeUntil(antlr4::Parser* parser, const antlr4::misc::IntervalSet& follow) {
  antlr4::TokenStream* const tokens = parser->getTokenStream();
  while (tokens->LA(1) != Token::EOF) {
    const size_t type = tokens->LA(1);
    const Token* const before = tokens->LT(-1);
    const bool first_on_line = before == nullptr || before->getLine() < tokens->LT(1)->getLine();
    if ((first_on_line || is_punctuation(type)) && follow.contains(type)) return;
    parser->consume();
  }
}

void ErrorCollector::syntaxError(antlr4::Recognizer* recognizer, Token* found, size_t line, size_t, const std::string&,
                                 std::exception_ptr exception) {
  if (line == last_line_) return;
  last_line_ = line;
  auto* parser = static_cast<grammar::DmlParser*>(recognizer);
  antlr4::misc::IntervalSet expected;
  try {
    if (exception) std::rethrow_exception(exception);
    expected = parser->getExpectedTokens();
  } catch (const antlr4::RecognitionException& e) {
    expected = e.getExpectedTokens();
  }
  const size_t index = found->getTokenIndex();
  const size_t before = index == 0 ? Token::INVALID_TYPE : parser->getTokenStream()->get(index - 1)->getType();
  const bool statement_expected = expected.contains(size_t{Type::WHILE});
  std::string message;
  if (found->getType() == Type::SEMICOLON && statement_expected)
    message = "expected a statement before ';'";
  else
    message =
        fmt::format("expected {}, found {}{}", expected_text(expected, statement_expected && ends_expression(before)),
                    found_text(*found, tokens_.text(*found)), advice(found->getType(), before));
  const Token* open = tokens_.innermost_open();
  if (found->getType() == Token::EOF && open != nullptr)
    message += fmt::format("; the '{}' of line {} is not closed", tokens_.text(*open), open->getLine());
  errors_.push_back({tokens_.span(*found), std::move(message)});
  if (errors_.size() > kMostErrors) throw TooManyErrors{};
}

}  // namespace hopline
