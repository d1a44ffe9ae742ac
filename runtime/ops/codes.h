// Positive integer codes held as doubles: table() and aggregate() count and add by them.
#pragma once
#include <array>
#include <cstdint>

#include "runtime/ops/column.h"

namespace hopline {

// A code c in [1, limit] is the double-to-long rule's value of the cell, which for positive cells is the integer part
// of cell + 2^-53. Values are compared before they are converted, so no conversion can overflow.
constexpr double kCodeSlack = 0x1p-53;

// A sum that keeps what rounding lost.
struct Compensated {
  double sum = 0, lost = 0;
  void add(double v) {
    const double t = sum + v, part = t - sum;
    lost += (sum - (t - part)) + (v - part);
    sum = t;
  }
  void add(const Compensated& other) {
    add(other.sum);
    lost += other.lost;
  }
  // Infinities leave NaN in `lost`.
  double value() const { return sum - sum == 0 ? sum + lost : sum; }
};

}  // namespace hopline
