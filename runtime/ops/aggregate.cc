#include "runtime/ops/families.h"

namespace hopline {

OpFamily aggregate_ops() { return {}; }

}  // namespace hopline
