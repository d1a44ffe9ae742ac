// Every kernel of every row with matrix operands that is not cell-wise, against the row's last kernel on dense
// operands: the same cells stored dense, compressed or as a rule, in every shape, with special values, in place or not.
// Rows of one kernel are compared with themselves on dense operands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "runtime/base/config.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/apply.h"
#include "tests/random/rows.h"

namespace hopline {
namespace {

using tests::bound_of;
using tests::Facts;
using tests::RowArgument;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kShapes[][2] = {{3, 5}, {1, 1}, {1, 7}, {9, 1}, {0, 4}, {4, 0}, {8, 8}, {40, 30}, {90, 3}, {1, 90}};
constexpr int kDraws = 40;     // of arguments that the row takes, per row
constexpr int kTrials = 4000;  // of arguments to find them

enum class Content { mixed, special, system, zero, constant, sequence, random };
enum class Store { dense, compressed, rule };

// Kernels whose sums and products may skip cells that are 0, whatever stands against them (design 4).
bool may_skip_zeros(const Op& op) {
  for (const std::string_view name : {"%*%", "tmm", "mmt", "tsmm", "tsmmr", "einsum", "cumsumprod"})
    if (op.name == name) return true;
  return false;
}

class Stores {
 public:
  Config config;
  Memory memory{int64_t{2} << 30};
  Context ctx{memory, config, Precision::f64, 2, nullptr};

  struct Operand {
    RowArgument argument;
    Content content = Content::mixed;
    bool is_matrix() const { return argument.meta.kind == Kind::matrix; }
  };
  using Operands = std::vector<Operand>;

  // What comes out: values, or the message of an error.
  struct Outcome {
    bool accepted = true;
    std::vector<Value> values;
    std::string error;
  };

  void check(const Op& op) {
    std::mt19937_64 engine(static_cast<uint64_t>(op.name[0]) * 131 + op.params.count);
    int drawn = 0;
    for (int trial = 0; trial < kTrials && drawn < kDraws; ++trial) {
      Operands operands;
      if (!draw(op, engine, operands)) continue;
      ++drawn;
      for (int contents = 0; contents < 3; ++contents) {
        for (size_t i = 0; i < operands.size(); ++i)
          if (operands[i].is_matrix()) operands[i].content = draw_content(op, i, operands[i], engine);
        const std::string wrong = compare(op, operands);
        if (wrong.empty()) continue;
        ADD_FAILURE() << wrong;  // the first of the row
        return;
      }
    }
    EXPECT_GT(drawn, 0) << op.name << ": no arguments found that the row takes";
  }
  int64_t compared = 0;

 private:
  static size_t below(std::mt19937_64& engine, size_t n) { return engine() % n; }

  static bool draw(const Op& op, std::mt19937_64& engine, Operands& out) {
    const auto& shape = kShapes[below(engine, std::size(kShapes))];
    const size_t count = op.params.count + (op.params.variadic ? below(engine, 3) : 0);
    std::vector<RowArgument> arguments;
    for (size_t i = 0; i < count; ++i) {
      const Param& p = op.params.list[std::min<size_t>(i, op.params.count - 1u)];
      RowArgument a;
      a.meta.kind = Kind::none;
      if (p.name.size() > 5 && p.name.substr(p.name.size() - 5) == "_high") {  // of a single index
        arguments.push_back(arguments.back());
        continue;
      }
      const bool left_out = !p.required() && below(engine, 2) == 0;
      if (!left_out && (p.accepts & kMatrix) != 0 && ((p.accepts & kNumber) == 0 || below(engine, 4) > 0)) {
        const int64_t sizes[] = {shape[0], shape[0], shape[0], shape[1], 1};
        const int64_t widths[] = {shape[1], shape[1], shape[0], 1, 2};
        a.meta = matrix_meta(sizes[below(engine, 5)], widths[below(engine, 5)]);
      } else if (!left_out) {
        const std::vector<std::string> literals = tests::literals_of(op, p, shape[0], shape[1]);
        if (literals.empty()) return false;
        a.text = literals[below(engine, literals.size())];
        a.meta = meta_of(tests::literal_value(a.text));
      }
      arguments.push_back(std::move(a));
    }
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      any = any || arguments[i].meta.kind == Kind::matrix;
      if (arguments[i].meta.kind == Kind::none && (i >= op.params.count || op.params.list[i].required())) return false;
    }
    if (!any || !tests::infer_row(op, arguments)) return false;
    for (RowArgument& a : arguments) out.push_back({std::move(a), Content::mixed});
    return true;
  }

  static Content draw_content(const Op& op, size_t i, const Operand& operand, std::mt19937_64& engine) {
    const Meta& m = operand.argument.meta;
    const std::string_view param = op.params.list[std::min<size_t>(i, op.params.count - 1u)].name;
    if (param == "A" && (op.name == "solve" || op.name == "inv" || op.name == "det" || op.name == "cholesky" ||
                         op.name == "eigen" || op.name == "svd" || op.name == "lu" || op.name == "qr"))
      return Content::system;
    const Facts bound = bound_of(op, i);
    std::vector<Content> fits = {Content::mixed, Content::mixed, Content::constant};
    if (!bound.finite) fits.push_back(Content::special), fits.push_back(Content::special);
    if (bound.low <= 0) fits.push_back(Content::zero), fits.push_back(Content::mixed);
    const auto longest = static_cast<double>(std::max(m.rows, m.cols));
    if ((m.rows == 1 || m.cols == 1) && bound.high >= longest && bound.low <= 1) fits.push_back(Content::sequence);
    if (!bound.exact) fits.push_back(Content::random);
    return fits[below(engine, fits.size())];
  }

  static double cell(int64_t e, const Facts& bound) {
    constexpr double kCells[] = {0, 2, 0, 1, 3, 0, 0, -2, 5, 0, 1, 0, -1, 4};
    const double v = kCells[static_cast<size_t>(e * 5 + e / 7) % std::size(kCells)];
    return std::min(std::max(v, bound.low), bound.high);
  }
  static double special(int64_t e) {
    constexpr double kSpecial[] = {kNan, 1, kInf, 0, -kInf, 0, -2, 0, 3, 0};
    return kSpecial[static_cast<size_t>(e) % std::size(kSpecial)];
  }

  MatrixRef dense(const Meta& m, const auto& at) {
    auto block = new_dense<double>(ctx, m.rows, m.cols);
    for (int64_t r = 0; r < m.rows; ++r)
      for (int64_t c = 0; c < m.cols; ++c) block->dense<double>()[r * m.cols + c] = at(r, c);
    return block;
  }

  // The cells of operand number `i` as a rule where there is one, dense otherwise.
  MatrixRef content(const Op& op, size_t i, const Operand& operand) {
    const Meta& m = operand.argument.meta;
    const Facts bound = bound_of(op, i);
    const auto salt = static_cast<int64_t>(i);
    switch (operand.content) {
      case Content::mixed:
        return dense(m, [&](int64_t r, int64_t c) { return cell(r * m.cols + c + salt, bound); });
      case Content::special:
        return dense(m, [&](int64_t r, int64_t c) { return special(r * 3 + c * 7 + salt); });
      case Content::system:
        return dense(m, [](int64_t r, int64_t c) { return r == c ? 90.0 : static_cast<double>((r + c) % 3 - 1); });
      case Content::zero:
        return new_constant(ctx, m.rows, m.cols, 0);
      case Content::constant:
        return new_constant(ctx, m.rows, m.cols, cell(2 * salt + 1, bound));
      case Content::sequence:
        return new_virtual(ctx, m.rows, m.cols, Sequence{1, 1, m.cols > 1});
      case Content::random:
        return new_virtual(ctx, m.rows, m.cols, Random{Distribution::uniform, 0, 1, 1, salt == 0 ? 0.3 : 1, 7, 0});
    }
    return nullptr;
  }

  std::vector<Value> make(const Op& op, const Operands& operands, const std::vector<Store>& stores) {
    std::vector<Value> out;
    for (size_t i = 0; i < operands.size(); ++i) {
      const RowArgument& a = operands[i].argument;
      if (a.meta.kind == Kind::none) {
        out.push_back(default_value(op.params.list[i]));
      } else if (!operands[i].is_matrix()) {
        out.push_back(tests::literal_value(a.text));
      } else {
        MatrixRef m = content(op, i, operands[i]);
        if (stores[i] == Store::dense) m = to_dense<double>(ctx, m);
        if (stores[i] == Store::compressed) m = to_sparse<double>(ctx, m);
        out.push_back(std::move(m));
      }
    }
    for (size_t i = out.size(); i < op.params.count && !op.params.variadic; ++i)
      out.push_back(default_value(op.params.list[i]));
    return out;
  }

  Outcome run(const Op& op, const Kernel& kernel, std::vector<Value> values, bool in_place) {
    Outcome out;
    std::vector<Value*> in;
    for (Value& v : values) in.push_back(&v);
    out.values.resize(op.outputs);
    Call call{ctx, op, in, out.values, in_place ? ~0U : 0U, {}, {}};
    try {
      check_sizes(call);
      out.accepted = kernel.accepts == nullptr || kernel.accepts(call);
      if (out.accepted) kernel.run(call);
    } catch (const Error& error) {
      out.error = error.what();
    }
    return out;
  }

  std::vector<double> cells(const Value& v) {
    if (const auto* b = std::get_if<bool>(&v)) return {*b ? 1.0 : 0.0};
    if (const auto* i = std::get_if<int64_t>(&v)) return {static_cast<double>(*i)};
    if (const auto* d = std::get_if<double>(&v)) return {*d};
    if (kind_of(v) != Kind::matrix) return {};
    const MatrixRef m = to_dense<double>(ctx, std::get<MatrixRef>(v));
    return {m->dense<double>(), m->dense<double>() + m->cells()};
  }

  // A compressed block: rows in order, columns ascending, no zeros among the values, the count right.
  static std::string check_stored(const Value& v) {
    if (kind_of(v) != Kind::matrix || !std::get<MatrixRef>(v)->is_sparse()) return "";
    const MatrixBlock& m = *std::get<MatrixRef>(v);
    const auto* offsets = m.csr().offsets.as<int64_t>();
    const auto* columns = m.csr().columns.as<int32_t>();
    if (offsets[m.rows()] != m.nnz_if_known())
      return fmt::format(" counts {} and holds {}", m.nnz_if_known(), offsets[m.rows()]);
    for (int64_t r = 0; r < m.rows(); ++r)
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
        if (m.csr().values.as<double>()[k] == 0) return " stores a zero";
        if (columns[k] < 0 || columns[k] >= m.cols()) return " has a column outside";
        if (k > offsets[r] && columns[k - 1] >= columns[k]) return " has columns out of order";
      }
    return "";
  }

  static std::string describe(const Op& op, const Operands& operands) {
    std::string out = std::string(op.name);
    for (const Operand& o : operands) {
      const RowArgument& a = o.argument;
      if (o.is_matrix())
        out += " " + std::to_string(a.meta.rows) + "x" + std::to_string(a.meta.cols) + "/" +
               std::to_string(static_cast<int>(o.content));
      else
        out += " " + (a.text.empty() ? std::string("-") : a.text);
    }
    return out;
  }

  std::string same_value(const Op& op, const Value& want, const Value& have) {
    if (std::string wrong = check_stored(have); !wrong.empty()) return wrong;
    if (kind_of(have) != kind_of(want)) return " is of another kind";
    if (const auto* text = std::get_if<std::string>(&want); text != nullptr && std::get<std::string>(have) != *text)
      return " is " + std::get<std::string>(have) + " instead of " + *text;
    const Meta meta = meta_of(have), wanted = meta_of(want);
    if (meta.rows != wanted.rows || meta.cols != wanted.cols)
      return fmt::format(" is {}x{} instead of {}x{}", meta.rows, meta.cols, wanted.rows, wanted.cols);
    const std::vector<double> a = cells(have), b = cells(want);
    int64_t nonzeros = 0;
    for (size_t e = 0; e < a.size(); ++e) {
      nonzeros += a[e] != 0 ? 1 : 0;
      const bool equal = a[e] == b[e] || (std::isnan(a[e]) && std::isnan(b[e])) ||
                         std::fabs(a[e] - b[e]) <= 1e-11 * std::max(1e-2, std::fabs(b[e]));
      if (!equal && !(may_skip_zeros(op) && !std::isfinite(b[e])))
        return fmt::format(" has {} instead of {} in cell {}", a[e], b[e], e);
    }
    if (kind_of(have) == Kind::matrix && meta.nnz >= 0 && meta.nnz != nonzeros)
      return fmt::format(" counts {} instead of {}", meta.nnz, nonzeros);
    return "";
  }

  std::string same(const Op& op, const Outcome& want, const Outcome& have) {
    if (have.error != want.error) return fmt::format(" fails: {}; expected: {}", have.error, want.error);
    ++compared;
    for (size_t k = 0; k < want.values.size() && want.error.empty(); ++k)
      if (std::string wrong = same_value(op, want.values[k], have.values[k]); !wrong.empty()) return wrong;
    return "";
  }

  // Each operand in each store, the others dense or stored alike. What differs; "" when nothing does.
  std::string compare(const Op& op, const Operands& operands) {
    std::vector<Store> stores(operands.size(), Store::dense);
    const Outcome want = run(op, op.kernels.back(), make(op, operands, stores), false);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].is_matrix()) continue;
      for (const Store store : {Store::dense, Store::compressed, Store::rule})
        for (const Store others : {Store::dense, store}) {
          if (store == Store::dense && i > 0) continue;
          std::fill(stores.begin(), stores.end(), others);
          stores[i] = store;
          for (const Kernel& kernel : op.kernels)
            for (const bool in_place : {false, true}) {
              const Outcome have = run(op, kernel, make(op, operands, stores), in_place);
              if (!have.accepted) continue;
              const std::string wrong = same(op, want, have);
              if (!wrong.empty())
                return fmt::format("{} by {}, operand {} in store {}{}:{}", describe(op, operands), kernel.name, i,
                                   static_cast<int>(store), in_place ? " in place" : "", wrong);
            }
        }
    }
    return "";
  }
};

bool takes_matrix(const Op& op) {
  for (const Param& p : op.params.span())
    if ((p.accepts & kMatrix) != 0) return true;
  return false;
}

TEST(StoreConformance, EveryRowWithMatrixOperands) {
  Stores run;
  for (const OpFamily& family : op_families())
    for (const Op& op : family) {
      const bool cellwise = op.laws.cellwise;  // cellwise_test.cc
      if (cellwise || op.laws.purity != Purity::pure || op.kernels.empty() || op.infer == nullptr) continue;
      if (op.outputs == 0 || !takes_matrix(op)) continue;
      run.check(op);
    }
  EXPECT_GT(run.compared, 10000);
}

}  // namespace
}  // namespace hopline
