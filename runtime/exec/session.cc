#include "runtime/exec/session.h"

namespace hopline {

void Session::stopped(const Span& span) const { fail(ErrorKind::interrupted, span, "the run was stopped"); }

}  // namespace hopline
