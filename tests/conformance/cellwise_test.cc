// Every kernel of every cell-wise row against the row's last kernel, over stores, shapes, special values, in place or
// not.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/base/config.h"
#include "runtime/memory/memory.h"
#include "runtime/ops/apply.h"
#include "runtime/ops/elementwise.h"

namespace hopline {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Store { dense, sparse, constant, sequence, across };
struct Input {
  bool scalar = false;
  Store store = Store::dense;
  int64_t rows = 1, cols = 1;
  double value = 0;      // of a scalar or a constant
  bool special = false;  // NaN and infinities among the cells
};

// Deterministic cells: about half of them 0, so that every law about zeros is tried.
double cell(int64_t e, bool special) {
  constexpr double kCells[] = {0, 1.5, 0, -2, 3, 0, 0.25, 0, 7, -0.5, 2, 0, 31, 1, 0, -1};
  constexpr double kSpecial[] = {kNan, 1, kInf, 0, -kInf, -0.0, 1e300, 5e-324, 0, -1e-300};
  return special ? kSpecial[static_cast<size_t>(e) % std::size(kSpecial)]
                 : kCells[static_cast<size_t>(e * 7 + e / 5) % std::size(kCells)];
}

template <class T>
class Cellwise {
 public:
  Config config;
  Memory memory{int64_t{2} << 30};
  Context ctx{memory, config, precision_of<T>, 2, nullptr};

  Value make(const Input& in, int64_t salt) {
    if (in.scalar) return in.value;
    if (in.store == Store::constant) return new_constant(ctx, in.rows, in.cols, in.value);
    if (in.store == Store::sequence || in.store == Store::across)
      return new_virtual(ctx, in.rows, in.cols, Sequence{-2, 1, in.store == Store::across});
    auto m = new_dense<T>(ctx, in.rows, in.cols);
    for (int64_t e = 0; e < m->cells(); ++e) m->template dense<T>()[e] = static_cast<T>(cell(e + salt, in.special));
    if (in.store == Store::dense) return MatrixRef(std::move(m));
    return to_sparse<T>(ctx, MatrixRef(std::move(m)));
  }

  Value run(const Op& op, const Kernel& kernel, const std::vector<Input>& inputs, bool in_place, bool& accepted) {
    std::vector<Value> values;
    int64_t salt = 0;
    for (const Input& i : inputs) values.push_back(make(i, salt++));
    std::vector<Value*> in;
    for (Value& v : values) in.push_back(&v);
    Value out[1];
    Call call{ctx, op, in, out, in_place ? ~0U : 0U, {}};
    accepted = kernel.accepts == nullptr || kernel.accepts(call);
    if (accepted) kernel.run(call);
    return std::move(out[0]);
  }

  std::vector<T> cells(const Value& v) {
    if (kind_of(v) != Kind::matrix) return {static_cast<T>(std::get<double>(v))};
    const MatrixRef m = to_dense<T>(ctx, std::get<MatrixRef>(v));
    return {m->template dense<T>(), m->template dense<T>() + m->cells()};
  }

  void check_stored(const Value& v, const std::string& what) {
    if (kind_of(v) != Kind::matrix || !std::get<MatrixRef>(v)->is_sparse()) return;
    const MatrixBlock& m = *std::get<MatrixRef>(v);
    const auto* offsets = m.csr().offsets.template as<int64_t>();
    ASSERT_EQ(offsets[m.rows()], m.nnz_if_known()) << what;
    for (int64_t r = 0; r < m.rows(); ++r)
      for (int64_t k = offsets[r]; k < offsets[r + 1]; ++k) {
        ASSERT_NE(m.csr().values.template as<T>()[k], 0) << what;
        if (k == offsets[r]) continue;
        const auto* columns = m.csr().columns.template as<int32_t>();
        ASSERT_LT(columns[k - 1], columns[k]) << what;
      }
  }

  void compare(const Op& op, const std::vector<Input>& inputs) {
    bool accepted = false, special = false;
    for (const Input& i : inputs) special |= i.special;
    const Value expected = run(op, op.kernels.back(), inputs, false, accepted);
    const std::vector<T> want = cells(expected);
    for (const Kernel& kernel : op.kernels)
      for (const bool in_place : {false, true}) {
        const Value got = run(op, kernel, inputs, in_place, accepted);
        if (!accepted) continue;
        std::string what = std::string(op.name) + " by " + std::string(kernel.name) + (in_place ? " in place" : "");
        for (const Input& i : inputs)
          what += i.scalar ? " scalar"
                           : " " + std::to_string(i.rows) + "x" + std::to_string(i.cols) + "/" +
                                 std::to_string(static_cast<int>(i.store));
        check_stored(got, what);
        const std::vector<T> have = cells(got);
        ASSERT_EQ(have.size(), want.size()) << what;
        // 0 times NaN or Inf may be 0 in a sparse kernel.
        const bool may_lose = special && (kernel.name == "sparse" || kernel.name == "empty");
        for (size_t e = 0; e < have.size(); ++e) {
          const bool equal = have[e] == want[e] || (have[e] != have[e] && want[e] != want[e]);
          ASSERT_TRUE(equal || (may_lose && want[e] != want[e] && have[e] == 0))
              << what << " cell " << e << " have " << have[e] << " want " << want[e];
        }
        ++compared;
      }
  }
  int64_t compared = 0;
};

std::vector<Input> matrices(int64_t rows, int64_t cols) {
  std::vector<Input> all = {{.store = Store::dense, .rows = rows, .cols = cols},
                            {.store = Store::dense, .rows = rows, .cols = cols, .special = true},
                            {.store = Store::sparse, .rows = rows, .cols = cols},
                            {.store = Store::sparse, .rows = rows, .cols = cols, .special = true},
                            {.store = Store::constant, .rows = rows, .cols = cols, .value = 0},
                            {.store = Store::constant, .rows = rows, .cols = cols, .value = 2.5}};
  if (cols == 1) all.push_back({.store = Store::sequence, .rows = rows, .cols = 1});
  if (rows == 1) all.push_back({.store = Store::across, .rows = 1, .cols = cols});
  return all;
}
std::vector<Input> scalars() {
  std::vector<Input> all;
  for (const double v : {0.0, 2.0, 0.5, -1.0, 3.0, kNan, kInf}) all.push_back({.scalar = true, .value = v});
  return all;
}

std::vector<Input> first(std::vector<Input> all, size_t most) {
  if (all.size() > most) all.resize(most);
  return all;
}

constexpr int64_t kShapes[][2] = {{3, 5}, {4, 100}, {1, 1},   {1, 7},    {9, 1},
                                  {0, 4}, {4, 0},   {70, 40}, {5000, 1}, {3, 2500}};

template <class T>
void every_unary() {
  Cellwise<T> run;
  for (const Op& op : op_families()[1]) {
    if (unary_row(op) == nullptr) continue;
    for (const auto& s : kShapes)
      for (const Input& m : matrices(s[0], s[1])) run.compare(op, {m});
  }
  EXPECT_GT(run.compared, 1000);
}
TEST(CellwiseConformance, UnaryDouble) { every_unary<double>(); }
TEST(CellwiseConformance, UnaryFloat) { every_unary<float>(); }

template <class T>
void every_binary() {
  Cellwise<T> run;
  for (const Op& op : op_families()[1]) {
    if (binary_row(op) == nullptr) continue;
    for (const auto& s : kShapes) {
      if (sizeof(T) == 4 && s[0] * s[1] > 1000) continue;  // the same code as in double, which runs all shapes
      const size_t most = s[0] * s[1] > 1000 ? 3 : 99;  // large shapes are there for tiles and chunks, not for stores
      for (const Input& m : first(matrices(s[0], s[1]), most)) {
        for (const Input& v : first(scalars(), most)) run.compare(op, {m, v}), run.compare(op, {v, m});
        for (const Input& n : first(matrices(s[0], s[1]), most)) run.compare(op, {m, n});
        for (const Input& n : first(matrices(1, s[1]), most)) run.compare(op, {m, n});
        for (const Input& n : first(matrices(s[0], 1), most)) run.compare(op, {m, n});
        for (const Input& n : first(matrices(1, 1), most)) run.compare(op, {m, n});
      }
    }
    for (const int64_t rows : {2, 40})
      for (const int64_t cols : {3, 50, 2100})
        for (const Input& m : first(matrices(rows, 1), cols > 1000 ? 3 : 99))
          for (const Input& n : first(matrices(1, cols), cols > 1000 ? 3 : 99)) run.compare(op, {m, n});
  }
  EXPECT_GT(run.compared, 10000);
}
TEST(CellwiseConformance, BinaryDouble) { every_binary<double>(); }
TEST(CellwiseConformance, BinaryFloat) { every_binary<float>(); }

template <class T>
void every_ifelse() {
  Cellwise<T> run;
  const Op& op = *find_op("ifelse");
  for (const auto& s : kShapes) {
    std::vector<Input> any = matrices(s[0], s[1]);
    for (const Input& i : scalars()) any.push_back(i);
    any.push_back({.store = Store::dense, .rows = 1, .cols = 1});
    for (const Input& c : any)
      for (const Input& a : any)
        for (const Input& b : any)
          if (!c.scalar || !a.scalar || !b.scalar) run.compare(op, {c, a, b});
  }
}
TEST(CellwiseConformance, IfelseDouble) { every_ifelse<double>(); }
TEST(CellwiseConformance, IfelseFloat) { every_ifelse<float>(); }

}  // namespace
}  // namespace hopline
