// Functions and their calls.
#include <algorithm>

#include "tests/random/writer.h"

namespace hopline::tests {

namespace {

std::string_view declared(const Type& type) {
  if (type.is_matrix()) return "matrix[double]";
  if (type.kind == Kind::integer) return "int";
  return "double";
}

}  // namespace

Type Writer::random_type() {
  Facts f = whole(-16, 16);
  f.clean = f.nonzero = false;
  if (chance(0.3)) f.bits = 4;
  if (chance(0.2)) f.exact = false, f.bits = 0;
  if (chance(0.4)) return {chance(0.5) ? Kind::integer : Kind::real, -1, -1, whole(-16, 16)};
  return {Kind::matrix, between(1, 5), between(1, 5), f};
}

// A value for a parameter, an output or a variable of that type.
Made Writer::value_of(const Type& type, int depth) {
  if (type.is_matrix()) return matrix(type.rows, type.cols, type.facts, depth);
  Made m = number(type.facts, depth);
  if (type.kind == Kind::integer && m.type.kind != Kind::integer) m.text = fmt::format("as.integer({})", m.text);
  return m;
}

void Writer::function() {
  Routine routine{new_name("f"), {}, {}};
  variables_.clear();
  std::string inputs, outputs;
  bool optional = false;
  for (int64_t k = 0, n = between(1, 4); k < n; ++k) {
    Input in{fmt::format("p{}", k + 1), random_type(), ""};
    optional = optional || (k > 0 && chance(0.3));
    if (optional) {
      in.fallback = in.type.is_matrix() ? fmt::format("matrix(1, rows={}, cols={})", in.type.rows, in.type.cols) : "2";
      in.type.facts = join(in.type.facts, whole(1, 2));
    }
    inputs +=
        fmt::format("{}{} {}{}", k > 0 ? ", " : "", declared(in.type), in.name, optional ? " = " + in.fallback : "");
    set(in.name, in.type);
    routine.inputs.push_back(std::move(in));
  }
  for (int64_t k = 0, n = between(1, 2); k < n; ++k) {
    routine.outputs.push_back(random_type());
    outputs += fmt::format("{}{} o{}", k > 0 ? ", " : "", declared(routine.outputs.back()), k + 1);
  }
  line("{} = function({}) return ({}) {{", routine.name, inputs, outputs);
  ++indent_;
  for (int64_t k = between(0, 4); k > 0; --k) statement(2);
  for (size_t k = 0; k < routine.outputs.size(); ++k) line("o{} = {}", k + 1, value_of(routine.outputs[k], 3).text);
  --indent_;
  line("}}");
  variables_.clear();
  routines_.push_back(std::move(routine));
}

void Writer::recursive_function() {
  Routine routine{new_name("f"), {}, {}};
  Type value{Kind::real, -1, -1, whole(-16, 16)};
  routine.inputs = {{"n", {Kind::integer, -1, -1, whole(-2, 4)}, ""}, {"x", value, ""}};
  routine.outputs = {value};
  variables_.clear();
  set("n", routine.inputs[0].type);
  set("x", value);
  line("{} = function(int n, double x) return (double y) {{", routine.name);
  ++indent_;
  line("if (n <= 0) {{");
  line("  y = {}", number(value.facts, 2).text);
  line("}} else {{");
  line("  z = {}(n - 1, {})", routine.name, number(value.facts, 2).text);
  set("z", value);
  line("  y = {}", number(value.facts, 3).text);
  line("}}");
  --indent_;
  line("}}");
  variables_.clear();
  routines_.push_back(std::move(routine));
}

std::string Writer::arguments_of(const Routine& routine, int depth) {
  std::string out;
  const bool named = chance(0.3);
  std::vector<size_t> order(routine.inputs.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = k;
  if (named) std::shuffle(order.begin(), order.end(), engine_);
  bool stopped = false;
  for (const size_t k : order) {
    const Input& in = routine.inputs[k];
    if (!in.fallback.empty() && chance(0.4)) stopped = true;
    if (stopped && !in.fallback.empty()) {
      if (named) stopped = false;
      continue;
    }
    const Made m = value_of(in.type, depth);
    out += (out.empty() ? "" : ", ") + (named ? in.name + "=" : "") + m.text;
  }
  return out;
}

std::optional<Made> Writer::call_of(Kind kind, int64_t rows, int64_t cols, int depth) {
  if (depth <= 0 || routines_.empty()) return std::nullopt;
  std::vector<const Routine*> fits;
  for (const Routine& r : routines_) {
    const Type& out = r.outputs[0];
    if (kind == Kind::matrix ? out.is_matrix() && out.rows == rows && out.cols == cols : out.is_number())
      fits.push_back(&r);
  }
  if (fits.empty()) return std::nullopt;
  const Routine& r = *pick(fits);
  if (scalars_only_ && std::any_of(r.inputs.begin(), r.inputs.end(), [](const Input& i) { return i.type.is_matrix(); }))
    return std::nullopt;
  Type type = r.outputs[0];
  if (type.is_number()) type.kind = Kind::unknown;
  return Made{fmt::format("{}({})", r.name, arguments_of(r, depth - 1)), type};
}

void Writer::call_several() {
  if (routines_.empty()) return assign_matrix();
  const Routine r = pick(routines_);
  std::string names;
  std::vector<std::pair<std::string, Type>> made;
  for (const Type& t : r.outputs) {
    const std::string name = new_name(t.is_matrix() ? "M" : "s");
    names += (names.empty() ? "" : ", ") + name;
    Type known = t;
    if (known.is_number()) known.kind = Kind::unknown;
    made.emplace_back(name, known);
  }
  const bool takes_one = r.inputs.size() == 1 || !r.inputs[1].fallback.empty();
  if (takes_one && r.outputs.size() == 1 && r.outputs[0].is_matrix() && chance(0.4))
    line("{} = eval(\"{}\", {})", names, r.name, value_of(r.inputs[0].type, 2).text);
  else
    line("[{}] = {}({})", names, r.name, arguments_of(r, 2));
  for (const auto& [name, type] : made) set(name, type);
}

}  // namespace hopline::tests
