#include "runtime/ops/families.h"

namespace hopline {

OpFamily index_ops() { return {}; }

}  // namespace hopline
