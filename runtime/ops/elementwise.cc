#include "runtime/ops/families.h"

namespace hopline {

OpFamily elementwise_ops() { return {}; }

}  // namespace hopline
