// Every rule on random operands: it fires on some shape, and both sides agree in values and sizes.
#include "planner/rewrite/rules.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>

#include "frontend/syntax/parse.h"
#include "planner/rewrite/rewrite.h"
#include "tests/unit/op_testing.h"

namespace hopline {

namespace {

struct Operands {
  std::map<std::string, Value> values;
  std::map<std::string, const Hop*> hops;
};

// Builds the hop and computes the value of a side of a rule; unknown names become operands of the given shape.
struct Side {
  OpTest& test;
  Builder& builder;
  Operands& operands;
  int64_t rows, cols;
  bool sparse;

  std::pair<const Hop*, Value> operator()(const Expr& e) {
    if (const auto* n = std::get_if<Name>(&e.node)) return name(n->name);
    if (const auto* l = std::get_if<Literal>(&e.node)) {
      const Value v = std::visit([](const auto& x) { return Value(x); }, l->value);
      return {builder.literal(v, {}), v};
    }
    std::vector<const Hop*> hops;
    std::vector<Value> values;
    const auto add = [&](const Expr& operand) {
      auto [hop, value] = (*this)(operand);
      hops.push_back(hop);
      values.push_back(value);
    };
    const auto* o = std::get_if<Operator>(&e.node);
    const auto* c = std::get_if<CallExpr>(&e.node);
    if (o != nullptr)
      for (const Expr* operand : o->operands) add(*operand);
    else
      for (const Argument& a : c->arguments) add(*a.value);
    const std::string& op_name = o != nullptr ? o->symbol : c->name;
    Value out = apply(test.ctx, op(op_name, values.size()), values).front();
    return {builder.make(op_name, hops, {}), std::move(out)};
  }

  std::pair<const Hop*, Value> name(const std::string& n) {
    if (operands.values.count(n) == 0) {
      const auto slot = static_cast<int32_t>(operands.values.size());
      if (std::isupper(static_cast<unsigned char>(n[0])) == 0) {
        operands.values[n] = 1.5;
        operands.hops[n] = builder.dag().input(slot, -1, scalar_meta(Kind::real), {});
      } else {
        auto m = new_dense<double>(test.ctx, rows, cols);
        for (int64_t i = 0; i < m->cells(); ++i)
          m->dense<double>()[i] = sparse && i % 3 != 0 ? 0 : std::sin(static_cast<double>(i * 7 + slot * 13 + 1)) * 3;
        const MatrixRef block = sparse ? to_sparse<double>(test.ctx, MatrixRef(std::move(m))) : MatrixRef(std::move(m));
        operands.values[n] = block;
        operands.hops[n] = builder.dag().input(slot, -1, matrix_meta(rows, cols), {});
      }
    }
    return {operands.hops[n], operands.values[n]};
  }
};

std::vector<double> cells_of(OpTest& test, const Value& v) {
  if (kind_of(v) == Kind::matrix) return test.cells(v);
  return {std::get<double>(v)};
}

// True when the rule fired on this shape.
bool try_rule(const Rule& rule, int64_t rows, int64_t cols, bool sparse) {
  OpTest test;
  Ast ast;
  SourceFiles files;
  const Expr* left = parse_expression(ast, files, files.add("left", std::string(rule.pattern)));
  const Expr* right = parse_expression(ast, files, files.add("right", std::string(rule.replacement)));
  Dag dag;
  Builder builder(dag, test.ctx, nullptr);
  Operands operands;
  Side side{test, builder, operands, rows, cols, sparse};
  try {
    const auto [hop, before] = side(*left);
    const Hop* better = apply_rule(rule, hop, builder);
    if (better == nullptr) return false;
    const Value after = side(*right).second;
    EXPECT_EQ(better->meta.rows, hop->meta.rows) << rule.name;
    EXPECT_EQ(better->meta.cols, hop->meta.cols) << rule.name;
    const std::vector<double> a = cells_of(test, before), b = cells_of(test, after);
    EXPECT_EQ(a.size(), b.size()) << rule.name;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-11 * (1 + std::fabs(a[i]))) << rule.name << " cell " << i;
    return true;
  } catch (const Error&) {
    return false;  // the pattern does not take operands of this shape
  }
}

}  // namespace

TEST(Rules, FireAndAgree) {
  constexpr std::pair<int64_t, int64_t> kShapes[] = {{4, 4}, {1, 5}, {5, 1}, {1, 1}, {3, 6}};
  for (const Rule& rule : rules()) {
    bool fired = false;
    for (const auto& [rows, cols] : kShapes)
      for (const bool sparse : {false, true}) fired = try_rule(rule, rows, cols, sparse) || fired;
    EXPECT_TRUE(fired) << rule.name;
  }
}

TEST(Rules, HaveNamesOfTheirOwn) {
  std::map<std::string_view, int> names;
  for (const Rule& r : rules()) EXPECT_EQ(++names[r.name], 1) << r.name;
}

}  // namespace hopline
