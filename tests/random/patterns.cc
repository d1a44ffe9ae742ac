// Expressions in the form of a rewrite's pattern, so that every rule of the table is tried within programs.
#include <cctype>
#include <map>
#include <memory>

#include "frontend/syntax/parse.h"
#include "planner/rewrite/rules.h"
#include "tests/random/writer.h"

namespace hopline::tests {

struct Patterns {
  Ast ast;
  SourceFiles files;
  std::vector<const Expr*> all;
  Patterns() {
    for (const Rule& r : rules())
      for (const std::string_view side : {r.pattern, r.replacement}) {
        const Expr* e = parse_expression(ast, files, files.add(std::string(r.name), std::string(side)));
        if (is_callable(*e)) all.push_back(e);
      }
  }

  static std::vector<const Expr*> operands(const Expr& e) {
    std::vector<const Expr*> out;
    if (const auto* o = std::get_if<Operator>(&e.node)) out.assign(o->operands.begin(), o->operands.end());
    if (const auto* c = std::get_if<CallExpr>(&e.node))
      for (const Argument& a : c->arguments) out.push_back(a.value);
    return out;
  }
  static std::string_view operator_name(const Expr& e) {
    if (const auto* o = std::get_if<Operator>(&e.node)) return o->symbol;
    if (const auto* c = std::get_if<CallExpr>(&e.node)) return c->name;
    return {};
  }
  // An operator whose every part a script may write.
  static bool is_callable(const Expr& e) {
    const std::string_view name = operator_name(e);
    if (name.empty()) return false;
    const auto in = operands(e);
    const Op* row = find_op(name, in.size());
    if (row == nullptr || row->hidden || row->infer == nullptr) return false;
    for (const Expr* i : in)
      if (!operator_name(*i).empty() && !is_callable(*i)) return false;
    return true;
  }
};

namespace {

const Patterns& patterns() {
  static const Patterns kPatterns;
  return kPatterns;
}

using Sizes = std::map<std::string, Meta>;
using Operands = std::map<std::string, Made>;

bool is_matrix_name(const std::string& name) { return std::isupper(static_cast<unsigned char>(name[0])) != 0; }

std::optional<Meta> sizes_of(const Expr& e, const Sizes& sizes) {
  if (const auto* n = std::get_if<Name>(&e.node)) return sizes.at(n->name);
  if (const auto* l = std::get_if<Literal>(&e.node))
    return scalar_meta(std::holds_alternative<int64_t>(l->value) ? Kind::integer : Kind::real);
  const auto in = Patterns::operands(e);
  std::vector<RowArgument> metas;
  for (const Expr* i : in) {
    const auto m = sizes_of(*i, sizes);
    if (!m) return std::nullopt;
    metas.push_back({*m, {}, ""});
  }
  return infer_row(*find_op(Patterns::operator_name(e), in.size()), metas);
}

std::optional<Made> build(const Expr& e, const Sizes& sizes, const Operands& operands) {
  if (const auto* n = std::get_if<Name>(&e.node)) return operands.at(n->name);
  if (const auto* l = std::get_if<Literal>(&e.node)) {
    const double v = std::visit(
        [](const auto& x) -> double {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(x)>>) return static_cast<double>(x);
          return 0;
        },
        l->value);
    const bool whole = std::holds_alternative<int64_t>(l->value);
    return Made{whole ? fmt::format("{}", static_cast<int64_t>(v)) : fmt::format("{:.2f}", v),
                {whole ? Kind::integer : Kind::real, -1, -1, exactly(v)}};
  }
  const std::string_view name = Patterns::operator_name(e);
  const auto parts = Patterns::operands(e);
  const Op& row = *find_op(name, parts.size());
  std::vector<Made> in;
  for (const Expr* p : parts) {
    auto m = build(*p, sizes, operands);
    if (!m) return std::nullopt;
    in.push_back(std::move(*m));
  }
  const auto out = sizes_of(e, sizes);
  std::optional<Facts> facts;
  if (row.laws.cellwise && in.size() == 1) {
    facts = unary_facts(name, in[0].type.facts);
  } else if (row.laws.cellwise && in.size() == 2) {
    facts = binary_facts(name, in[0].type.facts, in[1].type.facts);
  } else {
    std::vector<RowArgument> known;
    for (size_t k = 0; k < in.size(); ++k) {
      if (!within(in[k].type.facts, bound_of(row, k))) return std::nullopt;
      known.push_back({*sizes_of(*parts[k], sizes), in[k].type.facts, in[k].text});
    }
    facts = row_facts(row, known, *out);
  }
  if (!facts) return std::nullopt;
  std::string text;
  const bool call = std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  if (call)
    for (const Made& m : in) text += (text.empty() ? "" : ", ") + m.text;
  else
    text = in.size() == 1 ? std::string(name) + in[0].text : fmt::format("{} {} {}", in[0].text, name, in[1].text);
  return Made{fmt::format("{}({})", call ? name : "", text), {out->kind, out->rows, out->cols, *facts}};
}

void names_of(const Expr& e, std::vector<std::string>& out) {
  if (const auto* n = std::get_if<Name>(&e.node)) out.push_back(n->name);
  for (const Expr* i : Patterns::operands(e)) names_of(*i, out);
}

}  // namespace

std::optional<Made> Writer::pattern(Kind kind, int64_t rows, int64_t cols, int depth) {
  const bool scalar = kind != Kind::matrix;
  const Expr& e = *pick(patterns().all);
  std::vector<std::string> names;
  names_of(e, names);
  for (int trial = 0; trial < 8; ++trial) {
    const int64_t r = scalar ? size() : rows, c = scalar ? size() : cols, k = size();
    Sizes sizes;
    for (const std::string& n : names) {
      const std::vector<std::pair<int64_t, int64_t>> kShapes = {{r, c}, {r, c}, {c, r}, {r, r}, {c, c}, {r, 1},
                                                                {1, c}, {c, 1}, {1, r}, {r, k}, {k, c}, {c, k}};
      const auto [h, w] = pick(kShapes);
      sizes[n] = is_matrix_name(n) ? matrix_meta(h, w) : scalar_meta(Kind::real);
    }
    const std::optional<Meta> out = sizes_of(e, sizes);
    if (!out) continue;
    if (scalar ? !is_number(out->kind) : out->kind != Kind::matrix || out->rows != rows || out->cols != cols) continue;
    Operands operands;
    for (const auto& [n, m] : sizes)
      operands[n] =
          m.kind == Kind::matrix ? matrix(m.rows, m.cols, anything(), depth - 1) : number(anything(), depth - 1);
    return build(e, sizes, operands);
  }
  return std::nullopt;
}

}  // namespace hopline::tests
