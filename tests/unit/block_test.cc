// Conversions between stores.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/op_testing.h"

namespace hopline {

template <class T>
void keep_nan(int64_t cols) {
  OpTest test;
  test.ctx.precision = precision_of<T>;
  auto m = new_dense<T>(test.ctx, 3, cols);
  std::fill_n(m->template dense<T>(), m->cells(), T{0});
  for (int64_t c = 0; c < cols; c += 7) m->template dense<T>()[cols + c] = std::numeric_limits<T>::quiet_NaN();
  const int64_t nans = (cols + 6) / 7;
  const MatrixRef dense = std::move(m);
  EXPECT_EQ(count_nnz<T>(test.ctx, *dense), nans);
  const MatrixRef sparse = to_sparse<T>(test.ctx, dense);
  ASSERT_EQ(sparse->csr().offsets.template as<int64_t>()[3], nans);
  const MatrixRef back = to_dense<T>(test.ctx, sparse);
  for (int64_t i = 0; i < back->cells(); ++i)
    EXPECT_EQ(std::isnan(back->template dense<T>()[i]), std::isnan(dense->template dense<T>()[i])) << i;
}

TEST(Block, KeepsNanAsANonZero) {
  for (const int64_t cols : {1, 5, 63, 64, 100, 200}) keep_nan<double>(cols), keep_nan<float>(cols);
}

}  // namespace hopline
