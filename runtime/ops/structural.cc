// Rows that only the planner makes.
#include "runtime/ops/apply.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

void run_fail(Call& call) { call.fail("{}", call.names.front()); }

void infer_none(InferCall&) {}

constexpr Kernel kFail[] = {{"fail", nullptr, run_fail}};

constexpr Op kOps[] = {
    {.name = "literal", .doc = "a scalar constant of the script", .hidden = true},
    {.name = "input", .doc = "a variable that lives when a region begins", .hidden = true},
    {.name = "get", .params = {param::any("node")}, .doc = "one output of an operator with several", .hidden = true},
    {.name = "fail",
     .outputs = 0,
     .laws = {.purity = Purity::effect, .failure = Failure::by_data},
     .infer = infer_none,
     .kernels = kFail,
     .doc = "raises an error that planning found, at its place in the script",
     .hidden = true},
};

}  // namespace

OpFamily structural_ops() { return kOps; }

}  // namespace hopline
