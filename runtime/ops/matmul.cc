#include "runtime/ops/families.h"

namespace hopline {

OpFamily matmul_ops() { return {}; }

}  // namespace hopline
