#include "runtime/ops/virtual_cells.h"

#include <algorithm>

#include "runtime/ops/call.h"

namespace hopline {

template <class T>
void read_cells(const MatrixBlock& m, int64_t begin, int64_t end, T* out) {
  const Virtual& rule = m.cells_rule();
  if (const auto* c = std::get_if<Constant>(&rule)) {
    std::fill(out, out + (end - begin), static_cast<T>(c->value));
  } else if (const auto* s = std::get_if<Sequence>(&rule)) {
    for (int64_t i = begin; i < end; ++i) out[i - begin] = static_cast<T>(s->from + static_cast<double>(i) * s->increment);
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
  if (const auto* r = std::get_if<Random>(&rule)) return r->sparsity < kSparse && m.cols() > 1;
  return false;
}

template void read_cells(const MatrixBlock&, int64_t, int64_t, double*);
template void read_cells(const MatrixBlock&, int64_t, int64_t, float*);

}  // namespace hopline
