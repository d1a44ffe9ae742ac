#include "runtime/ops/families.h"

namespace hopline {

OpFamily text_ops() { return {}; }

}  // namespace hopline
