// Matrices whose sizes nobody knows before the run.
#include <cmath>

#include "tests/random/writer.h"

namespace hopline::tests {

std::optional<Made> Writer::resized(int depth) {
  std::vector<const Variable*> all;
  for (const Variable* v : matrices())
    if (v->type.rows < 0 && v->name[0] == 'U') all.push_back(v);
  if (all.empty()) return std::nullopt;
  const Variable& u = *pick(all);
  const Facts& f = u.type.facts;
  const auto moved = [&](std::string text) { return Made{std::move(text), u.type}; };
  const auto made = [&](std::string text, const std::optional<Facts>& facts) -> std::optional<Made> {
    if (!facts) return std::nullopt;
    return Made{std::move(text), {Kind::matrix, -1, -1, *facts}};
  };
  const auto by_row = [&](std::string_view name) -> std::optional<Made> {
    const Op& row = op(name, 1);
    if (!within(f, bound_of(row, 0))) return std::nullopt;
    const Meta meta = matrix_meta(-1, -1);
    return made(fmt::format("{}({})", name, u.name), row_facts(row, {{meta, f, ""}}, meta));
  };
  switch (below(12)) {
    case 0:
      return moved(fmt::format("t({})", u.name));
    case 1:
      return moved(fmt::format("rev({})", u.name));
    case 2:
      return moved(fmt::format("cbind({0}, {0})", u.name));
    case 3:
      return moved(fmt::format("rbind({0}, {0}[1, ])", u.name));
    case 4:
      return moved(fmt::format("{0}[1:max(1, nrow({0}) - 1), ]", u.name));
    case 5:
      return moved(fmt::format("{0}[nrow({0}), 1:ncol({0})]", u.name));
    case 6: {
      const Op& row = *pick(unary_);
      const bool call = std::isalpha(static_cast<unsigned char>(row.name[0])) != 0;
      return made(fmt::format("{}({})", row.name, u.name).insert(0, call ? "" : "0 + "), unary_facts(row.name, f));
    }
    case 7: {
      const Made s = number(anything(), depth - 1);
      const bool plus = chance(0.5);
      return made(fmt::format("({} {} {})", u.name, plus ? "+" : "*", s.text),
                  binary_facts(plus ? "+" : "*", f, s.type.facts));
    }
    case 8:
      return made(fmt::format("({0} * ({0} > 1))", u.name),
                  f.determined() && f.finite ? std::optional(with_zero(f)) : std::nullopt);
    case 9: {
      const bool left = chance(0.5);
      return made(fmt::format(fmt::runtime(left ? "(t({0}) %*% {0})" : "({0} %*% t({0}))"), u.name),
                  f.finite ? std::optional(sum_of(product_of(f, f), 4096)) : std::nullopt);
    }
    case 10:
      return by_row(pick(std::vector<const char*>{"rowSums", "colSums", "rowMaxs", "colMins", "cumsum"}));
    default:
      return made(fmt::format("({0} - colSums({0}))", u.name),
                  f.finite ? binary_facts("-", f, sum_of(f, 4096)) : std::nullopt);
  }
}

Made Writer::sized_by_run(int depth) {
  if (chance(0.5))
    if (auto m = resized(depth)) return *m;
  Facts need = anything();
  need.error = 0;
  const int64_t rows = between(1, 8), cols = between(1, 5);
  const Made m = matrix(rows, cols, need, depth);
  const Facts f = with_zero(m.type.facts);
  const auto made = [](std::string text, const Facts& facts) {
    return Made{std::move(text), {Kind::matrix, -1, -1, facts}};
  };
  switch (below(7)) {
    case 0:
      return made(fmt::format("removeEmpty(target={}, margin=\"{}\")", m.text, chance(0.5) ? "rows" : "cols"), f);
    case 1:
      return made(fmt::format("unique({})", m.text), f);
    case 2: {
      const Made codes = matrix(rows, 1, whole(1, 5), depth), others = matrix(rows, 1, whole(1, 4), 1);
      return made(fmt::format("table({}, {})", codes.text, others.text), whole(0, static_cast<double>(rows)));
    }
    case 3: {
      const Made select = matrix(rows, 1, whole(0, 1), depth);
      return made(fmt::format("removeEmpty(target={}, margin=\"rows\", select={})", m.text, select.text), f);
    }
    case 4:
      return made(fmt::format("seq(1, {})", index(6).text), whole(1, 6));
    case 5: {
      const Made s = number(need, depth - 1);
      return made(fmt::format("matrix({}, rows={}, cols={})", s.text, index(5).text, index(4).text), s.type.facts);
    }
    default: {
      std::vector<const Variable*> fits;
      for (const Variable* v : matrices())
        if (v->type.rows > 0 && v->type.cols > 0 && v->type.rows < 9 && v->type.cols < 9) fits.push_back(v);
      if (fits.empty()) return made(fmt::format("removeEmpty(target={}, margin=\"rows\")", m.text), f);
      const Variable& v = *pick(fits);
      return made(fmt::format("{}[1:{}, ]", v.name, index(v.type.rows).text), v.type.facts);
    }
  }
}

}  // namespace hopline::tests
