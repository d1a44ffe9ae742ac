// Vector loops of sorting.
#pragma once
#include <cstdint>

namespace hopline::sorting {

// keys[i] = ascending_key(v[i]) or descending_key(v[i]); was any v[i] the zero with a sign?
bool write_keys(const double* v, int64_t n, bool decreasing, uint64_t* keys);
// bins[i]: (number that key i stands for - low) * factor, toward zero, kept within 0 to most; most for NaN.
void find_bins(const uint64_t* keys, int64_t n, double low, double factor, double most, int32_t* bins);

}  // namespace hopline::sorting
