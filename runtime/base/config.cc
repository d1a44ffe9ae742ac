#include "runtime/base/config.h"

namespace hopline {

Config::Config() = default;

}  // namespace hopline
