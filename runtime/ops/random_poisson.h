// Poisson numbers by cell, with the same bits on every CPU: only + - * / sqrt and our own exp and log.
#pragma once
#include <cstdint>
#include <vector>

namespace hopline {

class Poisson {
 public:
  // lambda > 0; `cells` is how many will be asked for (many: a table is worth its making; the numbers are the same).
  Poisson(double lambda, int64_t cells);
  // Cell e of the draw (design 6, stream 3).
  double cell(uint64_t key, uint32_t draw, int64_t e) const;
  // The same, given the words of the cell's first block.
  double cell(uint64_t key, uint32_t draw, int64_t e, const uint32_t* words) const;

 private:
  double invert(double u) const;
  // A number from one block of words, or -1 where the method rejects them.
  double attempt(const uint32_t* words) const;
  double lambda_;
  double first_ = 0;                             // probability of 0
  std::vector<double> cumulative_;               // by count, up to the rounding of 1
  std::vector<uint8_t> guide_;                   // by the top bits of u: the least count that may be meant
  double b_ = 0, a_ = 0, inverse_ = 0, vr_ = 0;  // of transformed rejection
};

}  // namespace hopline
