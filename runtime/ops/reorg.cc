#include "runtime/ops/families.h"

namespace hopline {

OpFamily reorg_ops() { return {}; }

}  // namespace hopline
