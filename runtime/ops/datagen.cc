#include "runtime/ops/families.h"

namespace hopline {

OpFamily datagen_ops() { return {}; }

}  // namespace hopline
