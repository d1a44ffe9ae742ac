// Expressions of scalars.
#include <algorithm>
#include <cmath>

#include "tests/random/writer.h"

namespace hopline::tests {

namespace {

bool is_infix(std::string_view name) { return std::isalpha(static_cast<unsigned char>(name[0])) == 0; }

std::string literal_text(double value, bool whole) {
  std::string digits = whole ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", value);

  if (!whole && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return value < 0 ? "(" + digits + ")" : digits;
}

Facts determined_only() {
  Facts f = anything();
  f.error = 0;
  return f;
}

}  // namespace

Made Writer::number_literal(const Facts& need) {
  const double low = std::max(need.low, -8.0), high = std::max(low, std::min(need.high, 8.0));
  const int bits = need.exact ? std::min(need.bits, 2) : 2;
  for (int tries = 0; tries < 8; ++tries) {
    const double unit = chance(0.6) ? 1 : std::ldexp(1.0, -bits);
    const double span = std::floor((high - low) / unit);
    const double value =
        std::ceil(low / unit) * unit + unit * static_cast<double>(below(static_cast<size_t>(span) + 1));
    if (value > high || (need.nonzero && value == 0)) continue;
    const bool whole = value == std::floor(value) && chance(0.7);
    return {literal_text(value, whole), {whole ? Kind::integer : Kind::real, -1, -1, exactly(value)}};
  }
  const double value = need.nonzero ? (high > 0 ? high : low) : low;
  return {literal_text(value, false), {Kind::real, -1, -1, exactly(value)}};
}

std::optional<Made> Writer::adapt_once(const Made& made, const Facts& need) {
  const Facts& f = made.type.facts;
  const std::string& e = made.text;
  Made out = made;
  const bool scalar = !made.type.is_matrix();
  if (need.finite && !f.finite) {
    if (!f.determined() || e.size() > 60) return std::nullopt;
    out.text = scalar ? fmt::format("ifelse(is.nan({0}) | is.infinite({0}), 1, {0})", e)
                      : fmt::format("ifelse(is.nan({0}) + is.infinite({0}) > 0, 1, {0})", e);
    out.type.facts.finite = true;
    out.type.facts = join(out.type.facts, exactly(1));
  } else if (f.low < need.low || f.high > need.high) {
    const double low = std::max(need.low, -1e6), high = std::min(need.high, 1e6);
    if (low != std::floor(low) || high != std::floor(high)) return std::nullopt;
    const auto bound = [](double v) { return Made{literal_text(v, true), {Kind::integer, -1, -1, exactly(v)}}; };
    const Facts x = *binary_facts("max", f, bound(low).type.facts);
    out.type.facts = *binary_facts("min", x, bound(high).type.facts);
    out.text = fmt::format("min(max({}, {}), {})", e, bound(low).text, bound(high).text);
    if (scalar && made.type.kind != Kind::integer) out.type.kind = Kind::unknown;
  } else if (need.exact && (!f.exact || f.bits > need.bits)) {
    const auto rounded = unary_facts("round", f);
    if (!rounded) return std::nullopt;
    out = {fmt::format("round({})", e), made.type};
    out.type.facts = *rounded;
    if (scalar) out.type.kind = Kind::real;
  } else if (need.nonzero && !f.nonzero) {
    if (!f.determined()) return std::nullopt;
    out.text = fmt::format("ifelse({0} == 0, 1, {0})", e);
    out.type.facts = join(f, exactly(1));
    out.type.facts.nonzero = true;
    if (scalar && made.type.kind != Kind::integer) out.type.kind = Kind::unknown;
  } else if (need.clean && !f.clean) {
    out.text = fmt::format("abs({})", e);
    out.type.facts = *unary_facts("abs", f);
    if (scalar) out.type.kind = Kind::real;
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<Made> Writer::adapt(Made made, const Facts& need) {
  if (std::isnan(made.type.facts.low) || std::isnan(made.type.facts.high)) return std::nullopt;
  for (int step = 0; step < 5; ++step) {
    if (within(made.type.facts, need)) return made;
    if (made.text.size() > 300) return std::nullopt;
    auto next = adapt_once(made, need);
    if (!next) return std::nullopt;
    made = std::move(*next);
  }
  return std::nullopt;
}

Made Writer::number(const Facts& need, int depth) {
  for (int tries = 0; tries < 4; ++tries)
    if (auto made = try_number(depth))
      if (auto fits = adapt(std::move(*made), need)) return *fits;
  return number_literal(need);
}

std::optional<Made> Writer::number_of_variable() {
  const auto all = numbers();
  if (all.empty()) return std::nullopt;
  const Variable& v = *pick(all);
  return Made{v.name, v.type};
}

std::optional<Made> Writer::try_number(int depth) {
  if (depth <= 0) return chance(0.7) ? number_of_variable() : std::optional(number_literal(anything()));
  switch (below(10)) {
    case 0:
      return number_literal(anything());
    case 1:
      return number_of_variable();
    case 2:
    case 3:
    case 4:
      return number_of_operator(depth);
    case 5:
      if (scalars_only_) return number_of_operator(depth);
      return chance(0.3) ? pattern(Kind::real, -1, -1, depth) : row_call(Kind::real, -1, -1, depth);
    case 6:
    case 7:
      return scalars_only_ ? number_of_variable() : number_of_matrix(depth);
    case 8:
      return call_of(Kind::real, -1, -1, depth);
    default: {
      const Made c = condition(depth - 1), a = number(anything(), depth - 1), b = number(anything(), depth - 1);
      const Kind kind = a.type.kind == b.type.kind ? a.type.kind : Kind::unknown;
      return Made{fmt::format("ifelse({}, {}, {})", c.text, a.text, b.text),
                  {kind, -1, -1, join(a.type.facts, b.type.facts)}};
    }
  }
}

std::optional<Made> Writer::number_of_operator(int depth) {
  if (chance(0.25)) {
    const Op& op = *pick(unary_);
    const Made x = number(anything(), depth - 1);
    const auto facts = unary_facts(op.name, x.type.facts);
    if (!facts || op.name == "!") return std::nullopt;
    if (op.name == "-") return Made{fmt::format("(-{})", x.text), {x.type.kind, -1, -1, *facts}};
    if (op.name.substr(0, 3) == "is.")
      return Made{fmt::format("ifelse({}({}), 1, 0)", op.name, x.text), {Kind::unknown, -1, -1, *facts}};
    return Made{fmt::format("{}({})", op.name, x.text), {Kind::real, -1, -1, *facts}};
  }
  if (chance(0.1)) {
    const Made x = number(determined_only(), depth - 1);
    if (!x.type.facts.finite || x.type.facts.magnitude() > 1e9) return std::nullopt;
    Facts f = whole(std::ceil(x.type.facts.low), std::floor(x.type.facts.high));
    f.low = std::min(f.low, 0.0), f.high = std::max(f.high, 0.0);
    f.nonzero = false;
    return Made{fmt::format("as.integer({})", x.text), {Kind::integer, -1, -1, f}};
  }
  const Op& op = *pick(binary_);
  const Made x = number(anything(), depth - 1), y = number(anything(), depth - 1);
  const auto facts = binary_facts(op.name, x.type.facts, y.type.facts);
  if (!facts) return std::nullopt;
  if (op.laws.failure == Failure::by_data && facts->magnitude() > 1e15) return std::nullopt;  // ints may overflow
  if ((op.name == "%%" || op.name == "%/%") && !y.type.facts.nonzero) return std::nullopt;
  const bool truth = op.name.find_first_of("<>=!&|") != std::string_view::npos || op.name == "xor";
  const std::string call = is_infix(op.name) ? fmt::format("({} {} {})", x.text, op.name, y.text)
                                             : fmt::format("{}({}, {})", op.name, x.text, y.text);
  if (truth) return Made{fmt::format("ifelse({}, 1, 0)", call), {Kind::unknown, -1, -1, *facts}};
  Kind kind = Kind::unknown;
  if (x.type.kind == Kind::real || y.type.kind == Kind::real) kind = Kind::real;
  if (op.name.substr(0, 4) == "bitw" || op.name == "log" || op.name == "/" || op.name == "^") kind = Kind::unknown;
  return Made{call, {kind, -1, -1, *facts}};
}

std::optional<Made> Writer::number_of_matrix(int depth) {
  const auto all = matrices();
  if (all.empty() || chance(0.3)) {
    const Made m = matrix(1, 1, anything(), depth - 1);
    return Made{fmt::format("as.scalar({})", m.text), {Kind::real, -1, -1, m.type.facts}};
  }
  const Variable& v = *pick(all);
  const Type& t = v.type;
  if (chance(0.3)) {
    const char* f = chance(0.5) ? "nrow" : chance(0.5) ? "ncol" : "length";
    const double most = t.rows < 0 || t.cols < 0 ? 4096 : static_cast<double>(t.rows * t.cols + t.rows + t.cols);
    return Made{fmt::format("{}({})", f, v.name), {Kind::integer, -1, -1, whole(0, most)}};
  }
  if (t.rows < 0 || t.cols < 0) {
    const std::vector<const char*> kFunctions = {"sum", "mean", "min", "max", "sum", "countDistinct"};
    const Made m = chance(0.5) ? sized_by_run(depth - 1) : Made{v.name, v.type};
    const std::string_view function = pick(kFunctions);
    const RowArgument argument{matrix_meta(m.type.rows, m.type.cols), m.type.facts, ""};
    const Op& row = op(function, function == "countDistinct" ? 2 : 1);
    if (!within(m.type.facts, bound_of(row, 0))) return std::nullopt;
    const auto f = row_facts(row, {argument}, scalar_meta(Kind::real));
    if (!f) return std::nullopt;
    return Made{fmt::format("{}({})", function, m.text), {Kind::unknown, -1, -1, *f}};
  }
  if (t.rows == 0 || t.cols == 0) return std::nullopt;
  return Made{fmt::format("as.scalar({}[{}, {}])", v.name, index(t.rows).text, index(t.cols).text),
              {Kind::real, -1, -1, t.facts}};
}

Made Writer::condition(int depth) {
  std::vector<const Variable*> flags;
  for (const Variable& v : variables_)
    if (v.type.kind == Kind::boolean) flags.push_back(&v);
  const Type type{Kind::boolean, -1, -1, whole(0, 1)};
  if (depth <= 0 || chance(0.25)) {
    if (!flags.empty() && chance(0.7)) return {pick(flags)->name, type};
    return {chance(0.5) ? "TRUE" : "FALSE", type};
  }
  if (chance(0.25)) {
    const char* op = chance(0.5) ? "&" : "|";
    return {fmt::format("({} {} {})", condition(depth - 1).text, op, condition(depth - 1).text), type};
  }
  if (chance(0.1)) return {fmt::format("(!{})", condition(depth - 1).text), type};
  if (chance(0.1)) return {fmt::format("({} == {})", text(0).text, text(0).text), type};
  const std::vector<const char*> kOps = {"<", "<=", ">", ">=", "==", "!="};
  const Made x = number(determined_only(), depth - 1), y = number(determined_only(), depth - 1);
  return {fmt::format("({} {} {})", x.text, pick(kOps), y.text), type};
}

Made Writer::text(int depth) {
  std::vector<const Variable*> texts;
  for (const Variable& v : variables_)
    if (v.type.kind == Kind::string) texts.push_back(&v);
  const Type type{Kind::string, -1, -1, {}};
  if (depth <= 0 || chance(0.3)) {
    if (!texts.empty() && chance(0.6)) return {pick(texts)->name, type};
    const std::vector<const char*> kWords = {"\"a\"", "\"b\"", "\"two words\"", "\"\"", "\"x=\""};
    return {pick(kWords), type};
  }
  if (chance(0.3)) return {fmt::format("({} + {})", text(depth - 1).text, text(depth - 1).text), type};
  if (chance(0.15)) return {fmt::format("({} + {})", text(0).text, condition(depth - 1).text), type};
  return {fmt::format("({} + \" \" + {})", text(0).text, number(determined_only(), depth - 1).text), type};
}

Made Writer::index(int64_t high) {
  std::vector<const Variable*> counters;
  for (const Variable* v : numbers()) {
    const Facts& f = v->type.facts;
    if (f.determined() && f.finite && f.magnitude() < 1e9 && f.low > -1e9) counters.push_back(v);
  }
  if (counters.empty() || chance(0.4)) {
    const int64_t k = between(1, high);
    return {fmt::format("{}", k), {Kind::integer, -1, -1, exactly(static_cast<double>(k))}};
  }
  const Variable& v = *pick(counters);
  const Type type{Kind::unknown, -1, -1, whole(1, static_cast<double>(high))};
  if (v.type.facts.low >= 1 && v.type.facts.high <= static_cast<double>(high)) return {v.name, type};
  return {fmt::format("min(max({}, 1), {})", v.name, high), type};
}

std::pair<std::string, std::string> Writer::bounds(int64_t length, int64_t all) {
  const Made low = index(all - length + 1);
  if (length == 1 && chance(0.7)) return {low.text, ""};
  if (low.type.facts.low == low.type.facts.high)
    return {low.text, fmt::format("{}", static_cast<int64_t>(low.type.facts.low) + length - 1)};
  return {low.text, fmt::format("({} + {})", low.text, length - 1)};
}

}  // namespace hopline::tests
