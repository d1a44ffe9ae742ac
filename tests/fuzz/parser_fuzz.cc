// Parser, printer and checker against hostile scripts.
#include <cstdio>

#include "frontend/check/check.h"
#include "frontend/syntax/parse.h"
#include "frontend/syntax/print.h"
#include "tests/fuzz/driver.h"

namespace hopline {
namespace {

void check_errors(const Error& error, const SourceFiles& files) {
  HOPLINE_CHECK(error.kind() == ErrorKind::script);
  HOPLINE_CHECK(!error.diagnostics().empty() && error.diagnostics().size() <= 20);
  for (const Diagnostic& d : error.diagnostics()) {
    HOPLINE_CHECK(!d.message.empty());
    HOPLINE_CHECK(d.span.begin + d.span.length <= files.text(d.span.file).size());
  }
  HOPLINE_CHECK(!render(error, files).empty());
}

// The printed script, or "" when the text is none.
std::string reprint(std::string_view text) {
  SourceFiles files;
  Ast ast;
  const uint32_t file = files.add("input", std::string(text));
  try {
    return print(parse(ast, files, file));
  } catch (const Error& error) {
    check_errors(error, files);
    return "";
  }
}

void check_program(std::string_view text) {
  const auto files = std::make_shared<SourceFiles>();
  const uint32_t file = files->add("input", std::string(text));
  CheckOptions options;
  options.arguments = {{"1", "1"}, {"p", "text"}};
  options.load = [](const std::string&, const std::string&) { return std::nullopt; };
  try {
    check(files, file, options);
  } catch (const Error& error) {
    check_errors(error, *files);
  }
}

void run(std::string_view text) {
  const std::string printed = reprint(text);
  HOPLINE_CHECK(printed.empty() || reprint(printed) == printed);
  check_program(text);
}

}  // namespace
}  // namespace hopline

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hopline::run({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef HOPLINE_LIBFUZZER
int main(int count, char** words) {
  constexpr std::string_view kPieces[] = {"\n",
                                          " ",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          ";",
                                          ":",
                                          "=",
                                          "<-",
                                          "+=",
                                          "==",
                                          "^",
                                          "-",
                                          "+",
                                          "!",
                                          "&&",
                                          "%*%",
                                          "%%",
                                          "\"",
                                          "'",
                                          "\\",
                                          "#",
                                          "/*",
                                          "*/",
                                          "$1",
                                          "$p",
                                          "x",
                                          "f(",
                                          "ns::f",
                                          "as.scalar(",
                                          "if (",
                                          "else ",
                                          "while (",
                                          "for (i in 1:3) ",
                                          "parfor (i in 1:3, check=0) ",
                                          "function(double x) return (double y) { y = x }",
                                          "ifdef(",
                                          "source(",
                                          "TRUE",
                                          "1e999",
                                          "9223372036854775808",
                                          "list(",
                                          "matrix(1,2,2)",
                                          "\xC3\xA4",
                                          "_",
                                          "."};
  return hopline::tests::fuzz_bytes(count, words, "parser_fuzz", kPieces);
}
#endif
