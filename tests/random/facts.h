// What the generator of random programs knows of a value before it exists. Variants of a run may round sums and
// products in another order, so a value carries a bound of how far they may lie apart; only values that are the same in
// every variant may decide something (a comparison, floor, order, an index).
#pragma once
#include <limits>
#include <optional>
#include <string_view>

namespace hopline::tests {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of a scalar, or of every cell of a matrix.
struct Facts {
  double low = -kInfinity, high = kInfinity;  // of the finite cells
  double error = 0;                           // how far two variants may lie apart; 0: the same bits
  int bits = 0;                               // with `exact`: multiples of 2^-bits
  bool exact = false;                         // and below 2^53 in these units: sums and products do not round
  bool finite = true;                         // false: perhaps NaN or infinite cells
  bool nonzero = false;
  bool clean = false;  // no -0.0

  double magnitude() const;  // bound of the absolute value of finite cells
  bool determined() const { return error == 0; }
};

Facts anything();                         // the loosest facts: any value, however far apart the variants
Facts whole(double low, double high);     // without -0.0
Facts integral(double low, double high);  // perhaps 0 or -0.0
Facts exactly(double value);

// Is every value that `facts` allows also allowed by `bound`?
bool within(const Facts& facts, const Facts& bound);
// What both allow: of a value that is one or the other.
Facts join(const Facts& a, const Facts& b);
Facts with_zero(const Facts& a);
// A looser bound of few distinct forms, for a variable that takes further values.
Facts widen(const Facts& facts);

// Sum of `count` values within `facts`; their mean.
Facts sum_of(const Facts& facts, double count);
Facts mean_of(const Facts& facts, double count);
Facts product_of(const Facts& a, const Facts& b);

// Facts of a cell-wise operator's result. nullopt: with operands like these the variants may differ, or the result is
// of no use. A row without an entry gets what holds for every function of one cell.
std::optional<Facts> unary_facts(std::string_view name, const Facts& x);
std::optional<Facts> binary_facts(std::string_view name, const Facts& x, const Facts& y);

}  // namespace hopline::tests
