// Statements of control flow, and whole programs.
#include <algorithm>

#include "tests/random/writer.h"

namespace hopline::tests {

Writer::Writer(uint64_t seed) : engine_(seed), rows_(expression_rows()) {
  for (const OpFamily& family : op_families())
    for (const Op& row : family) {
      if (row.hidden || !row.laws.cellwise || row.params.variadic) continue;
      if (row.params.count == 1) unary_.push_back(&row);
      if (row.params.count == 2) binary_.push_back(&row);
    }
}

void Writer::body(int statements, int depth) {
  const size_t outer = outer_, known = variables_.size();
  outer_ = known;
  ++indent_;
  const size_t before = out_.size();
  for (int k = 0; k < statements; ++k) statement(depth);
  if (out_.size() == before) line("print(\"empty\")");
  --indent_;
  outer_ = outer;
  variables_.resize(known);
}

void Writer::assign(int depth) {
  if (scalars_only_) {
    if (chance(0.2)) return assign_other();
    return chance(0.3) ? accumulate() : assign_number();
  }
  switch (below(12)) {
    case 0:
    case 1:
      return assign_number();
    case 2:
      return assign_other();
    case 3:
    case 4:
      return assign_part();
    case 5:
      return accumulate();
    case 6:
      return chance(0.4) ? use_list() : assign_number();
    case 7:
      return chance(0.6) ? assign_unknown_size() : call_several();
    case 8:
      return chance(0.2) ? decompose() : assign_matrix();
    default:
      return assign_matrix();
  }
}

void Writer::statement(int depth) {
  if (chance(0.05)) fail_perhaps();
  if (depth > 0 && chance(0.35)) {
    switch (below(7)) {
      case 0:
      case 1:
        return branch(depth);
      case 2:
        return loop_for(depth);
      case 3:
        return loop_while(depth);
      case 4:
        return scalars_only_ ? branch(depth) : loop_parallel(depth);
      case 5:
        return scalars_only_ ? loop_for(depth) : grow();
      default:
        return scalar_code(depth);
    }
  }
  if (chance(0.2)) return print_something();
  assign(depth);
}

void Writer::branch(int depth) {
  // Sometimes a variable that both branches make.
  const bool both = chance(0.3);
  const Type type{scalars_only_ ? Kind::unknown : Kind::matrix, between(1, 4), between(1, 4), widen(integral(-8, 8))};
  const std::string name = both ? new_name("V") : "";
  const auto make = [&] {
    if (!both) return;
    ++indent_;
    line("{} = {}", name, value_of(type, 2).text);
    --indent_;
  };
  line("if ({}) {{", condition(2).text);
  body(static_cast<int>(between(1, 3)), depth - 1);
  make();
  if (both || chance(0.5)) {
    line("}} else {{");
    body(static_cast<int>(between(1, 3)), depth - 1);
    make();
  }
  line("}}");
  if (both) set(name, type);
}

void Writer::loop_for(int depth) {
  const std::string i = new_name("i");
  int64_t from = between(1, 3), to = from + (chance(0.1) ? between(9, 12) : between(0, 4));
  std::string range = fmt::format("{}:{}", from, to);
  if (chance(0.15)) {
    range = fmt::format("seq({}, {}, 2)", from, to);
  } else if (chance(0.15)) {
    range = fmt::format("{}:{}", to, from);
  } else if (chance(0.1)) {
    range = fmt::format("seq({}, {}, -1)", from, to + 1);  // no iteration
    from = 0;
  } else if (chance(0.15)) {
    const Facts f = whole(static_cast<double>(from), static_cast<double>(to));
    range = fmt::format("{}:{}", from, number(f, 2).text);
  }
  line("for ({} in {}) {{", i, range);
  const Type counter{Kind::integer, -1, -1, whole(static_cast<double>(from), static_cast<double>(to))};
  variables_.push_back({i, counter, true});
  body(static_cast<int>(between(1, 4)), depth - 1);
  variables_.pop_back();
  line("}}");
  if (from > 0 && chance(0.5)) set(i, counter);
}

void Writer::loop_while(int depth) {
  const std::string w = new_name("w");
  const int64_t most = between(0, 4);
  line("{} = 0", w);
  const Type counter{Kind::unknown, -1, -1, whole(0, static_cast<double>(most))};
  variables_.push_back({w, counter, true});
  line("while ({} < {}{}) {{", w, most, chance(0.4) ? " & " + condition(2).text : "");
  body(static_cast<int>(between(1, 4)), depth - 1);
  ++indent_;
  line("{} = {} + 1", w, w);
  --indent_;
  line("}}");
  find(w)->fixed = false;
}

// Each iteration writes its own rows, columns or cells, or adds.
void Writer::loop_parallel(int depth) {
  const std::string i = new_name("i"), r = new_name("R");
  const int64_t n = between(1, 6), width = between(1, 4);
  const int form = static_cast<int>(below(4));
  const bool adds = form == 3;
  const int64_t rows = form == 1 ? width : n, cols = form == 1 ? n : width;
  Type type{Kind::matrix, rows, cols, widen(integral(-8, 8))};
  type.facts.bits = 2;
  line("{} = {}", r, matrix(rows, cols, type.facts, 2).text);
  type.facts = widen(type.facts);
  set(r, type);
  const Facts need = type.facts;
  const std::vector<std::string> options = {"", "", ", check=0", ", par=2", ", mode=LOCAL", ", opt=NONE"};
  line("parfor ({} in 1:{}{}) {{", i, n, pick(options));
  const size_t closed = closed_;
  const bool outer_parfor = in_parfor_;
  const Variable result = *find(r);
  std::erase_if(variables_, [&](const Variable& v) { return v.name == r; });  // only what this iteration writes
  closed_ = variables_.size() + 1;
  in_parfor_ = true;
  variables_.push_back({i, {Kind::integer, -1, -1, whole(1, static_cast<double>(n))}, true});
  const size_t known = variables_.size(), outer = outer_;
  outer_ = known;
  ++indent_;
  for (int64_t k = 0, count = between(0, 3); k < count; ++k) statement(depth - 1);
  if (form == 0 || form == 2)
    line("{}[{}, ] = {}", r, i, matrix(1, width, need, 2).text);
  else if (form == 1)
    line("{}[, {}] = {}", r, i, matrix(width, 1, need, 2).text);
  else
    line("{} += {}", r, matrix(rows, cols, need, 2).text);
  --indent_;
  line("}}");
  outer_ = outer;
  variables_.resize(known - 1);
  closed_ = closed;
  in_parfor_ = outer_parfor;
  variables_.push_back(result);
  if (adds) variables_.back().type.facts = widen(sum_of(join(need, need), static_cast<double>(n + 1)));
}

void Writer::grow() {
  if (in_parfor_) return assign_matrix();
  const std::string g = new_name("G"), i = new_name("i");
  const int64_t cols = between(1, 4), trips = chance(0.3) ? between(9, 14) : between(1, 5), first = between(0, 2);
  Type type{Kind::matrix, first, cols, widen(integral(-4, 4))};
  line("{} = {}", g, matrix(first, cols, type.facts, 1).text);
  line("for ({} in 1:{}) {{", i, trips);
  variables_.push_back({i, {Kind::integer, -1, -1, whole(1, static_cast<double>(trips))}, true});
  type.rows = -1;
  variables_.push_back({g, type, true});
  const size_t known = variables_.size(), outer = outer_;
  outer_ = known;
  ++indent_;
  for (int64_t k = 0, count = between(0, 2); k < count; ++k) {
    if (chance(0.4) && first > 0)
      assign_unknown_size();
    else
      statement(0);
  }
  const Made row = matrix(1, cols, type.facts, 2);
  if (chance(0.7))
    line("{0} = rbind({0}, {1})", g, row.text);
  else
    line("{0} = rbind({1}, {0})", g, row.text);
  --indent_;
  line("}}");
  outer_ = outer;
  variables_.resize(known - 2);
  type.rows = first + trips;
  set(g, type);
}

void Writer::scalar_code(int depth) {
  const bool before = scalars_only_;
  scalars_only_ = true;
  const size_t outer = outer_;
  if (outer_ == 0) outer_ = 0;
  if (numbers().empty()) assign_number();
  if (chance(0.5))
    loop_for(depth);
  else
    loop_while(depth);
  outer_ = outer;
  scalars_only_ = before;
}

std::string Writer::program() {
  may_fail_ = chance(0.15);
  for (int64_t k = between(0, 3); k > 0; --k) {
    if (chance(0.2))
      recursive_function();
    else
      function();
  }
  variables_.clear();
  for (int64_t k = between(4, 18); k > 0; --k) statement(3);
  const std::vector<Variable> left = variables_;
  for (const Variable& v : left)
    if (v.type.kind != Kind::list && chance(0.8)) print({v.name, v.type});
  return out_;
}

}  // namespace hopline::tests
