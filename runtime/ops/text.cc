// Operators that show values and end a run: print, toString, stop, assert, time, exists.
#include "runtime/ops/text.h"

#include <chrono>

#include "runtime/base/format_string.h"
#include "runtime/exec/session.h"
#include "runtime/ops/call.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

void infer_print(InferCall& c) {
  if (c.in.size() < 2) return;
  const Kind first = c.in[0].kind;
  if (first != Kind::string && first != Kind::unknown)
    c.fail("print: expected a format string as first of several arguments, found {}", name(first));
  for (size_t i = 1; i < c.in.size(); ++i) {
    const Kind kind = c.in[i].kind;
    if (!is_scalar(kind) && kind != Kind::unknown && kind != Kind::none)
      c.fail("print: expected a scalar as argument {} of a format string, found {}", i + 1, name(kind));
  }
}

FormatArgument format_argument(const Value& v) {
  switch (kind_of(v)) {
    case Kind::boolean:
      return std::get<bool>(v);
    case Kind::integer:
      return std::get<int64_t>(v);
    case Kind::real:
      return std::get<double>(v);
    default:
      return std::string_view(std::get<std::string>(v));
  }
}

void run_print(Call& c) {
  HOPLINE_CHECK(c.ctx.session != nullptr);
  std::string text;
  if (c.in.size() > 1 && c.has(1)) {
    std::vector<FormatArgument> arguments;
    for (size_t i = 1; i < c.in.size(); ++i)
      if (c.has(i)) arguments.push_back(format_argument(*c.in[i]));
    text = format_string(c.string(0), arguments, c.span);
  } else {
    append_text(text, *c.in[0], TextOptions{}, c.span);
  }
  text += '\n';
  c.ctx.session->print(text);
}

void infer_string(InferCall& c) { c.out[0] = scalar_meta(Kind::string); }
void run_to_string(Call& c) {
  TextOptions options;
  options.rows = c.integer(1);
  options.cols = c.integer(2);
  options.decimals = c.integer(3);
  options.sparse = c.boolean(4);
  options.separator = c.string(5);
  options.line_separator = c.string(6);
  std::string text;
  append_text(text, *c.in[0], options, c.span);
  c.out[0] = std::move(text);
}

void infer_nothing(InferCall&) {}
void run_stop(Call& c) {
  const std::string message = scalar_text(*c.in[0]);
  c.fail("{}", message.empty() ? "Stop Called" : message);
}

void run_assert(Call& c) {
  if (!c.boolean(0)) c.fail("assertion failed");
}

void infer_integer(InferCall& c) { c.out[0] = scalar_meta(Kind::integer); }
void run_time(Call& c) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  c.out[0] = static_cast<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void infer_boolean(InferCall& c) { c.out[0] = scalar_meta(Kind::boolean); }
void run_exists(Call& c) { c.out[0] = c.has(0); }

constexpr Kinds kShown = kScalar | kMatrix | kList;
constexpr Kernel kPrint[] = {{"reference", nullptr, run_print}};
constexpr Kernel kToString[] = {{"reference", nullptr, run_to_string}};
constexpr Kernel kStop[] = {{"reference", nullptr, run_stop}};
constexpr Kernel kAssert[] = {{"reference", nullptr, run_assert}};
constexpr Kernel kTime[] = {{"reference", nullptr, run_time}};
constexpr Kernel kExists[] = {{"reference", nullptr, run_exists}};

constexpr Op kOps[] = {
    {.name = "print",
     .params = Params{param::of("value", kShown)}.repeat_last(),
     .outputs = 0,
     .laws = {.purity = Purity::effect, .failure = Failure::by_data},
     .infer = infer_print,
     .kernels = kPrint,
     .doc = "Prints a value and a line end; with further arguments the first is a format as of Java's String.format.",
     .example =
         "print(\"x = \" + 2.5)  # expect: x = 2.5\nprint(\"%d items, %.2f each\", 3, 1.005)  # expect: 3 items, "
         "1.01 each"},
    {.name = "toString",
     .params = Params{param::of("target", kShown), param::number("rows", "100"), param::number("cols", "100"),
                      param::number("decimal", "3"), param::number("sparse", "FALSE"), param::text("sep", "\" \""),
                      param::text("linesep", "\"\\n\"")}
                   .by(Naming::first_free),
     .infer = infer_string,
     .kernels = kToString,
     .doc = "The text of a value: of a matrix its first rows and cols (-1: all) with so many decimals.",
     .example =
         "print(toString(matrix(\"1 2 3 4\", 2, 2), decimal=1, sep=\",\", linesep=\";\"))  # expect: 1.0,2.0;3.0,4.0;"},
    {.name = "stop",
     .params = {param::of("message", kScalar)},
     .outputs = 0,
     .laws = {.purity = Purity::effect, .failure = Failure::by_data},
     .infer = infer_nothing,
     .kernels = kStop,
     .doc = "Ends the run with an error of that message.",
     .example = "x = 1\nif (x > 2) stop(\"x is too large\")\nprint(x)  # expect: 1"},
    {.name = "assert",
     .params = {param::number("condition")},
     .outputs = 0,
     .laws = {.purity = Purity::effect, .failure = Failure::by_data},
     .infer = infer_nothing,
     .kernels = kAssert,
     .doc = "Ends the run with an error unless the condition is TRUE.",
     .example = "assert(sum(matrix(1, 2, 2)) == 4)\nprint(\"holds\")  # expect: holds"},
    {.name = "time",
     .laws = {.purity = Purity::effect},
     .infer = infer_integer,
     .kernels = kTime,
     .doc = "Nanoseconds since some moment; what stands before it is computed before it.",
     .example = "t0 = time()\nprint(time() >= t0)  # expect: TRUE"},
    {.name = "exists",
     .params = {param::optional("x", kAny)},
     .infer = infer_boolean,
     .kernels = kExists,
     .doc = "Has the variable been assigned?",
     .example = "x = 1\nprint(exists(x))  # expect: TRUE"},
};

}  // namespace

OpFamily text_ops() { return kOps; }

}  // namespace hopline
