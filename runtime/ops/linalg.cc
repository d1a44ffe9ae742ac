#include "runtime/ops/families.h"

namespace hopline {

OpFamily linalg_ops() { return {}; }

}  // namespace hopline
