// Every rule on random operands: it fires, both sides agree, and so do their sizes.
#include "planner/rewrite/rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/rewrite/rewrite.h"
#include "tests/unit/op_testing.h"

namespace hopline {

TEST(Rules, HaveNamesOfTheirOwn) {
  std::map<std::string_view, int> names;
  for (const Rule& r : rules()) EXPECT_EQ(++names[r.name], 1) << r.name;
  EXPECT_GE(names.size(), 55u);
}

}  // namespace hopline
