#include "runtime/ops/families.h"

namespace hopline {

OpFamily table_ops() { return {}; }

}  // namespace hopline
