#include "runtime/ops/families.h"

namespace hopline {

OpFamily ternary_ops() { return {}; }

}  // namespace hopline
