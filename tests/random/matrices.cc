// Expressions of matrices.
#include <algorithm>
#include <cmath>

#include "tests/random/writer.h"

namespace hopline::tests {

namespace {

bool is_infix(std::string_view name) { return std::isalpha(static_cast<unsigned char>(name[0])) == 0; }
constexpr int64_t kLargestProduct = 5000;  // cells of an operand that is made up

}  // namespace

int64_t Writer::size() {
  if (chance(0.04)) return 0;
  if (chance(0.2)) return 1;
  if (chance(0.04)) return between(20, 70);
  if (chance(0.01)) return between(100, 400);
  return between(2, 7);
}

std::string Writer::cells_text(int64_t count, const Facts& need) {
  std::string out;
  const double zeros = chance(0.4) ? 0.7 : 0.2;
  for (int64_t i = 0; i < count; ++i) {
    double value = 0;
    if (!chance(zeros) || need.nonzero || need.low > 0) {
      const double low = std::max(need.low, -4.0), high = std::max(low, std::min(need.high, 6.0));
      const double unit = need.exact && need.bits == 0 ? 1 : chance(0.7) ? 1 : 0.5;
      value = std::ceil(low / unit) * unit +
              unit * static_cast<double>(below(static_cast<size_t>(std::floor((high - low) / unit)) + 1));
      if (value > high || (need.nonzero && value == 0)) value = high;
    }
    out += fmt::format("{}{}", i == 0 ? "" : " ", value);
  }
  return out;
}

Made Writer::random_matrix(int64_t rows, int64_t cols) {
  const bool seeded = chance(0.8);
  const std::string seed = seeded ? fmt::format(", seed={}", between(1, 30)) : "";
  const bool thin = chance(0.4);
  const std::string sparsity =
      thin ? fmt::format(", sparsity={}", pick(std::vector<double>{0.1, 0.5, 0, 0.02, 1})) : "";
  Facts f;
  std::string rest;
  if (chance(0.1)) {
    f.low = -40, f.high = 40;
    rest = ", pdf=\"normal\"";
  } else if (chance(0.1)) {
    f = whole(0, 1000);
    rest = ", pdf=\"poisson\", lambda=3";
  } else {
    const int64_t low = between(-3, 1), high = low + between(0, 4);
    f.low = static_cast<double>(low), f.high = static_cast<double>(high);
    if (low == high) f = exactly(f.low);
    rest = fmt::format(", min={}, max={}", low, high);
  }
  if (thin || f.low < 0) f.nonzero = false;
  f.clean = false;
  if (thin) f = with_zero(f);
  const std::string draw = fmt::format("rand(rows={}, cols={}{}{}{})", rows, cols, rest, sparsity, seed);
  Made out{draw, {Kind::matrix, rows, cols, f}};
  if (!f.exact && chance(0.5)) {
    out.text = fmt::format("round({} * {})", draw, 2);
    out.type.facts = whole(std::floor(2 * f.low), std::ceil(2 * f.high));
    out.type.facts.clean = out.type.facts.nonzero = false;
  }
  return out;
}

Made Writer::matrix_literal(int64_t rows, int64_t cols, const Facts& need) {
  if (chance(0.35)) {
    const Made r = random_matrix(rows, cols);
    if (within(r.type.facts, need)) return r;
  }
  if (cols == 1 && rows > 0 && chance(0.3)) {
    const int64_t from = between(-3, 3);
    const Facts f = join(exactly(static_cast<double>(from)), exactly(static_cast<double>(from + rows - 1)));
    if (within(f, need)) return {fmt::format("seq({}, {})", from, from + rows - 1), {Kind::matrix, rows, cols, f}};
  }
  const int64_t count = rows * cols;
  if (!need.finite && need.low < -2 && count > 0 && count <= 20 && chance(0.08)) {
    std::string cells;
    const std::vector<const char*> kCells = {"NaN", "Infinity", "-Infinity", "0", "1", "-2", "0", "3"};
    for (int64_t k = 0; k < count; ++k) cells += (k > 0 ? " " : "") + std::string(pick(kCells));
    Facts f = integral(-2, 3);
    f.finite = false;
    if (within(f, need))
      return {fmt::format("matrix(\"{}\", rows={}, cols={})", cells, rows, cols), {Kind::matrix, rows, cols, f}};
  }
  if (count > 0 && count <= 42 && chance(0.7)) {
    Facts f = need;
    f.low = std::max(need.low, -4.0), f.high = std::max(f.low, std::min(need.high, 6.0));
    if (!need.exact) f.bits = 1;
    f.bits = std::min(f.bits, 1);
    f.exact = f.clean = true;
    f.error = 0, f.finite = true;
    if (need.low > 0 || need.high < 0) f.nonzero = true;
    if (!f.nonzero) f = with_zero(f);
    return {fmt::format("matrix(\"{}\", rows={}, cols={})", cells_text(count, need), rows, cols),
            {Kind::matrix, rows, cols, f}};
  }
  const Made cell = number_literal(need);
  return {fmt::format("matrix({}, rows={}, cols={})", cell.text, rows, cols),
          {Kind::matrix, rows, cols, cell.type.facts}};
}

std::optional<Made> Writer::variable_of(int64_t rows, int64_t cols) {
  std::vector<const Variable*> fits;
  for (const Variable* v : matrices())
    if (v->type.rows == rows && v->type.cols == cols) fits.push_back(v);
  if (fits.empty()) return std::nullopt;
  const Variable& v = *pick(fits);
  return Made{v.name, v.type};
}

Made Writer::matrix(int64_t rows, int64_t cols, const Facts& need, int depth) {
  for (int tries = 0; tries < 4; ++tries) {
    auto made = chance(0.45) || depth <= 0 ? variable_of(rows, cols) : try_matrix(rows, cols, depth);
    if (!made) continue;
    if (auto fits = adapt(std::move(*made), need)) return *fits;
  }
  return matrix_literal(rows, cols, need);
}

std::optional<Made> Writer::try_matrix(int64_t rows, int64_t cols, int depth) {
  switch (below(15)) {
    case 12:
    case 13:
      return pattern(Kind::matrix, rows, cols, depth);
    case 14:
      return chain(rows, cols, depth);
    case 0:
      return cellwise_unary(rows, cols, depth);
    case 1:
    case 2:
    case 3:
      return cellwise_binary(rows, cols, depth);
    case 4:
      return part_of_variable(rows, cols);
    case 5:
      return reshaped(rows, cols, depth);
    case 6:
      return call_of(Kind::matrix, rows, cols, depth);
    case 7:
      if (rows == 1 && cols == 1) {
        const Made s = number(anything(), depth - 1);
        return Made{fmt::format("as.matrix({})", s.text), {Kind::matrix, 1, 1, s.type.facts}};
      }
      return chance(0.2) ? solved(rows, cols) : std::optional(matrix_literal(rows, cols, anything()));
    default:
      return row_call(Kind::matrix, rows, cols, depth);
  }
}

std::optional<Made> Writer::cellwise_unary(int64_t rows, int64_t cols, int depth) {
  const Op& op = *pick(unary_);
  const Made x = matrix(rows, cols, anything(), depth - 1);
  const auto facts = unary_facts(op.name, x.type.facts);
  if (!facts) return std::nullopt;
  const char* form = is_infix(op.name) ? "({}{})" : "{}({})";
  return Made{fmt::format(fmt::runtime(form), op.name, x.text), {Kind::matrix, rows, cols, *facts}};
}

std::optional<Made> Writer::cellwise_binary(int64_t rows, int64_t cols, int depth) {
  const Op& op = *pick(binary_);
  Made x, y;
  const int form = static_cast<int>(below(8));
  if (form == 0) {
    x = number(anything(), depth - 1);
    y = matrix(rows, cols, anything(), depth - 1);
  } else if (form == 1 && rows > 1 && cols > 1) {  // a column by a row
    x = matrix(rows, 1, anything(), depth - 1);
    y = matrix(1, cols, anything(), depth - 1);
  } else {
    x = matrix(rows, cols, anything(), depth - 1);
    if (form == 2)
      y = matrix(rows, 1, anything(), depth - 1);
    else if (form == 3)
      y = matrix(1, cols, anything(), depth - 1);
    else if (form == 4)
      y = matrix(1, 1, anything(), depth - 1);
    else if (form == 5 || form == 6)
      y = number(anything(), depth - 1);
    else
      y = chance(0.15) ? x : matrix(rows, cols, anything(), depth - 1);
  }
  const auto facts = binary_facts(op.name, x.type.facts, y.type.facts);
  if (!facts) return std::nullopt;
  const std::string call = is_infix(op.name) ? fmt::format("({} {} {})", x.text, op.name, y.text)
                                             : fmt::format("{}({}, {})", op.name, x.text, y.text);
  return Made{call, {Kind::matrix, rows, cols, *facts}};
}

std::optional<Made> Writer::part_of_variable(int64_t rows, int64_t cols) {
  std::vector<const Variable*> fits;
  for (const Variable* v : matrices())
    if (v->type.rows >= rows && v->type.cols >= cols) fits.push_back(v);
  if (fits.empty() || rows == 0 || cols == 0) return std::nullopt;
  const Variable& v = *pick(fits);
  const auto side = [&](int64_t length, int64_t all) -> std::string {
    if (length == all && chance(0.6)) return "";
    const auto [low, high] = bounds(length, all);
    return high.empty() ? low : low + ":" + high;
  };
  const std::string first = side(rows, v.type.rows), second = side(cols, v.type.cols);
  return Made{fmt::format("{}[{}, {}]", v.name, first, second), {Kind::matrix, rows, cols, v.type.facts}};
}

std::optional<Made> Writer::reshaped(int64_t rows, int64_t cols, int depth) {
  const int64_t count = rows * cols;
  if (count > kLargestProduct) return std::nullopt;
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= count; ++d)
    if (count % d == 0) divisors.push_back(d);
  const int64_t r = count == 0 ? 0 : pick(divisors), c = count == 0 ? cols + rows : count / r;
  const Made x = matrix(r, c, anything(), depth - 1);
  if (count == 0) return std::nullopt;
  const char* byrow = chance(0.6) ? "" : chance(0.5) ? ", byrow=FALSE" : ", byrow=TRUE";
  return Made{fmt::format("matrix({}, rows={}, cols={}{})", x.text, rows, cols, byrow),
              {Kind::matrix, rows, cols, x.type.facts}};
}

std::optional<Made> Writer::chain(int64_t rows, int64_t cols, int depth) {
  std::vector<int64_t> sizes = {rows};
  for (int64_t k = between(1, 4); k > 0; --k) sizes.push_back(size());
  sizes.push_back(cols);
  Facts small = integral(-2, 2);
  std::string text;
  Facts facts;
  for (size_t k = 0; k + 1 < sizes.size(); ++k) {
    const Made m = chance(0.6) ? matrix(sizes[k], sizes[k + 1], small, depth - 1)
                               : Made{fmt::format("t({})", matrix(sizes[k + 1], sizes[k], small, depth - 1).text),
                                      {Kind::matrix, sizes[k], sizes[k + 1], small}};
    text += (k == 0 ? "" : " %*% ") + m.text;
    facts = k == 0 ? m.type.facts : sum_of(product_of(facts, m.type.facts), static_cast<double>(sizes[k]));
  }
  return Made{"(" + text + ")", {Kind::matrix, rows, cols, facts}};
}

// Systems that are far from singular: a diagonal that outweighs the rest of its row.
std::optional<Made> Writer::solved(int64_t rows, int64_t cols) {
  if (rows == 0 || rows > 8) return std::nullopt;
  Facts small = whole(-2, 2);
  small.clean = small.nonzero = false;
  const Made a = matrix_literal(rows, rows, small);
  const std::string system = fmt::format("({} + diag(matrix(20, rows={}, cols=1)))", a.text, rows);
  Facts f;
  f.low = -1e3, f.high = 1e3, f.error = 1e-13;
  if (rows == cols && chance(0.3)) return Made{fmt::format("inv({})", system), {Kind::matrix, rows, cols, f}};
  if (rows == cols && chance(0.3)) {
    const Made x = matrix_literal(rows, rows, small);
    return Made{fmt::format("cholesky(t({0}) %*% {0} + diag(matrix(20, rows={1}, cols=1)))", x.text, rows),
                {Kind::matrix, rows, cols, f}};
  }
  if (rows == cols && chance(0.3)) return Made{fmt::format("solve({0}, {0})", system), {Kind::matrix, rows, cols, f}};
  const Made b = matrix_literal(rows, cols, small);
  return Made{fmt::format("solve({}, {})", system, b.text), {Kind::matrix, rows, cols, f}};
}

}  // namespace hopline::tests
