#include <gtest/gtest.h>

#include <functional>

#include "frontend/syntax/parse.h"
#include "frontend/syntax/print.h"
#include "runtime/base/error.h"

namespace hopline {
namespace {

std::string reprint(const std::string& text) {
  SourceFiles files;
  Ast ast;
  return print(parse(ast, files, files.add("a.dml", text)));
}

std::string reprint_expression(const std::string& text) {
  SourceFiles files;
  Ast ast;
  return print(*parse_expression(ast, files, files.add("a.dml", text)));
}

// Every operator with its operands in parentheses.
std::string nested(const Expr& e) {
  const auto* op = std::get_if<Operator>(&e.node);
  if (op == nullptr) return print(e);
  if (op->operands.size() == 1) return "(" + op->symbol + nested(*op->operands[0]) + ")";
  return "(" + nested(*op->operands[0]) + op->symbol + nested(*op->operands[1]) + ")";
}

std::string nest(const std::string& text) {
  SourceFiles files;
  Ast ast;
  return nested(*parse_expression(ast, files, files.add("a.dml", text)));
}

// "line:column: message" of each error, or "" where there is none.
std::vector<std::string> errors_of(const std::string& text) {
  SourceFiles files;
  Ast ast;
  const uint32_t file = files.add("a.dml", text);
  try {
    parse(ast, files, file);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::script);
    std::vector<std::string> out;
    for (const Diagnostic& d : e.diagnostics()) {
      const Position at = files.position(d.span);
      out.push_back(std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + d.message);
    }
    return out;
  }
  return {};
}

using Lines = std::vector<std::string>;

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST(Syntax, PrecedenceAsInTheReference) {
  EXPECT_EQ(nest("-x^2"), "(-(x^2))");
  EXPECT_EQ(nest("2^-1"), "(2^-1)");
  EXPECT_EQ(nest("2^3^2"), "(2^(3^2))");
  EXPECT_EQ(nest("-A %*% B"), "((-A)%*%B)");
  EXPECT_EQ(nest("a * b %*% c"), "(a*(b%*%c))");
  EXPECT_EQ(nest("A %*% B ^ 2"), "(A%*%(B^2))");
  EXPECT_EQ(nest("a / b %% c"), "(a/(b%%c))");
  EXPECT_EQ(nest("a * b %/% c"), "(a*(b%/%c))");
  EXPECT_EQ(nest("!a == b"), "(!(a==b))");
  EXPECT_EQ(nest("!x & y"), "((!x)&y)");
  EXPECT_EQ(nest("a * !b + c"), "(a*(!(b+c)))");
  EXPECT_EQ(nest("5 %/% 2 * 3"), "((5%/%2)*3)");
  EXPECT_EQ(nest("5 * 3 %/% 2"), "(5*(3%/%2))");
  EXPECT_EQ(nest("a<b<c"), "((a<b)<c)");
  EXPECT_EQ(nest("a | b & c"), "(a|(b&c))");
  EXPECT_EQ(nest("a || b && c"), "(a|(b&c))");
  EXPECT_EQ(nest("a - b - c / d / e"), "((a-b)-((c/d)/e))");
  EXPECT_EQ(nest("-a^-b^c"), "(-(a^(-(b^c))))");
  EXPECT_EQ(nest("- - a"), "(-(-a))");
  EXPECT_EQ(nest("+a + +b"), "(a+b)");
}

TEST(Syntax, SignsAndLiterals) {
  EXPECT_EQ(nest("-2^2"), "(-(2^2))");
  EXPECT_EQ(nest("-2*3"), "(-2*3)");
  EXPECT_EQ(nest("-(2)"), "(-2)");
  EXPECT_EQ(nest("- -2"), "(--2)");
  EXPECT_EQ(reprint_expression("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(reprint_expression("(-2)^2"), "(-2) ^ 2");
  EXPECT_EQ(reprint_expression("-(2)"), "-(2)");
  EXPECT_EQ(reprint_expression("1. + .5 + 1e5 + 1.e+3 + .5E-3"), "1.0 + 0.5 + 100000.0 + 1000.0 + 0.0005");
  EXPECT_EQ(reprint_expression("1e999"), "1e999");
  EXPECT_EQ(reprint_expression("c(TRUE, true, 007)"), "c(TRUE, true, 7)");
}

TEST(Syntax, Strings) {
  EXPECT_EQ(reprint_expression("'a\"b' + \"c'd\""), "\"a\\\"b\" + \"c'd\"");
  SourceFiles files;
  Ast ast;
  const Expr* e = parse_expression(ast, files, files.add("a", R"("\b\t\n\f\r\"\'|\\n\\W|grüße")"));
  EXPECT_EQ(std::get<std::string>(std::get<Literal>(e->node).value), "\b\t\n\f\r\"'|\\\\n\\\\W|grüße");
}

TEST(Syntax, LineBreaksEndNothing) {
  EXPECT_EQ(reprint("a = b\n-c"), "a = b - c\n");
  EXPECT_EQ(reprint("x = y\n[p,q] = f()"), "x = y\n[p, q] = f()\n");
  EXPECT_EQ(reprint("x = y\n[p,q] x = 2"), "x = y[p, q]\nx = 2\n");
  EXPECT_EQ(reprint("x = y z[1,2] = 3 if (a[1]==2) [b] = g(c)"),
            "x = y\nz[1, 2] = 3\nif (a[1] == 2) {\n  [b] = g(c)\n}\n");
  EXPECT_EQ(reprint("x = f(y[1]) [a] <- ns::g()"), "x = f(y[1])\n[a] = ns::g()\n");
  EXPECT_EQ(reprint("a<-1 # c\nb/*=*/=2"), "a = 1\nb = 2\n");
}

TEST(Syntax, Statements) {
  EXPECT_EQ(reprint("source('f.dml') as ns; setwd(\"d\");; source($p) as q"),
            "source(\"f.dml\") as ns\nsetwd(\"d\")\nsource($p) as q\n");
  EXPECT_EQ(reprint("x = ifdef($p, 3+4) A[i,] <- ifdef($1, 'a')"), "x = ifdef($p, 3 + 4)\nA[i,] = ifdef($1, \"a\")\n");
  EXPECT_EQ(reprint("A[1:2,] += B[,3] A[i] = C[] print($x)"), "A[1:2,] += B[, 3]\nA[i] = C[,]\nprint($x)\n");
  EXPECT_EQ(reprint("if (a) if (b) c = 1; else d = 2"),
            "if (a) {\n  if (b) {\n    c = 1\n  } else {\n    d = 2\n  }\n}\n");
  EXPECT_EQ(reprint("if (a) {} else if (b) {x=1;;}; while(c) { }"),
            "if (a) {\n} else if (b) {\n  x = 1\n}\nwhile (c) {\n}\n");
  EXPECT_EQ(
      reprint("parfor(i in 1:n+1, check=0, mode=LOCAL) x=i for(j in seq(a,b)) y=j for(k in seq(5,incr=-2,to=1)) {}"),
      "parfor (i in 1:n + 1, check=0, mode=LOCAL) {\n  x = i\n}\nfor (j in a:b) {\n  y = j\n}\n"
      "for (k in seq(5, 1, -2)) {\n}\n");
  EXPECT_EQ(reprint("a = (abs(-5);) b = max(1, abs(-3););"), "a = abs(-5)\nb = max(1, abs(-3))\n");
  EXPECT_EQ(reprint("x = conv2d(X, W, stride=[1,1], lower.tail=TRUE, is.na(y))"),
            "x = conv2d(X, W, stride=[1, 1], lower.tail=TRUE, is.na(y))\n");
}

TEST(Syntax, Functions) {
  EXPECT_EQ(reprint("f = function(matrix[double] X, Double x = 1, List[unknown] l, Boolean b, frame F, scalar[int] i)\n"
                    "return (Matrix[Double] Y, Integer n) { Y = X; n = i };"),
            "f = function(matrix[double] X, double x = 1, list[unknown] l, boolean b, frame[unknown] F, int i) return "
            "(matrix[double] Y, int n) {\n  Y = X\n  n = i\n}\n");
  EXPECT_EQ(reprint("p <- function() { print(1) }"), "p = function() {\n  print(1)\n}\n");
  EXPECT_EQ(
      reprint("e = externalFunction(matrix[double] A) return (matrix[double] B) implemented in (classname='o', x=1);"),
      "e = externalFunction(matrix[double] A) return (matrix[double] B) implemented in (classname=\"o\", x=1)\n");
}

TEST(Syntax, SpansAreExact) {
  SourceFiles files;
  Ast ast;
  const std::string script = " X[ i ,1:2 ]=-( a+b )* f( x , k = 2 ) ; if (a) {b=1} ;";
  const uint32_t good = files.add("b", script);
  const Body body = parse(ast, files, good);
  const auto at = [&](Span s) { return script.substr(s.begin, s.length); };
  ASSERT_EQ(body.size(), 2u);
  EXPECT_EQ(at(body[0]->span), "X[ i ,1:2 ]=-( a+b )* f( x , k = 2 )");
  const auto& assign = std::get<Assign>(body[0]->node);
  EXPECT_EQ(at(assign.target.span), "X[ i ,1:2 ]");
  EXPECT_EQ(at(assign.value->span), "-( a+b )* f( x , k = 2 )");
  const auto& times = std::get<Operator>(assign.value->node);
  EXPECT_EQ(at(times.operands[0]->span), "-( a+b )");
  EXPECT_EQ(at(std::get<Operator>(times.operands[0]->node).operands[0]->span), "a+b");
  EXPECT_EQ(at(times.operands[1]->span), "f( x , k = 2 )");
  const auto& call = std::get<CallExpr>(times.operands[1]->node);
  EXPECT_EQ(at(call.arguments[1].span), "k = 2");
  EXPECT_EQ(at(call.arguments[1].value->span), "2");
  EXPECT_EQ(at(body[1]->span), "if (a) {b=1}");
}

// parse(print(parse(x))) prints the same and nests the same, for all expressions of up to three operators.
TEST(Syntax, PrintingParsesToTheSameTree) {
  const std::vector<std::string> infix = {"^", "%*%", "%/%", "%%", "*", "/", "+", "-", "<", "==", "&", "|"};
  const std::vector<std::string> prefix = {"-", "!", "+"};
  const std::vector<std::string> leaves = {"a", "2", "-2.5", "x[1, 2:3]", "f(b, c=1)"};
  std::string script;
  const auto check = [&](const std::string& text) { script += "x = " + text + "\n"; };
  std::vector<std::string> one = leaves;
  for (const std::string& p : prefix)
    for (const char* l : {"a", "2", "-2"}) one.push_back(p + l);
  for (const std::string& i : infix)
    for (const char* l : {"a", "2"}) one.push_back(std::string(l) + i + "b");
  for (const std::string& left : one) {
    for (const std::string& p : prefix) check(p + "(" + left + ")"), check(p + left);
    for (const std::string& i : infix)
      for (const std::string& right : one) {
        check(left + " " + i + " " + right);
        check("(" + left + ") " + i + " " + right);
        check(left + " " + i + " (" + right + ")");
        check("(" + left + ")" + i + "(" + right + ")");
      }
  }
  SourceFiles files;
  Ast ast;
  const Body written = parse(ast, files, files.add("written", script));
  EXPECT_GT(written.size(), 60000u);
  const std::string once = print(written);
  const Body again = parse(ast, files, files.add("printed", once));
  EXPECT_EQ(print(again), once);
  ASSERT_EQ(again.size(), written.size());
  const auto nesting = [](const Stmt* s) { return nested(*std::get<Assign>(s->node).value); };
  for (size_t i = 0; i < written.size(); ++i)
    ASSERT_EQ(nesting(again[i]), nesting(written[i])) << files.position(written[i]->span).text;
}

TEST(Syntax, ErrorsSayWhatWasExpected) {
  EXPECT_EQ(errors_of("x = 3 4"), Lines{"1:7: expected an operator or a statement, found '4'"});
  EXPECT_EQ(errors_of("x = "), Lines{"1:5: expected an expression, found end of file"});
  EXPECT_EQ(errors_of("if (x\ny = 1"), Lines{"2:1: expected ')', found 'y'"});
  EXPECT_EQ(errors_of("x = (1 + 2\n"), Lines{"2:1: expected ')', found end of file; the '(' of line 1 is not closed"});
  EXPECT_EQ(errors_of("in = 3"), Lines{"1:1: expected a statement, found 'in' (a reserved word)"});
  EXPECT_EQ(errors_of("x + 1"), Lines{"1:3: expected '(' or '=', found '+'"});
  EXPECT_EQ(errors_of(";x = 1"), Lines{"1:1: expected a statement before ';'"});
  EXPECT_EQ(errors_of("if (a) {; x = 1}"), Lines{"1:9: expected a statement before ';'"});
  EXPECT_EQ(errors_of("y = f(X)[1,]"),
            Lines{"1:9: expected an operator or a statement, found '['; only a variable can be indexed"});
  EXPECT_EQ(errors_of("if (a <-1) b = 2"),
            Lines{"1:7: expected ')', found '<-'; write 'a < -1' to compare with a negative number"});
  EXPECT_EQ(errors_of("y = 1 + ifdef($p, 2)"), Lines{"1:9: expected an expression, found 'ifdef' (a reserved word)"});
  EXPECT_EQ(errors_of("x = f(a b)"), Lines{"1:9: expected ')' or ',', found 'b'"});
}

TEST(Syntax, ErrorsInWords) {
  EXPECT_EQ(errors_of("_a = 3"), Lines{"1:1: a name cannot start with '_': found '_a'"});
  EXPECT_EQ(errors_of("x = my.var"), Lines{"1:5: a name cannot contain a dot: found 'my.var'"});
  EXPECT_EQ(errors_of("x = 5L"), Lines{"1:5: a number has no suffix: expected '5', found '5L'"});
  EXPECT_EQ(errors_of("x = 'a\\q'"),
            Lines{"1:7: unknown escape in a string: expected \\b, \\t, \\n, \\f, \\r, \\\", \\' or \\\\, found '\\q'"});
  EXPECT_EQ(errors_of("ä = 'ä' @"), Lines{"1:1: unexpected character 'ä'"});
  EXPECT_EQ(errors_of("x = 'ä' @ 2"), Lines{"1:9: unexpected character '@'"});
  EXPECT_EQ(errors_of("x = 'ab"), Lines{"1:5: string is not closed: expected ' before the end of the file"});
  EXPECT_EQ(errors_of("x = 1 /* a"), Lines{"1:7: comment is not closed: expected */ before the end of the file"});
  EXPECT_EQ(errors_of("x = 9223372036854775808"),
            Lines{"1:5: integer out of range: expected at most 9223372036854775807, found 9223372036854775808"});
  EXPECT_EQ(errors_of("x = 1 - 9223372036854775808").size(), 1u);
  EXPECT_EQ(errors_of("x = 99999999999999999999").size(), 1u);
}

TEST(Syntax, ErrorsBeyondTheGrammar) {
  EXPECT_EQ(errors_of("for (i in X) x = 1"), Lines{"1:11: expected a range from:to or seq(from, to, step)"});
  EXPECT_EQ(errors_of("if (a) { f = function(int x) { y = 1 } }"),
            Lines{"1:10: functions are defined at the top level only: found 'f' in a block"});
  EXPECT_EQ(errors_of("f = function() {}"), Lines{"1:1: the body of function 'f' is empty"});
  EXPECT_EQ(errors_of("f = function(matrix[int] x) {y=1}"),
            Lines{"1:14: a matrix holds doubles: expected matrix[double], found matrix[int]"});
  EXPECT_EQ(errors_of("ns::x = 3"), Lines{"1:1: a variable cannot be qualified: found 'ns::x'"});
  EXPECT_EQ(errors_of("f(a+1=3)"), Lines{"1:3: expected a name before '=' in an argument; '==' compares"});
}

TEST(Syntax, AllErrorsAtOnceUpToTwenty) {
  EXPECT_EQ(errors_of("x = 3 +\n\nif (a) {\n  print(x y\n}\nz = my.x\nq = )\n").size(), 4u);
  EXPECT_EQ(errors_of(repeat("x = @\n", 50)).size(), 20u);
  EXPECT_EQ(errors_of(repeat("x = )\n", 50)).size(), 20u);
  std::string junk;
  for (int i = 0; i < 20000; ++i) junk += static_cast<char>(1 + (i * 7919 + i / 13) % 255);
  EXPECT_LE(errors_of(junk).size(), 20u);
  EXPECT_EQ(errors_of(std::string("x\0y = 1", 7)), Lines{"1:2: expected a script as UTF-8 text, found a zero byte"});
}

TEST(Syntax, NestingHasALimit) {
  EXPECT_EQ(reprint("x = " + repeat("(", 9999) + "1" + repeat(")", 9999)), "x = 1\n");
  EXPECT_EQ(errors_of("x = " + repeat("f(1+", 5000) + "1" + repeat(")", 5000)).size(), 0u);
  EXPECT_EQ(errors_of(repeat("if (a) {", 5000) + "x=1" + repeat("}", 5000)).size(), 0u);
  EXPECT_EQ(errors_of("x = " + repeat("(", 10001) + "1" + repeat(")", 10001)),
            Lines{"1:10005: nesting is too deep: expected at most 10000 levels of brackets"});
  EXPECT_EQ(errors_of(repeat("if (a) ", 100000) + "x=1").size(), 1u);
  EXPECT_EQ(errors_of("x = " + repeat("-", 100000) + "a").size(), 1u);
  EXPECT_EQ(errors_of("x = a" + repeat("^a", 100000)).size(), 1u);
  EXPECT_EQ(errors_of(repeat("x = (", 9000)).size(), 1u);
}

TEST(Syntax, LongScripts) {
  EXPECT_EQ(errors_of("x = a" + repeat(" + a", 10000)).size(), 0u);
  const std::string once = reprint("x = a" + repeat(" + a", 10000));
  EXPECT_EQ(reprint(once), once);
  EXPECT_EQ(errors_of(repeat("x = a[1, 2:3] %*% f(b, c=1) - 2.5^2\n", 20000)).size(), 0u);
}

}  // namespace hopline
