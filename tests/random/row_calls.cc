// Calls made from the operator table alone: kinds of arguments by the row, sizes by trial of its infer().
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "runtime/ops/apply.h"
#include "runtime/ops/infer.h"
#include "tests/random/writer.h"

namespace hopline::tests {

namespace {

constexpr int kTrials = 8;  // draws of sizes until the row takes them

double number_of(const Value& v) {
  if (const auto* b = std::get_if<bool>(&v)) return *b ? 1 : 0;
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&v)) return *d;
  return 0;
}

}  // namespace

RowArgument Writer::draw_argument(const Op& op, size_t i, int64_t rows, int64_t cols) {
  const Param& p = op.params.list[std::min<size_t>(i, op.params.count - 1u)];
  RowArgument out;
  out.meta.kind = Kind::none;
  if (!p.required() && chance(p.name == "rows" || p.name == "cols" ? 0.2 : 0.6)) return out;
  const bool takes_matrix = (p.accepts & kMatrix) != 0, takes_number = (p.accepts & kNumber) != 0;
  if (takes_matrix && (!takes_number || chance(p.name == "B" || p.name == "by" ? 0.4 : 0.75))) {
    const std::vector<int64_t> sizes = {rows, rows, cols, 1, between(1, 6)};
    const std::vector<int64_t> widths = {cols, cols, rows, 1, between(1, 6)};
    out.meta = matrix_meta(pick(sizes), pick(widths));
    out.facts = bound_of(op, i);
    return out;
  }
  const std::vector<std::string> literals = literals_of(op, p, rows, cols);
  if (literals.empty()) return out;
  out.text = pick(literals);
  const Value v = literal_value(out.text);
  out.meta = meta_of(v);
  out.facts = exactly(number_of(v));
  return out;
}

std::vector<RowArgument> Writer::draw_arguments(const Op& op, int64_t rows, int64_t cols) {
  size_t count = op.params.count;
  if (op.params.variadic) count += below(3);
  std::vector<RowArgument> in;
  for (size_t i = 0; i < count; ++i) in.push_back(draw_argument(op, i, rows, cols));
  return in;
}

std::optional<Made> Writer::finish_call(const Op& op, std::vector<RowArgument> in, const Meta& out, int depth) {
  std::vector<std::string> parts;
  bool named = op.params.naming == Naming::named;
  Made last;
  for (size_t i = 0; i < in.size(); ++i) {
    RowArgument& a = in[i];
    if (a.meta.kind == Kind::none) {
      named = true;  // what follows a gap, too
      continue;
    }
    std::string text = a.text;
    if (a.meta.kind == Kind::matrix) {
      // The same operand twice, now and then.
      const bool again = !last.text.empty() && last.type.rows == a.meta.rows && last.type.cols == a.meta.cols &&
                         within(last.type.facts, a.facts) && chance(0.25);
      const Made m = again ? last : matrix(a.meta.rows, a.meta.cols, a.facts, depth - 1);
      last = m;
      text = m.text;
      a.facts = m.type.facts;
    } else if (const Param& p = op.params.list[std::min<size_t>(i, op.params.count - 1u)];
               (p.accepts & kMatrix) != 0 && is_number(a.meta.kind) && chance(0.5) && op.name != "table" &&
               op.name != "order" && op.name != "matrix") {
      const Made n = number(bound_of(op, i), depth - 1);
      text = n.text;
      a.facts = n.type.facts;
    }
    const bool by_name = named || (op.params.naming == Naming::first_free && i > 0);
    if (by_name && i >= op.params.count) return std::nullopt;
    parts.push_back(by_name ? fmt::format("{}={}", op.params.list[i].name, text) : text);
  }
  const auto facts = row_facts(op, in, out);
  if (!facts) return std::nullopt;
  std::string text = std::string(op.name) + "(";
  if (std::isalpha(static_cast<unsigned char>(op.name[0])) == 0)
    text = "(" + parts[0] + " " + std::string(op.name) + " " + parts[1];
  else
    for (size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", " : "") + parts[i];
  return Made{text + ")", {out.kind, out.rows, out.cols, *facts}};
}

std::optional<Made> Writer::row_call(const Op& op, Kind kind, int64_t rows, int64_t cols, int depth) {
  const bool scalar = kind != Kind::matrix;
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t r = scalar ? size() : rows, c = scalar ? size() : cols;
    std::vector<RowArgument> in = draw_arguments(op, r, c);
    bool gap = false;
    for (size_t i = 0; i < in.size(); ++i)
      gap = gap || (in[i].meta.kind == Kind::none && (i >= op.params.count || op.params.list[i].required()));
    if (gap) continue;
    const std::optional<Meta> out = infer_row(op, in);
    if (!out) continue;
    if (scalar ? !is_number(out->kind) : out->kind != Kind::matrix || out->rows != rows || out->cols != cols) continue;
    return finish_call(op, std::move(in), *out, depth);
  }
  return std::nullopt;
}

std::optional<Made> Writer::row_call(Kind kind, int64_t rows, int64_t cols, int depth) {
  if (rows == 1 && cols > 1 && chance(0.2)) return row_call(op("colSums", 1), kind, rows, cols, depth);
  if (chance(0.15)) return row_call(op("%*%", 2), kind, rows, cols, depth);
  return row_call(*pick(rows_), kind, rows, cols, depth);
}

}  // namespace hopline::tests
