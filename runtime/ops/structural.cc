#include "runtime/ops/families.h"

namespace hopline {

OpFamily structural_ops() { return {}; }

}  // namespace hopline
