#include "frontend/syntax/parse.h"

#include <algorithm>

#include "DmlParser.h"
#include "frontend/syntax/builder.h"
#include "frontend/syntax/messages.h"
#include "frontend/syntax/tokens.h"
#include "runtime/base/large_stack.h"

namespace hopline {
namespace {

using grammar::DmlParser;

constexpr int kRuleLimit = 40000;  // nested rule calls; one level of brackets takes up to three

// Throws all errors in the order of the script, one per line.
[[noreturn]] void throw_errors(const SourceFiles& files, std::vector<Diagnostic> errors) {
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
  const auto same_line = [&](const Diagnostic& a, const Diagnostic& b) {
    return files.position(a.span).line == files.position(b.span).line;
  };
  errors.erase(std::unique(errors.begin(), errors.end(), same_line), errors.end());
  if (errors.size() > kMostErrors) errors.resize(kMostErrors);
  throw Error(ErrorKind::script, std::move(errors));
}

// The exact prediction, which recovers from errors and reports them.
template <class Rule>
auto parse_slowly(DmlParser& parser, ErrorCollector& collector, Rule rule) {
  parser.reset();
  parser.addErrorListener(&collector);
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::LL);
  parser.setErrorHandler(std::make_shared<LineRecovery>());
  return (parser.*rule)();
}

struct Script {
  Tokens& tokens;
  DmlParser parser;
  Builder builder;
  std::vector<Diagnostic>& errors;

  Script(Ast& ast, Tokens& t, std::vector<Diagnostic>& e)
      : tokens(t), parser(&t.stream()), builder(ast, t, e), errors(e) {
    parser.removeErrorListeners();
    parser.levels_left = kRuleLimit;
    parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::SLL);
    parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  }

  // A statement's ANTLR tree is freed before the next one is read: such trees take 20 times the bytes of the text.
  Body statements() {
    Body out;
    while (tokens.stream().LA(1) != antlr4::Token::EOF) {
      out.push_back(builder.statement(*parser.statement()));
      parser.getTreeTracker().reset();
    }
    return out;
  }
};

// Calls fast(script); where that meets an error or was not sure, slow(script, collector). Throws all errors.
template <class Fast, class Slow>
auto parse_with(Ast& ast, const SourceFiles& files, uint32_t file, Fast fast, Slow slow) {
  std::vector<Diagnostic> errors;
  decltype(fast(std::declval<Script&>())) result{};
  on_large_stack([&] {
    Tokens tokens(files.text(file), file, errors);
    // Brackets that do not match, deep down, would be recovered from once per level.
    constexpr int kDeepForRecovery = 500;
    if (tokens.innermost_open() != nullptr && tokens.deepest() > kDeepForRecovery)
      fail(tokens.span(*tokens.innermost_open()), "'{}' is never closed", tokens.text(*tokens.innermost_open()));
    Script script(ast, tokens, errors);
    ErrorCollector collector(tokens, errors);
    try {
      try {
        result = fast(script);
      } catch (const antlr4::ParseCancellationException&) {
        if (script.parser.too_deep_at != nullptr) throw;
        result = slow(script, collector);
      }
    } catch (const ErrorCollector::TooManyErrors&) {
    } catch (const antlr4::ParseCancellationException&) {
      errors.push_back({tokens.span(*script.parser.too_deep_at),
                        "nesting is too deep: expected at most " + std::to_string(kNestingLimit) + " levels"});
    }
  });
  if (!errors.empty()) throw_errors(files, std::move(errors));
  return result;
}

}  // namespace

Body parse(Ast& ast, const SourceFiles& files, uint32_t file) {
  return parse_with(
      ast, files, file, [](Script& script) { return script.statements(); },
      [](Script& script, ErrorCollector& collector) {
        auto* const tree = parse_slowly(script.parser, collector, &DmlParser::program);
        return script.errors.empty() ? script.builder.program(*tree) : Body{};
      });
}

Expr* parse_expression(Ast& ast, const SourceFiles& files, uint32_t file) {
  return parse_with(
      ast, files, file,
      [](Script& script) { return script.builder.expression(*script.parser.expressionOnly()->expression()); },
      [](Script& script, ErrorCollector& collector) {
        auto* const tree = parse_slowly(script.parser, collector, &DmlParser::expressionOnly);
        return script.errors.empty() ? script.builder.expression(*tree->expression()) : nullptr;
      });
}

}  // namespace hopline
