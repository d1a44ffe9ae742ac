#include "frontend/check/check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "frontend/syntax/print.h"

namespace hopline {
namespace {

struct CheckTest : testing::Test {
  CheckOptions options;
  std::map<std::string, std::string> scripts;  // what source() finds
  std::shared_ptr<SourceFiles> files;

  std::unique_ptr<Program> run(const std::string& text) {
    files = std::make_shared<SourceFiles>();
    if (!scripts.empty())
      options.load = [this](const std::string& path,
                            const std::string&) -> std::optional<std::pair<std::string, std::string>> {
        const auto found = scripts.find(path);
        if (found == scripts.end()) return std::nullopt;
        return std::pair(found->second, found->first);
      };
    return check(files, files->add("main.dml", text), options);
  }
  // The main body in normal form.
  std::string normal(const std::string& text) { return print(run(text)->main.body); }
  std::string list(const std::vector<Diagnostic>& diagnostics) {
    std::string out;
    for (const Diagnostic& d : diagnostics) {
      const Position at = files->position(d.span);
      if (at.file != "main.dml") out += std::string(at.file) + ":";
      out += fmt::format("{}:{} {}\n", at.line, at.column, d.message);
    }
    return out;
  }
  std::string errors(const std::string& text) {
    try {
      run(text);
    } catch (const Error& e) {
      return list(e.diagnostics());
    }
    return "";
  }
  std::string warnings(const std::string& text) { return list(run(text)->warnings); }
  // "statement: slots that die" for every simple statement and compound head, in program order.
  std::string deaths(const std::string& text) {
    const auto program = run(text);
    std::string out;
    append_deaths(program->main, program->main.body, out);
    return out;
  }
  static void append_deaths(const Function& f, const Body& body, std::string& out) {
    for (Stmt* s : body) {
      const auto dies = [&] {
        for (int32_t slot : s->dies) out += " " + f.slots[static_cast<size_t>(slot)];
        out += "\n";
      };
      if (auto* i = std::get_if<If>(&s->node)) {
        append_deaths(f, i->before, out);
        out += "if\n";
        append_deaths(f, i->then, out);
        if (!i->otherwise.empty()) out += "else\n";
        append_deaths(f, i->otherwise, out);
        out += "end:";
      } else if (auto* w = std::get_if<While>(&s->node)) {
        append_deaths(f, w->before, out);
        out += "while\n";
        append_deaths(f, w->body, out);
        out += "end:";
      } else if (auto* l = std::get_if<For>(&s->node)) {
        append_deaths(f, l->before, out);
        out += "for\n";
        append_deaths(f, l->body, out);
        out += "end:";
      } else {
        std::string text = print(Body{s});
        while (!text.empty() && text.back() == '\n') text.pop_back();
        out += text + ":";
      }
      dies();
    }
  }
};

constexpr const char* kSquare = "f = function(double x, double y = 2) return (double z, double w) { z = x; w = y }\n";

TEST_F(CheckTest, AcceptsPlainScripts) {
  EXPECT_EQ(errors("x = 1\ny = x + 2\nprint(y)\n"), "");
  EXPECT_EQ(normal("x = 1\nprint(x)"), "x = 1\nprint(x)\n");
}

TEST_F(CheckTest, ReportsUndefinedVariables) {
  EXPECT_EQ(errors("total = 1\nprint(totl + 1)\n"), "2:7 undefined variable 'totl'; did you mean 'total'?\n");
  EXPECT_EQ(errors("print(x)\nx = 1\n"), "1:7 undefined variable 'x'; it gets a value later, in line 2\n");
  EXPECT_EQ(errors("x += 1\n"), "1:1 undefined variable 'x'\n");
  EXPECT_EQ(errors("X[1, 1] = 1\n"), "1:1 undefined variable 'X'\n");
  // Each variable once.
  EXPECT_EQ(errors("a = q + q\nb = q\n"), "1:5 undefined variable 'q'\n");
}

TEST_F(CheckTest, ExplainsWhyAVariableIsUndefined) {
  EXPECT_EQ(errors("f = function(int n) return (int m) { m = n * scale }\nscale = 2\nx = f(1)\n"),
            "1:46 undefined variable 'scale'; a function sees its parameters and its own variables only\n");
  EXPECT_EQ(errors("abc = matrix(1, 2, 2)\ny = abc(1)\n"),
            "2:5 undefined function 'abc'; 'abc' is a variable: abc[...] takes a part of it\n");
}

TEST_F(CheckTest, ChecksOptionsOfParfor) {
  EXPECT_EQ(errors("k = 2\nparfor (i in 1:3, par=k, check=0, mode=LOCAL) print(i)\n"), "");
  EXPECT_EQ(errors("parfor (i in 1:3, chek=0) print(i)\n"),
            "1:19 parfor has no option 'chek': expected check, par, mode, taskpartitioner, tasksize, datapartitioner, "
            "resultmerge, opt, profile, log; did you mean 'check'?\n");
  EXPECT_EQ(errors("for (i in 1:3, check=0) print(i)\n"),
            "1:16 a for loop takes no options: found 'check'; parfor does\n");
}

TEST_F(CheckTest, AcceptsVariablesThatSomePathDefines) {
  EXPECT_EQ(errors("x = 1\nif (x > 2) { y = 5 }\nz = x + y\n"), "");
  EXPECT_EQ(errors("for (i in 1:3) { if (i > 1) print(y)\ny = i }\n"), "");
  EXPECT_EQ(errors("while (FALSE) { a = 1 }\nprint(a)\n"), "");
  EXPECT_EQ(errors("if (TRUE) { a = 1 } else { print(a) }\n"), "1:34 undefined variable 'a'\n");
}

TEST_F(CheckTest, ForgetsWhatParforDefines) {
  EXPECT_EQ(errors("R = matrix(0, 3, 1)\nparfor (i in 1:3) { t = i\nR[i, 1] = t }\nprint(t)\n"),
            "4:7 undefined variable 't'\n");
  EXPECT_EQ(errors("parfor (i in 1:3) { t = i }\nprint(i)\n"), "2:7 undefined variable 'i'\n");
}

TEST_F(CheckTest, ReportsSeveralErrorsAtOnce) {
  EXPECT_EQ(errors("a = b\nprint(foo(1))\nf = function(int n) return (int m) { m = k }\nc = f()\n"),
            "1:5 undefined variable 'b'\n"
            "2:7 undefined function 'foo'\n"
            "3:42 undefined variable 'k'\n"
            "4:5 missing argument 'n' of function 'f': expected f(int n)\n");
  std::string many;
  for (int i = 0; i < 30; ++i) many += fmt::format("a{} = zz{}\n", i, i + 100);
  const std::string found = errors(many);
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 20);
}

TEST_F(CheckTest, SuggestsFunctions) {
  EXPECT_EQ(errors("x = legnth(list())\n"), "1:5 undefined function 'legnth'; did you mean 'length'?\n");
  EXPECT_EQ(errors("square = function(int n) return (int m) { m = n }\nx = sqare(2)\n"),
            "2:5 undefined function 'sqare'; did you mean 'square'?\n");
}

TEST_F(CheckTest, BindsArgumentsOfOperators) {
  EXPECT_EQ(normal("X = order(matrix(1, 2, 2), decreasing=TRUE)"),
            "X = order(matrix(1, 2, 2, TRUE), 1, TRUE, FALSE)\n");
  EXPECT_EQ(errors("x = ncol()\n"), "1:5 wrong number of arguments: expected ncol(X), found 0\n");
  EXPECT_EQ(errors("x = order(target=matrix(1, 1, 1), decresing=TRUE)\n"),
            "1:35 order has no parameter 'decresing': expected order(target, by=1, decreasing=FALSE, "
            "index.return=FALSE); did you mean 'decreasing'?\n");
  EXPECT_EQ(errors("x = order(matrix(1, 1, 1), 1)\n"),
            "1:28 order takes its arguments by name: expected order(target, by=1, decreasing=FALSE, "
            "index.return=FALSE)\n");
  EXPECT_EQ(errors("print()\n"), "1:1 wrong number of arguments: expected print(value, ...), found 0\n");
  EXPECT_EQ(errors("x = print(1)\n"), "1:5 print gives no value: expected a statement of its own\n");
  EXPECT_EQ(errors("sqrt(2)\n"), "1:1 the result of sqrt is not used: expected an assignment\n");
}

TEST_F(CheckTest, BindsArgumentsOfFunctions) {
  const std::string f = kSquare;
  EXPECT_EQ(normal(f + "a = f(3)"), "[a] = f(3, 2)\n");
  EXPECT_EQ(normal(f + "a = f(y=1, x=3)"), "[a] = f(3, 1)\n");
  EXPECT_EQ(normal(f + "a = f(3, y=1)"), "[a] = f(3, 1)\n");
  EXPECT_EQ(normal(f + "[a, b] = f(3)"), "[a, b] = f(3, 2)\n");
  EXPECT_EQ(normal(f + "f(3)"), "f(3, 2)\n");
  EXPECT_EQ(errors(f + "a = f(x=2, max=3)"),
            "2:12 function 'f' has no parameter 'max': expected f(double x, double y=2)\n");
  EXPECT_EQ(errors(f + "a = f(1, 2, 3)"),
            "2:13 too many arguments for function 'f': expected f(double x, double y=2), found 3\n");
  EXPECT_EQ(errors(f + "a = f(1, x=2)"), "2:10 argument 'x' of function 'f' is given twice\n");
  EXPECT_EQ(errors(f + "[a, b, c] = f(1)"), "2:13 too many results for function 'f': expected at most 2, found 3\n");
  EXPECT_EQ(errors("g = function(int n) { print(n) }\nx = g(1)\n"),
            "2:5 function 'g' returns nothing: expected a function with an output\n");
}

TEST_F(CheckTest, DefaultsReadEarlierParametersThenTheCaller) {
  const std::string f = "f = function(matrix[double] X, int n = ncol(X), int m = n + k) return (int z) { z = m }\n";
  EXPECT_EQ(normal(f + "k = 1\nA = matrix(1, 2, 2)\ny = f(A)"),
            "k = 1\nA = matrix(1, 2, 2, TRUE)\n%1 = ncol(A)\n%2 = %1 + k\n[y] = f(A, %1, %2)\n");
  EXPECT_EQ(normal(f + "k = 1\ny = f(matrix(1, 2, 2), m=3)"),
            "k = 1\n%1 = matrix(1, 2, 2, TRUE)\n%2 = ncol(%1)\n[y] = f(%1, %2, 3)\n");
  EXPECT_EQ(errors("f = function(int a = f()) return (int b) { b = a }\nx = f()\n"),
            "1:22 default values of function 'f' call it without end\n");
}

TEST_F(CheckTest, HoistsCallsInEvaluationOrder) {
  const std::string f = "f = function(double x) return (double y) { y = x * x }\n";
  EXPECT_EQ(normal(f + "r = f(3) * f(4) - f(f(2))"),
            "[%1] = f(3)\n[%2] = f(4)\n[%3] = f(2)\n[%4] = f(%3)\nr = %1 * %2 - %4\n");
  EXPECT_EQ(normal(f + "A = matrix(0, 3, 3)\nA[f(1), 2:f(1)] = f(5)"),
            "A = matrix(0, 3, 3, TRUE)\n[%1] = f(5)\n[%2] = f(1)\n[%3] = f(1)\nA[%2, 2:%3] = %1\n");
  EXPECT_EQ(normal(f + "s = 1\ns += f(2)\nprint(f(s))"), "s = 1\n[%1] = f(2)\ns += %1\n[%2] = f(s)\nprint(%2)\n");
  EXPECT_EQ(normal(f + "d = time() - f(2)"), "%1 = time()\n[%2] = f(2)\nd = %1 - %2\n");
  // Named arguments are evaluated as written.
  EXPECT_EQ(normal("g = function(double a, double b) return (double c) { c = a - b }\n" + f + "x = g(b=f(1), a=f(2))"),
            "[%1] = f(1)\n[%2] = f(2)\n[x] = g(%2, %1)\n");
}

TEST_F(CheckTest, HoistsFromPredicatesAndBounds) {
  const std::string f = "f = function(double x) return (double y) { y = x * x }\n";
  const auto program = run(f + "i = 0\nwhile (f(i) < 9) i = i + 1\nfor (k in 1:f(2)) print(k)\nif (f(1) > 2) print(1)");
  const Body& body = program->main.body;
  const auto& loop = std::get<While>(body[1]->node);
  EXPECT_EQ(print(loop.before), "[%1] = f(i)\n");
  EXPECT_EQ(print(*loop.predicate), "%1 < 9");
  const auto& count = std::get<For>(body[2]->node);
  EXPECT_EQ(print(count.before), "[%2] = f(2)\n");
  EXPECT_EQ(print(*count.to), "%2");
  EXPECT_EQ(print(std::get<If>(body[3]->node).before), "[%3] = f(1)\n");
}

TEST_F(CheckTest, HoistsWhatEndsARegion) {
  EXPECT_EQ(normal("A = matrix(1, 3, 1)\nx = nrow(table(A, A)) + 1"),
            "A = matrix(1, 3, 1, TRUE)\n%1 = table(A, A)\nx = nrow(%1) + 1\n");
  EXPECT_EQ(normal("A = matrix(1, 3, 1)\nx = table(A, A)"), "A = matrix(1, 3, 1, TRUE)\nx = table(A, A)\n");
  EXPECT_EQ(normal("L = list(1, 2)\nx = as.scalar(L[1]) + as.scalar(L[2])"),
            "L = list(1, 2)\n%1 = as.scalar(L[1])\n%2 = as.scalar(L[2])\nx = %1 + %2\n");
  EXPECT_EQ(normal("X = matrix(1, 3, 3)\nx = as.scalar(X[1, 1]) + 1"),
            "X = matrix(1, 3, 3, TRUE)\nx = as.scalar(X[1, 1]) + 1\n");
}

TEST_F(CheckTest, ReplacesParametersAndConstants) {
  options.arguments = {{"n", "5"},     {"d", "5.0"},  {"s", "true"}, {"b", "TRUE"},
                       {"q", "\"5\""}, {"e", "1e-3"}, {"empty", ""}};
  EXPECT_EQ(normal("x = list($n, $d, $s, $b, $q, $e)"), "x = list(5, 5.0, \"true\", TRUE, \"5\", 0.001)\n");
  EXPECT_EQ(normal("x = ifdef($n, 7)\ny = ifdef($m, 7 + x)\nz = ifdef($empty, 1)"), "x = 5\ny = 7 + x\nz = 1\n");
  EXPECT_EQ(errors("x = $m + $empty\n"),
            "1:5 parameter $m has no value: pass it (-nvargs m=...) or give it a default with ifdef($m, ...)\n"
            "1:10 parameter $empty has no value: pass it (-nvargs empty=...) or give it a default with ifdef($empty, "
            "...)\n");
  EXPECT_EQ(normal("x = Inf"), "x = 1e999\n");
  EXPECT_EQ(errors("pi = 3\n"), "1:1 cannot assign a value to the builtin constant 'pi'\n");
}

TEST_F(CheckTest, ReportsKindsThatCannotWork) {
  EXPECT_NE(errors("x = \"a\" - 1\n"), "");
  EXPECT_NE(errors("x = TRUE + 1\n"), "");
  EXPECT_EQ(errors("X = matrix(1, 2, 2)\nif (X) print(1)\n"),
            "2:5 wrong condition of if: expected boolean or number, found matrix; as.scalar takes the cell of a 1x1 "
            "matrix\n");
  EXPECT_EQ(errors("while (\"a\") { x = 1 }\n"),
            "1:8 wrong condition of while: expected boolean or number, found string\n");
  EXPECT_EQ(errors("X = matrix(1, 2, 2)\nY = X[X, 1]\n"), "2:7 wrong index bound: expected number, found matrix\n");
  EXPECT_EQ(errors("x = 3\ny = x[1, 1]\n"), "2:5 cannot index 'x': expected matrix, frame or list, found int\n");
  EXPECT_EQ(errors("x = 3\nx[1, 1] = 2\n"), "2:1 cannot index 'x': expected matrix, frame or list, found int\n");
  EXPECT_EQ(errors("X = matrix(1, 2, 2)\nX[1, 1] = \"a\"\n"),
            "2:11 wrong value for a part of 'X': expected number or matrix, found string\n");
  EXPECT_EQ(errors("for (i in 1:\"a\") print(i)\n"), "1:13 wrong bound 'to' of for: expected number, found string\n");
  EXPECT_EQ(errors("x = as.scalar(3)\n"), "1:5 wrong argument 'X' of as.scalar: expected matrix or list, found int\n");
  EXPECT_EQ(errors("f = function(matrix[double] X) return (double y) { y = 1 }\nz = f(3)\n"),
            "2:7 wrong argument 'X' of function 'f': expected matrix, found int\n");
  EXPECT_EQ(errors("f = function(int n) return (matrix[double] Y) { Y = n }\ny = f(1)\n"),
            "1:29 wrong value of output 'Y' of function 'f': expected matrix, found int\n");
  EXPECT_EQ(errors("f = function(int n) return (int m) { k = n }\ny = f(1)\n"),
            "1:29 output 'm' of function 'f' is never assigned\n");
}

TEST_F(CheckTest, KeepsQuietWhereAnExecutionMayWork) {
  EXPECT_EQ(errors("x = 1\nif (x > 2) x = matrix(1, 2, 2)\ny = x[1, 1]\n"), "");
  EXPECT_EQ(errors("x = \"a\"\nfor (i in 1:3) { if (i > 1) { y = x - 1 }\nx = 1 }\n"), "");
  EXPECT_EQ(errors("f = function(double x) return (double y) { y = x }\nx = f(\"3\") + f(TRUE)\n"), "");
  EXPECT_EQ(errors("L = list(1)\nx = as.scalar(L[1]) - 1\n"), "");
}

TEST_F(CheckTest, LoopsSettleKinds) {
  // x is a string in every iteration.
  EXPECT_NE(errors("x = \"a\"\nfor (i in 1:3) { y = x - 1\nx = x + i }\n"), "");
  EXPECT_EQ(errors("s = 0\nfor (i in 1:3) for (j in 1:3) s = s + 0.5\nif (s) print(1)\n"), "");
}

TEST_F(CheckTest, FunctionsThatNothingCallsGiveWarnings) {
  EXPECT_EQ(warnings("f = function(int n) return (int m) { m = k }\nprint(1)\n"), "1:42 undefined variable 'k'\n");
  EXPECT_EQ(
      errors(
          "f = function(int n) return (int m) { m = g(n) }\ng = function(int n) return (int m) { m = k }\nx = f(1)\n"),
      "2:42 undefined variable 'k'\n");
}

TEST_F(CheckTest, SourcesFiles) {
  scripts["lib.dml"] =
      "twice = function(double x) return (double y) { y = half(x) * 4 }\n"
      "half = function(double x) return (double y) { y = x / 2 }\n"
      "print(\"not run\")\n";
  EXPECT_EQ(normal("source(\"lib.dml\") as lib\nx = lib::twice(3)"), "[x] = lib::twice(3)\n");
  EXPECT_EQ(errors("source(\"lib.dml\") as lib\nx = lib::twise(3)"),
            "2:5 undefined function 'lib::twise'; did you mean 'twice'?\n");
  EXPECT_EQ(errors("source(\"lib.dml\") as lib\nx = twice(3)").substr(0, 32), "2:5 undefined function 'twice'\n");
  EXPECT_EQ(errors("x = lib::twice(3)"),
            "1:5 unknown name space 'lib': expected one that source(...) as lib declares\n");
  EXPECT_EQ(errors("source(\"none.dml\") as none\nx = none::f(3)"),
            "1:8 cannot find the script 'none.dml': it is not in the working directory, beside this script or in the "
            "library\n");
  scripts["other.dml"] = "f = function(int n) return (int m) { m = n }\n";
  EXPECT_EQ(errors("source(\"lib.dml\") as l\nsource(\"other.dml\") as l\n"),
            "2:1 namespace conflict: 'l' already stands for another file, lib.dml\n");
  EXPECT_EQ(errors("source(\"lib.dml\") as l\nsource(\"lib.dml\") as l\nsource(\"lib.dml\") as m\nx = m::half(2)\n"),
            "");
  scripts["dir/a.dml"] = "f = function(int n) return (int m) { m = n }\n";
  EXPECT_EQ(errors("setwd(\"dir\")\nsource(\"a.dml\") as a\nx = a::f(1)\n"), "");
  scripts["bad.dml"] = "f = function(\n";
  EXPECT_EQ(errors("source(\"bad.dml\") as bad\n").substr(0, 8), "bad.dml:");
}

TEST_F(CheckTest, SourcesMayBeCyclic) {
  scripts["a.dml"] = "source(\"b.dml\") as b\nf = function(int n) return (int m) { m = b::g(n) }\n";
  scripts["b.dml"] =
      "source(\"a.dml\") as a\ng = function(int n) return (int m) { m = 1\nif (n > 0) m = a::f(n - 1) }\n";
  const auto program = run("source(\"a.dml\") as a\nx = a::f(3)\n");
  ASSERT_EQ(program->functions.size(), 2u);
  EXPECT_TRUE(program->functions[0].recursive);
  EXPECT_TRUE(program->functions[1].recursive);
}

TEST_F(CheckTest, MeasuresFunctions) {
  const auto program =
      run("f = function(int n) return (int m) { m = 0\nfor (i in 1:n) { m = m + g(i) } }\n"
          "g = function(int n) return (int m) { m = n }\n"
          "h = function(int n) return (int m) { m = 1\nif (n > 0) { m = h(n - 1) } }\nx = f(2) + h(3)\n");
  const auto& f = program->functions;
  EXPECT_TRUE(f[0].has_loop);
  EXPECT_FALSE(f[1].has_loop);
  EXPECT_FALSE(f[0].recursive);
  EXPECT_TRUE(f[2].recursive);
  EXPECT_EQ(f[0].num_statements, 4);
}

TEST_F(CheckTest, UserFunctionsShadowBuiltins) {
  EXPECT_EQ(normal("ncol = function(double a) return (double b) { b = a * 10 }\nx = ncol(2)"), "[x] = ncol(2)\n");
  EXPECT_EQ(errors("f = function(int a) return (int b) { b = a }\nf = function(int a) return (int b) { b = a }\n"),
            "2:1 function 'f' is defined twice: the first stands in line 1\n");
}

TEST_F(CheckTest, ExistsNeedsNoValue) {
  EXPECT_EQ(normal("a = exists(x)\nx = 1\nb = exists(\"x\")"), "a = FALSE\nx = 1\nb = TRUE\n");
  EXPECT_EQ(normal("if (TRUE) x = 1\nb = exists(x)"), "if (TRUE) {\n  x = 1\n}\nb = exists(x)\n");
}

TEST_F(CheckTest, EvalFindsFunctions) {
  const std::string f = "f = function(matrix[double] X) return (matrix[double] Y) { Y = X }\n";
  EXPECT_EQ(normal(f + "Y = eval(\"f\", matrix(1, 2, 2)) * 2"),
            "%1 = matrix(1, 2, 2, TRUE)\n[%2] = eval(\"f\", %1)\nY = %2 * 2\n");
  EXPECT_EQ(errors(f + "Y = eval(\"g\", matrix(1, 2, 2))"), "2:5 undefined function 'g'\n");
  const auto program =
      run(f + "g = function(int n) return (int m) { m = k }\nname = \"f\"\nY = eval(name, matrix(1, 1, 1))");
  EXPECT_EQ(find_function(*program, program->main, "f", Kind::matrix), &program->functions[0]);
  EXPECT_EQ(find_function(*program, program->main, "h", Kind::matrix), nullptr);
  EXPECT_THROW(find_function(*program, program->main, "g", Kind::integer), Error);
}

// A folder in place of the library that is compiled into the program.
struct LibraryTest : CheckTest {
  std::string folder;
  LibraryTest() {
    char name[] = "/tmp/hopline-check-XXXXXX";
    folder = mkdtemp(name);
    std::filesystem::create_directories(folder + "/builtin");
    setenv("HOPLINE_SCRIPTS", folder.c_str(), 1);
  }
  ~LibraryTest() override {
    unsetenv("HOPLINE_SCRIPTS");
    std::filesystem::remove_all(folder);
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder + "/" + name) << text; }
};

TEST_F(LibraryTest, FindsScriptBuiltins) {
  write("builtin/twice.dml",
        "m_twice = function(matrix[double] X, int k = 2) return (matrix[double] Y) { Y = X * two(k) }\n"
        "two = function(int k) return (int n) { n = k }\n");
  EXPECT_EQ(normal("X = matrix(1, 2, 2)\nY = twice(X)"), "X = matrix(1, 2, 2, TRUE)\n[Y] = twice(X, 2)\n");
  EXPECT_EQ(errors("X = matrix(1, 2, 2)\nY = twise(X)"), "2:5 undefined function 'twise'; did you mean 'twice'?\n");
  EXPECT_EQ(errors("Y = twice(3)"), "1:11 wrong argument 'X' of function 'm_twice': expected matrix, found int\n");
}

TEST_F(LibraryTest, ChoosesTheVariantByTheFirstArgument) {
  write("builtin/show.dml",
        "m_show = function(matrix[double] X) return (int n) { n = 1 }\n"
        "s_show = function(double x, int k = 4) return (int n) { n = 2 }\n");
  const auto program = run("X = matrix(1, 2, 2)\na = show(X) + show(nrow(X) + 1)\nshow(2)\n");
  EXPECT_EQ(
      print(program->main.body),
      "X = matrix(1, 2, 2, TRUE)\n[%1] = show(X)\n%2 = nrow(X) + 1\n[%3] = show(%2, 4)\na = %1 + %3\nshow(2, 4)\n");
  const auto& call = std::get<CallExpr>(std::get<MultiAssign>(program->main.body[1]->node).call->node);
  EXPECT_EQ(call.function->name, "m_show");
}

TEST_F(LibraryTest, LoadsBuiltinsForEvalFromSeveralThreads) {
  for (int i = 0; i < 8; ++i)
    write(fmt::format("builtin/b{}.dml", i),
          fmt::format("m_b{0} = function(matrix[double] X) return (matrix[double] Y) {{ Y = X + {0} }}\n", i));
  write("builtin/wrong.dml", "m_wrong = function(matrix[double] X) return (matrix[double] Y) { Y = Z }\n");
  const auto program = run("print(1)\n");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 8; ++i)
        EXPECT_NE(find_function(*program, program->main, fmt::format("b{}", i), Kind::list), nullptr);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(program->functions.size(), 8u);
  EXPECT_THROW(find_function(*program, program->main, "wrong", Kind::matrix), Error);
  EXPECT_EQ(find_function(*program, program->main, "none", Kind::matrix), nullptr);
}

TEST_F(LibraryTest, SourcesTheLibraryWithAndWithoutScripts) {
  std::filesystem::create_directories(folder + "/nn/layers");
  write("nn/layers/affine.dml",
        "source(\"nn/util.dml\") as util\nf = function(int n) return (int m) { m = util::g(n) }\n");
  write("nn/util.dml", "g = function(int n) return (int m) { m = n }\n");
  EXPECT_EQ(errors("source(\"scripts/nn/layers/affine.dml\") as a\nsource(\"nn/layers/affine.dml\") as b\n"
                   "x = a::f(1) + b::f(2)\n"),
            "");
}

TEST_F(CheckTest, LastUsesInStraightCode) {
  EXPECT_EQ(deaths("a = 1\nb = a + 1\nc = b + a\nprint(c)\nd = 4\n"),
            "a = 1:\nb = a + 1:\nc = b + a: a b\nprint(c): c\nd = 4: d\n");
  EXPECT_EQ(deaths("a = 1\na = 2\nprint(a)\n"), "a = 1: a\na = 2:\nprint(a): a\n");
  EXPECT_EQ(deaths("X = matrix(0, 2, 2)\nX[1, 1] = 3\nprint(nrow(X))\n"),
            "X = matrix(0, 2, 2, TRUE):\nX[1, 1] = 3:\nprint(nrow(X)): X\n");
}

TEST_F(CheckTest, LastUsesInBranches) {
  EXPECT_EQ(deaths("a = 1\nb = 2\nc = a\nif (c > 0) { print(a) } else { print(b) }\nprint(b)\n"),
            "a = 1:\nb = 2:\nc = a:\nif\nprint(a): a\nelse\nprint(b):\nend: a c\nprint(b): b\n");
  EXPECT_EQ(deaths("a = 1\nif (a > 0) { t = a\nprint(t) }\n"), "a = 1:\nif\nt = a: a\nprint(t): t\nend: a\n");
}

TEST_F(CheckTest, LastUsesInLoops) {
  EXPECT_EQ(deaths("a = 1\ns = 0\nfor (i in 1:3) { t = a * i\ns = s + t }\nprint(s)\n"),
            "a = 1:\ns = 0:\nfor\nt = a * i: i\ns = s + t: t\nend: a i\nprint(s): s\n");
  EXPECT_EQ(deaths("i = 0\nwhile (i < 3) { i = i + 1 }\n"), "i = 0:\nwhile\ni = i + 1:\nend: i\n");
  // x is read by the predicate only, and made anew before it is read again.
  EXPECT_EQ(deaths("x = 1\nwhile (x < 3) { y = 2\nx = y }\n"), "x = 1:\nwhile\ny = 2:\nx = y: y\nend: x\n");
  // An outer loop makes the inner one's variables live around.
  EXPECT_EQ(deaths("a = 1\nfor (i in 1:2) { for (j in 1:2) { b = a\na = b } }\n"),
            "a = 1:\nfor\nfor\nb = a: a\na = b: b\nend: j\nend: a i\n");
}

TEST_F(CheckTest, LastUsesOfTemporariesAndOutputs) {
  EXPECT_EQ(deaths("f = function(double x) return (double y) { y = x }\ni = 0\nwhile (f(i) < 3) { i = i + 1 }\n"),
            "i = 0:\n[%1] = f(i):\nwhile\ni = i + 1:\nend: i %1\n");
  const auto program = run("f = function(double x, double u) return (double y) { y = x\nz = y }\na = f(1, 2)\n");
  const Function& f = program->functions[0];
  EXPECT_EQ(f.body[0]->dies, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(f.body[1]->dies, (std::vector<int32_t>{3}));
  options.outputs = {"a"};
  EXPECT_EQ(deaths("a = 1\nb = 2\n"), "a = 1:\nb = 2: b\n");
}

TEST_F(CheckTest, TakesLongAndDeepScripts) {
  std::string chain = "x = 1\ny = x";
  for (int i = 0; i < 20000; ++i) chain += " + x";
  EXPECT_EQ(errors(chain + "\n"), "");
  std::string deep = "x = ";
  for (int i = 0; i < 5000; ++i) deep += "sqrt(";
  deep += "1";
  for (int i = 0; i < 5000; ++i) deep += ")";
  EXPECT_EQ(errors(deep + "\n"), "");
  std::string branches = "x = 1\n";
  for (int i = 0; i < 2000; ++i) branches += fmt::format("if (x == {}) y = {} else ", i, i);
  EXPECT_EQ(errors(branches + "y = 0\nprint(y)\n"), "");
  std::string loops = "x = 1\n";
  for (int i = 0; i < 500; ++i) loops += fmt::format("for (i{} in 1:2) ", i);
  EXPECT_EQ(errors(loops + "x = x + 1\nprint(x)\n"), "");
}

}  // namespace
}  // namespace hopline
