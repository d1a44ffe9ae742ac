// Statements without control flow.
#include <algorithm>
#include <cmath>

#include "tests/random/writer.h"

namespace hopline::tests {

namespace {

constexpr double kPrintable = 2e-13;  // the runner takes numbers this far apart for equal, whatever their size
constexpr int64_t kPrintedCells = 150;

}  // namespace

Writer::Variable* Writer::find(const std::string& name) {
  for (Variable& v : variables_)
    if (v.name == name) return &v;
  return nullptr;
}

void Writer::set(const std::string& name, Type type) {
  if (Variable* v = find(name))
    v->type = std::move(type);
  else
    variables_.push_back({name, std::move(type), false});
}

std::vector<const Writer::Variable*> Writer::numbers() const {
  std::vector<const Variable*> out;
  for (const Variable& v : variables_)
    if (v.type.is_number()) out.push_back(&v);
  return out;
}

std::vector<const Writer::Variable*> Writer::matrices() const {
  std::vector<const Variable*> out;
  for (const Variable& v : variables_)
    if (v.type.is_matrix() && !scalars_only_) out.push_back(&v);
  return out;
}

std::string Writer::target(const Type& type, std::string_view letter) {
  std::vector<std::string> names;
  for (const Variable& v : variables_)
    if (is_open(v) && !is_outer(v) && v.type.is_matrix() == type.is_matrix() &&
        (v.type.kind == Kind::list) == (type.kind == Kind::list))
      names.push_back(v.name);
  return names.empty() || chance(0.6) ? new_name(letter) : pick(names);
}

// Either a variable that outlives the block, within its facts, or one of the block's own.
void Writer::assign_matrix() {
  std::vector<const Variable*> outer;
  for (const Variable* v : matrices())
    if (is_open(*v) && is_outer(*v) && v->type.rows >= 0 && v->type.cols >= 0) outer.push_back(v);
  if (!outer.empty() && chance(0.6)) {
    const Variable v = *pick(outer);
    line("{} = {}", v.name, matrix(v.type.rows, v.type.cols, v.type.facts, 3).text);
    return;
  }
  const Made m = matrix(size(), size(), anything(), 3);
  Type type = m.type;
  type.facts = widen(type.facts);
  const std::string name = target(type, "M");
  line("{} = {}", name, m.text);
  set(name, type);
}

void Writer::assign_number() {
  std::vector<const Variable*> outer;
  for (const Variable* v : numbers())
    if (is_open(*v) && is_outer(*v)) outer.push_back(v);
  if (!outer.empty() && chance(0.7)) {
    const Variable v = *pick(outer);
    Made m = number(v.type.facts, 3);
    if (v.type.kind == Kind::integer && m.type.kind != Kind::integer) m.text = fmt::format("as.integer({})", m.text);
    if (v.type.kind == Kind::real && m.type.kind != Kind::real) m.text = fmt::format("as.double({})", m.text);
    if (v.type.kind == Kind::integer && !m.type.facts.determined()) return;
    line("{} = {}", v.name, m.text);
    return;
  }
  const Made m = number(anything(), 3);
  Type type = m.type;
  type.facts = widen(type.facts);
  if (chance(0.5) || (type.kind == Kind::integer && type.facts.bits > 0)) type.kind = Kind::unknown;
  const std::string name = target(type, "s");
  line("{} = {}", name, m.text);
  set(name, type);
}

void Writer::assign_other() {
  const bool flag = chance(0.5);
  const Made m = flag ? condition(2) : text(2);
  std::vector<const Variable*> same;
  for (const Variable& v : variables_)
    if (is_open(v) && v.type.kind == m.type.kind) same.push_back(&v);
  const std::string name = same.empty() || chance(0.5) ? new_name(flag ? "b" : "t") : pick(same)->name;
  line("{} = {}", name, m.text);
  set(name, m.type);
}

void Writer::assign_part() {
  std::vector<const Variable*> targets;
  for (const Variable* v : matrices())
    if (is_open(*v) && v->type.rows > 0 && v->type.cols > 0) targets.push_back(v);
  if (targets.empty()) return assign_matrix();
  const Variable v = *pick(targets);
  const int64_t rows = chance(0.3) ? v.type.rows : between(1, v.type.rows);
  const int64_t cols = chance(0.3) ? v.type.cols : between(1, v.type.cols);
  const auto side = [&](int64_t length, int64_t all) -> std::string {
    if (length == all && chance(0.6)) return "";
    const auto [low, high] = bounds(length, all);
    return high.empty() ? low : low + ":" + high;
  };
  const bool cell = chance(0.4);
  const std::string first = cell ? index(v.type.rows).text : side(rows, v.type.rows);
  const std::string second = cell ? index(v.type.cols).text : side(cols, v.type.cols);
  const Facts need = is_outer(v) ? v.type.facts : anything();
  const Made value = cell ? number(need, 2) : matrix(rows, cols, need, 2);
  line("{}[{}, {}] = {}", v.name, first, second, value.text);
  if (is_outer(v)) return;
  Type type = v.type;
  type.facts = widen(join(type.facts, value.type.facts));
  set(v.name, type);
}

void Writer::assign_unknown_size() {
  if (in_parfor_) return assign_matrix();
  std::vector<const Variable*> outer;
  for (const Variable* v : matrices())
    if (is_open(*v) && is_outer(*v) && v->type.rows < 0) outer.push_back(v);
  if (!outer.empty() && chance(0.6)) {
    const Variable v = *pick(outer);
    if (const auto m = adapt(sized_by_run(2), v.type.facts)) line("{} = {}", v.name, m->text);
    return;
  }
  const Made m = sized_by_run(2);
  Type type{Kind::matrix, -1, -1, widen(with_zero(m.type.facts))};
  const std::string name = new_name("U");
  line("{} = {}", name, m.text);
  set(name, type);
}

void Writer::accumulate() {
  std::vector<const Variable*> targets;
  for (const Variable& v : variables_)
    if (is_open(v) && (v.type.is_number() || (v.type.is_matrix() && v.type.rows >= 0 && v.type.cols >= 0)) &&
        !(scalars_only_ && v.type.is_matrix()) && !is_outer(v) && v.type.facts.finite)
      targets.push_back(&v);
  if (targets.empty()) return assign_number();
  const Variable v = *pick(targets);
  const Made add = v.type.is_matrix() ? matrix(v.type.rows, v.type.cols, v.type.facts, 2) : number(v.type.facts, 2);
  const auto facts = binary_facts("+", v.type.facts, add.type.facts);
  if (!facts) return;
  line("{} += {}", v.name, add.text);
  Type type = v.type;
  type.facts = widen(*facts);
  if (type.is_number()) type.kind = Kind::unknown;
  set(v.name, type);
}

void Writer::use_list() {
  std::vector<Variable> lists;
  for (const Variable& v : variables_)
    if (v.type.kind == Kind::list && !v.type.entries.empty()) lists.push_back(v);
  if (lists.empty() || chance(0.35)) {
    Type type{Kind::list, -1, -1, {}};
    const bool named = chance(0.5);
    std::string parts;
    for (int64_t k = 0, n = between(1, 4); k < n; ++k) {
      const Made m = scalars_only_ || chance(0.5) ? number(anything(), 2) : matrix(size(), size(), anything(), 2);
      const std::string name = named ? fmt::format("e{}", k) : "";
      parts += fmt::format("{}{}{}", k > 0 ? ", " : "", named ? name + "=" : "", m.text);
      type.entries.emplace_back(name, m.type);
    }
    const std::string name = new_name("L");
    line("{} = list({})", name, parts);
    set(name, type);
    return;
  }
  Variable list = pick(lists);
  const size_t k = below(list.type.entries.size());
  const auto& [entry, type] = list.type.entries[k];
  const std::string at = !entry.empty() && chance(0.5) ? "\"" + entry + "\"" : fmt::format("{}", k + 1);
  Type known = type;
  known.facts = widen(known.facts);
  if (known.is_number()) known.kind = Kind::unknown;
  const bool open = is_open(*find(list.name)) && !is_outer(*find(list.name));
  if (open && chance(0.3)) {
    const Made m = type.is_matrix() ? matrix(type.rows, type.cols, anything(), 2) : number(anything(), 2);
    line("{}[{}] = {}", list.name, at, m.text);
    list.type.entries[k].second = m.type;
    set(list.name, list.type);
  } else if (open && chance(0.2) && entry.empty()) {
    const Made m = number(anything(), 2);
    line("{} = append({}, {})", list.name, list.name, m.text);
    list.type.entries.emplace_back("", m.type);
    set(list.name, list.type);
  } else {
    const std::string name = new_name(type.is_matrix() ? "M" : "s");
    line("{} = {}({}[{}])", name, type.is_matrix() ? "as.matrix" : "as.scalar", list.name, at);
    set(name, known);
  }
}

void Writer::decompose() {
  Facts small = whole(-3, 3);
  small.clean = small.nonzero = false;
  const int64_t n = between(1, 5);
  const Made m = matrix_literal(n, n, small);
  const std::string a = new_name("M"), b = new_name("M"), c = new_name("M");
  const std::string system = fmt::format("({} + diag(matrix(15, rows={}, cols=1)))", m.text, n);
  Facts f;
  f.low = -1e3, f.high = 1e3, f.error = 1e-13;
  const Type type{Kind::matrix, n, n, f};
  switch (below(3)) {
    case 0:
      line("[{}, {}, {}] = lu({})", a, b, c, system);
      break;
    case 1:
      line("[{}, {}, {}] = svd({})", a, b, c, system);
      break;
    default:
      line("[{}, {}] = qr({})", a, b, system);
      set(a, type);
      set(b, type);
      return;
  }
  for (const std::string& name : {a, b, c}) set(name, type);
}

void Writer::print(const Made& m) {
  const Facts& f = m.type.facts;
  double scale = 1;
  while (f.error * scale > kPrintable && scale > 1e-12) scale /= 16;
  const bool can = f.error * scale <= kPrintable;
  if (m.type.is_matrix()) {
    const bool large = m.type.rows * m.type.cols > kPrintedCells;
    if (!can || (large && !f.finite)) {
      line("print(nrow({0}) + \" \" + ncol({0}))", m.text);
    } else if (large) {
      const Facts sum = sum_of(f, static_cast<double>(m.type.rows * m.type.cols));
      if (sum.error < kPrintable)
        line("print(sum({}))", m.text);
      else
        line("print(min({0} * {1}) + \" \" + max({0} * {1}))", m.text, scale);
    } else if (f.determined() && chance(0.6)) {
      line("print({})", chance(0.5) ? m.text : "toString(" + m.text + ")");
    } else {
      line("print(toString({}, decimal=14))", scale == 1 ? m.text : fmt::format("{} * {}", m.text, scale));
    }
    return;
  }
  if (!can) return;
  if (f.determined() && chance(0.5))
    line("print(\"{}\" + {})", chance(0.5) ? "value " : "", m.text);
  else
    line("print({})", scale == 1 ? m.text : fmt::format("({} * {})", m.text, scale));
}

void Writer::print_something() {
  std::vector<const Variable*> known;
  for (const Variable& v : variables_)
    if (v.type.kind != Kind::list && !(scalars_only_ && v.type.is_matrix())) known.push_back(&v);
  if (!known.empty() && chance(0.5)) {
    const Variable& v = *pick(known);
    return print({v.name, v.type});
  }
  if (chance(0.3)) return print(text(2));
  if (chance(0.2)) return print(condition(2));
  if (scalars_only_ || chance(0.4)) return print(number(anything(), 3));
  print(matrix(size(), size(), anything(), 3));
}

void Writer::fail_perhaps() {
  if (!may_fail_ || failed_ || in_parfor_) return;
  failed_ = true;
  const auto all = matrices();
  const std::string x = all.empty() ? "matrix(1, rows=2, cols=2)" : pick(all)->name;
  const std::string e = new_name("E");
  std::vector<std::string> kinds = {
      fmt::format("{} = cbind({}, matrix(1, rows=nrow({}) + 1, cols=2))", e, x, x),
      fmt::format("{} = {} %*% matrix(1, rows=ncol({}) + 2, cols=1)", e, x, x),
      fmt::format("{} = as.scalar(cbind({}, matrix(1, rows=nrow({}), cols=3)))", e, x, x),
      fmt::format("{} = table(matrix(-1, rows=3, cols=1), seq(1, 3))", e),
      fmt::format("{} = cholesky(matrix(-1, rows=3, cols=3))", e),
      fmt::format("{} = inv(matrix(0, rows=3, cols=3))", e),
      fmt::format("{} = matrix(\"1 2 3\", rows=2, cols=2)", e),
      fmt::format("{} = 7 %/% {}", e, number(whole(0, 0), 2).text),
      fmt::format("stop(\"stopped \" + {})", text(1).text),
      fmt::format("assert({} & FALSE)", condition(1).text),
      fmt::format("{} = matrix(1, rows={}, cols=2)", e, number(whole(-2, -1), 1).text),
      fmt::format("{} = seq(1, {}, {})", e, number(whole(2, 4), 1).text, number(whole(-2, -1), 1).text),
      fmt::format("{} = quantile({}, {})", e, "matrix(1, rows=2, cols=2)", "0.5"),
  };
  if (!all.empty()) kinds.push_back(fmt::format("{} = {}[nrow({}) + 1, 1]", e, x, x));
  line("{}", pick(kinds));
}

}  // namespace hopline::tests
