#include "tests/random/rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include "runtime/ops/apply.h"
#include "runtime/ops/infer.h"

namespace hopline::tests {

namespace {

using Arguments = std::vector<RowArgument>;
using Result = std::optional<Facts>;

double cells(const Meta& m) {
  if (m.kind != Kind::matrix) return 1;
  return m.rows < 0 || m.cols < 0 ? 4096 : static_cast<double>(m.rows) * static_cast<double>(m.cols);
}

Facts blurred(double magnitude, double error) {
  Facts f;
  f.low = -magnitude, f.high = magnitude, f.error = error;
  f.finite = false;
  return f;
}

// Cells of the matrices among the arguments, and zeros.
Result moved(const Op&, const Arguments& in, const Meta&) {
  Facts f = exactly(0);
  for (const RowArgument& a : in)
    if (a.meta.kind == Kind::matrix) f = join(f, a.facts);
  return f;
}
// The same where numbers among the arguments are cells, too.
Result filled(const Op& op, const Arguments& in, const Meta& out) {
  Facts f = join(*moved(op, in, out), exactly(1));
  for (const RowArgument& a : in)
    if (is_number(a.meta.kind)) f = join(f, a.facts);
  return f;
}
Result ordered(const Op&, const Arguments& in, const Meta&) {
  return join(in[0].facts, whole(0, std::max<double>(1, cells(in[0].meta))));
}
Result counts(const Op&, const Arguments& in, const Meta&) { return whole(0, cells(in[0].meta)); }
Result sums(const Op&, const Arguments& in, const Meta&) { return sum_of(in[0].facts, cells(in[0].meta)); }
Result means(const Op&, const Arguments& in, const Meta& out) {
  return cells(in[0].meta) == 0 ? Result() : mean_of(in[0].facts, cells(in[0].meta) + cells(out));
}
Result extremes(const Op&, const Arguments& in, const Meta&) {
  Facts f = in[0].facts;
  if (cells(in[0].meta) == 0) f = join(f, exactly(0)), f.finite = false;
  return f;
}
Result products(const Op&, const Arguments& in, const Meta&) {
  if (cells(in[0].meta) > 40) return std::nullopt;
  Facts all = exactly(1), f = all;
  for (int k = 0; k < static_cast<int>(cells(in[0].meta)); ++k) all = join(all, f = product_of(f, in[0].facts));
  return all.finite && all.magnitude() < 1e12 ? Result(all) : std::nullopt;
}
Result spreads(const Op&, const Arguments& in, const Meta&) {
  const double m = in[0].facts.magnitude();
  return blurred(4 * m * m + 1, 1e-13 * (m * m + 1));
}
Result scans(const Op&, const Arguments& in, const Meta&) { return sum_of(in[0].facts, 2 * cells(in[0].meta)); }

Result matrix_product(const Op&, const Arguments& in, const Meta&) {
  return sum_of(product_of(in[0].facts, in[1].facts),
                static_cast<double>(in[0].meta.cols < 0 ? 4096 : in[0].meta.cols));
}
Result by_operator(const Op&, const Arguments& in, const Meta&) {
  const std::string& text = in[2].text;
  return binary_facts(text.substr(1, text.size() - 2), in[0].facts, in[1].facts);
}
Result chosen(const Op&, const Arguments& in, const Meta&) { return join(in[1].facts, in[2].facts); }
Result among(const Op& op, const Arguments& in, const Meta&) {
  Result f = in[0].facts;
  for (size_t i = 1; i < in.size() && f; ++i) f = binary_facts(op.name, *f, in[i].facts);
  return f;
}
Result contingency(const Op&, const Arguments& in, const Meta&) {
  if (in.size() == 2 || in.size() == 4) return whole(0, cells(in[0].meta));
  return with_zero(sum_of(in[2].facts, cells(in[0].meta)));
}
Result smooth(const Op&, const Arguments& in, const Meta&) {
  const double m = in[0].facts.magnitude() + 1;
  return blurred(m * m * m * m, 1e-13 * m * m * m * m);
}
Result sized(const Op&, const Arguments&, const Meta&) { return whole(0, 1e6); }
Result probability(const Op&, const Arguments&, const Meta&) { return blurred(1e6, 1e-11); }

struct RowRule {
  Result (*facts)(const Op&, const Arguments&, const Meta&);
  Facts bound;
};

Facts finite_values(double most = 1e6) {
  Facts f;
  f.low = -most, f.high = most;
  return f;
}
Facts exact_values() {
  Facts f = whole(-64, 64);
  f.bits = 6;
  f.clean = f.nonzero = false;
  return f;
}
Facts same_values() {
  Facts f = anything();
  f.error = 0;
  return f;
}
Facts finite_anything() {
  Facts f = anything();
  f.finite = true;
  return f;
}

const std::map<std::string_view, RowRule>& row_rules() {
  static const std::map<std::string_view, RowRule> kRules = [] {
    std::map<std::string_view, RowRule> r;
    for (const auto* n : {"t", "rev", "roll", "diag", "rbind", "cbind", "as.matrix"}) r[n] = {moved, anything()};
    for (const auto* n : {"lower.tri", "upper.tri", "matrix"}) r[n] = {filled, anything()};
    for (const auto* n : {"replace", "removeEmpty", "unique"}) r[n] = {filled, same_values()};
    r["order"] = {ordered, same_values()};
    for (const auto* n : {"rowIndexMax", "rowIndexMin", "countDistinct", "rowCountDistinct", "colCountDistinct",
                          "countDistinctApprox", "rowCountDistinctApprox", "colCountDistinctApprox", "contains"})
      r[n] = {counts, same_values()};
    for (const auto* n : {"sum", "rowSums", "colSums", "trace", "cumsum", "rowcumsum"})
      r[n] = {sums, finite_anything()};
    for (const auto* n : {"mean", "rowMeans", "colMeans"}) r[n] = {means, finite_anything()};
    for (const auto* n : {"rowMins", "rowMaxs", "colMins", "colMaxs", "cummin", "cummax"})
      r[n] = {extremes, anything()};
    for (const auto* n : {"prod", "rowProds", "colProds", "cumprod"}) r[n] = {products, finite_values(16)};
    for (const auto* n : {"var", "sd", "rowVars", "rowSds", "colVars", "colSds"}) r[n] = {spreads, exact_values()};
    r["cumsumprod"] = {scans, finite_values(1)};
    r["%*%"] = {matrix_product, finite_anything()};
    for (const auto* n : {"outer", "ppred"}) r[n] = {by_operator, anything()};
    r["ifelse"] = {chosen, anything()};
    r["table"] = {contingency, whole(1, 6)};
    for (const auto* n : {"median", "quantile", "interQuartileMean", "moment", "cov", "aggregate"})
      r[n] = {smooth, exact_values()};
    for (const auto* n : {"cdf", "icdf", "pnorm", "pexp", "pchisq", "pf", "pt", "qnorm", "qexp", "qchisq", "qf", "qt"})
      r[n] = {probability, exact_values()};
    for (const auto* n : {"nrow", "ncol", "length", "exists"}) r[n] = {sized, anything()};
    return r;
  }();
  return kRules;
}

// Strings between quotes in the code of a row's example.
std::vector<std::string> strings_of_example(const Op& op) {
  std::vector<std::string> out;
  const std::string_view text = op.example;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '#') at = std::min(text.find('\n', at), text.size());
    if (at >= text.size() || text[at] != '"') continue;
    const size_t end = text.find('"', at + 1);
    if (end == std::string_view::npos) break;
    out.emplace_back(text.substr(at, end - at + 1));
    at = end;
  }
  return out;
}

std::vector<std::string> words_of(const Op& op, std::string_view param) {
  if (param == "op" && op.name == "ppred") return {"\"<\"", "\"<=\"", "\">\"", "\">=\"", "\"==\"", "\"!=\""};
  if (param == "op")
    return {"\"+\"",   "\"-\"", "\"*\"", "\"<\"",  "\">=\"",  "\"==\"", "\"!=\"", "\"min\"",
            "\"max\"", "\"/\"", "\"^\"", "\"%%\"", "\"%/%\"", "\"&\"",  "\"|\""};
  if (param == "margin") return {"\"rows\"", "\"cols\""};
  if (param == "dir") return {"\"rc\"", "\"r\"", "\"c\""};
  if (param == "type") return {"\"KMV\""};
  if (param == "dist") return {"\"normal\"", "\"exp\"", "\"chisq\"", "\"f\"", "\"t\""};
  if (param == "fn")
    return {"\"sum\"", "\"count\"", "\"mean\"", "\"variance\"", "\"min\"", "\"max\"", "\"centralmoment\""};
  return strings_of_example(op);
}

struct TrialInfer : InferCall {
  TrialInfer(const Op& op, std::span<const Meta> in, std::span<Meta> out, std::vector<Value>& values)
      : InferCall(op, in, out, {}, {}), values_(values) {}
  const Value* value(size_t i) override { return values_[i].index() == 0 ? nullptr : &values_[i]; }

 private:
  std::vector<Value>& values_;
};

}  // namespace

std::vector<const Op*> expression_rows() {
  constexpr std::string_view kOwn[] = {"rand",       "sample",    "seq",          "list",     "remove",    "read",
                                       "readMM",     "as.scalar", "as.list",      "solve",    "inv",       "det",
                                       "cholesky",   "einsum",    "time",         "toString", "as.double", "as.integer",
                                       "as.logical", "exists",    "interQuantile"};
  std::vector<const Op*> out;
  for (const OpFamily& family : op_families())
    for (const Op& row : family) {
      if (row.hidden || row.outputs != 1 || row.laws.purity != Purity::pure || row.infer == nullptr) continue;
      if (row.laws.cellwise && row.params.count <= 2 && row.name != "ifelse") continue;  // operators of their own
      if (std::find(std::begin(kOwn), std::end(kOwn), row.name) == std::end(kOwn)) out.push_back(&row);
    }
  return out;
}

Facts bound_of(const Op& op, size_t param) {
  const std::string_view name = op.params.list[std::min<size_t>(param, op.params.count - 1u)].name;
  if (name == "condition") return same_values();
  if (name == "groups") return whole(1, 5);
  if (op.name == "table" && name == "W") return exact_values();
  if (name == "W" || name == "weights" || name == "select") return whole(0, 3);
  if (name == "p") {
    Facts f = whole(0, 1);
    f.bits = 4;
    return f;
  }
  if ((op.name == "min" || op.name == "max") && op.params.count > 1) return anything();
  const auto found = row_rules().find(op.name);
  if (found == row_rules().end()) return whole(-8, 8);
  return found->second.bound;
}

std::vector<std::string> literals_of(const Op& op, const Param& param, int64_t rows, int64_t cols) {
  if ((param.accepts & kString) != 0 && (param.accepts & kNumber) == 0) return words_of(op, param.name);
  const std::string_view name = param.name;
  if (param.default_text == "TRUE" || param.default_text == "FALSE") return {"TRUE", "FALSE"};
  if (name == "rows") return {std::to_string(rows), std::to_string(cols), "1", "2", "6"};
  if (name == "cols") return {std::to_string(cols), std::to_string(rows), "1", "2", "6"};
  if (name == "p") return {"0.25", "0.5", "0", "1", "0.75"};
  if (name == "k") return {"2", "3", "4"};
  if (name == "order") return {"2", "3", "4"};
  if (name == "ngroups") return {"5", "6", "3"};
  if (name == "df" || name == "df1" || name == "df2") return {"1", "3", "10"};
  if (name == "sd" || name == "rate") return {"1", "2", "0.5"};
  if (op.name[0] == 'q' || op.name == "icdf") return {"0.25", "0.5", "0.9"};
  if (name == "pattern") return {"0", "1", "2", "NaN", "-1", "Inf"};
  if (name == "replacement") return {"0", "7", "-2", "0.5", "NaN", "-Inf"};
  if (name == "shift") return {"0", "1", "-1", "2", "7"};
  if (name == "data") return {"0", "1", "-2", "0.5", "3"};
  if (name == "B" || name == "by") return {"1"};
  return {"1", "2", "0", "3", "-1", "0.5"};
}

std::optional<Facts> row_facts(const Op& op, const std::vector<RowArgument>& in, const Meta& out) {
  if ((op.name == "min" || op.name == "max") && in.size() > 1) return among(op, in, out);
  if (op.name == "min" || op.name == "max") return extremes(op, in, out);
  if (op.name == "mean" && in.size() > 1) return smooth(op, in, out);
  const auto found = row_rules().find(op.name);
  if (found == row_rules().end()) return blurred(kInfinity, 1e-13);
  return found->second.facts(op, in, out);
}

Value literal_value(const std::string& text) {
  if (text == "TRUE" || text == "FALSE") return text == "TRUE";
  if (text[0] == '"') return text.substr(1, text.size() - 2);
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  if (text == "NaN") return std::nan("");
  if (text.find("Inf") != std::string::npos) return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  return std::strtod(text.c_str(), nullptr);
}

std::optional<Meta> infer_row(const Op& op, const std::vector<RowArgument>& in) {
  std::vector<Meta> metas, out(op.outputs);
  std::vector<Value> values;
  for (const RowArgument& a : in) {
    metas.push_back(a.meta);
    values.push_back(a.text.empty() ? Value() : literal_value(a.text));
  }
  for (size_t i = in.size(); i < op.params.count && !op.params.variadic; ++i) {
    values.push_back(default_value(op.params.list[i]));
    metas.push_back(meta_of(values.back()));
  }
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].meta.kind == Kind::none && i < op.params.count && !op.params.list[i].required()) {
      values[i] = default_value(op.params.list[i]);
      metas[i] = meta_of(values[i]);
    }
  try {
    TrialInfer call(op, metas, out, values);
    op.infer(call);
    return out[0];
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace hopline::tests
