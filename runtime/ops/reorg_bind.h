// rbind and cbind of matrices, strings and lists: what their rows in reorg.cc point to.
#pragma once
#include "runtime/ops/call.h"
#include "runtime/ops/infer.h"

namespace hopline {

void infer_rbind(InferCall& c);
void infer_cbind(InferCall& c);
void run_rbind(Call& call);
void run_cbind(Call& call);

}  // namespace hopline
