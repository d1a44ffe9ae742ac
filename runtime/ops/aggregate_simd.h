// Compensated sums by vectors. Eight lanes whatever the CPU's width, so that every CPU gives the same bits.
#pragma once
#include <cstdint>

namespace hopline::sums {

constexpr int kLanes = 8;

// high[l], low[l] (Kahan: what was lost, to be subtracted) += the cells l, l + 8, ... of x[0, n); n a multiple of 8.
// squared: of (x - centre)^2.
void add_lanes(const double* x, int64_t n, bool squared, double centre, double* high, double* low);
void add_lanes(const float* x, int64_t n, bool squared, double centre, double* high, double* low);

// high[c], low[c] += x[c], or (x[c] - centres[c])^2 where centres is given, for c in [0, n).
void add_row(const double* x, int64_t n, const double* centres, double* high, double* low);
void add_row(const float* x, int64_t n, const double* centres, double* high, double* low);

// least[l] = min(least[l], x[l]), or the greatest, over the cells l, l + 8, ...; a NaN stays. n a multiple of 8.
void fold_lanes(const double* x, int64_t n, bool greatest, double* lanes);
void fold_lanes(const float* x, int64_t n, bool greatest, double* lanes);

}  // namespace hopline::sums
