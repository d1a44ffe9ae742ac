#include "runtime/ops/families.h"

namespace hopline {

OpFamily order_ops() { return {}; }

}  // namespace hopline
