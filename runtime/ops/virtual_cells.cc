#include "runtime/ops/virtual_cells.h"

#include <algorithm>
#include <cmath>

#include "runtime/ops/call.h"

namespace hopline {

namespace {

// Fixed-size runs, so that the compiler makes vectors of them.
template <class T>
void count_up(const Sequence& s, int64_t begin, int64_t end, T* out) {
  constexpr int64_t kRun = 16;
  const auto cell = [&](int64_t i) { return static_cast<T>(s.from + static_cast<double>(i) * s.increment); };
  int64_t i = begin;
  for (; i + kRun <= end; i += kRun, out += kRun) {
    const auto base = static_cast<double>(i);
    for (int k = 0; k < kRun; ++k) out[k] = static_cast<T>(s.from + (base + k) * s.increment);
  }
  for (; i < end; ++i) *out++ = cell(i);
}

}  // namespace

template <class T>
void read_cells(const MatrixBlock& m, int64_t begin, int64_t end, T* out) {
  const Virtual& rule = m.cells_rule();
  if (const auto* c = std::get_if<Constant>(&rule)) {
    std::fill(out, out + (end - begin), static_cast<T>(c->value));
  } else if (const auto* s = std::get_if<Sequence>(&rule)) {
    count_up(*s, begin, end, out);
  } else {
    draw_cells<T>(std::get<Random>(rule), begin, end, out);
  }
}

double read_cell(const MatrixBlock& m, int64_t row, int64_t col) {
  const int64_t e = row * m.cols() + col;
  if (m.precision() == Precision::f32) {
    float v = 0;
    read_cells(m, e, e + 1, &v);
    return v;
  }
  double v = 0;
  read_cells(m, e, e + 1, &v);
  return v;
}

bool virtual_is_sparse(const MatrixBlock& m) {
  const Virtual& rule = m.cells_rule();
  if (const auto* c = std::get_if<Constant>(&rule)) return c->value == 0;
  const auto* r = std::get_if<Random>(&rule);
  if (r == nullptr || m.cols() <= 1) return false;
  const bool counts = r->distribution == Distribution::poisson;
  return (counts ? r->sparsity * (1 - std::exp(-r->lambda)) : r->sparsity) < kSparse;
}

template void read_cells(const MatrixBlock&, int64_t, int64_t, double*);
template void read_cells(const MatrixBlock&, int64_t, int64_t, float*);

}  // namespace hopline
