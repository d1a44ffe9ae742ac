#include "runtime/ops/families.h"

namespace hopline {

OpFamily file_ops() { return {}; }

}  // namespace hopline
