#include "runtime/ops/virtual_cells.h"

namespace hopline {

template <class T>
void draw_cells(const Random&, int64_t begin, int64_t end, T* out) {
  for (int64_t i = begin; i < end; ++i) out[i - begin] = 0;
}

template void draw_cells(const Random&, int64_t, int64_t, double*);
template void draw_cells(const Random&, int64_t, int64_t, float*);

}  // namespace hopline
