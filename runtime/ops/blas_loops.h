// Our own plain versions of the routines of Blas: what the library is checked against, and what replaces it where there
// is none.
#pragma once
#include "runtime/ops/blas.h"

namespace hopline {

template <class T>
const Blas<T>& loops();

}  // namespace hopline
