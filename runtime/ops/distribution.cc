#include "runtime/ops/families.h"

namespace hopline {

OpFamily distribution_ops() { return {}; }

}  // namespace hopline
