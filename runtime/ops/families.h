// The families of the operator table; table.cc joins them. Each lives in the .cc of its name.
#pragma once
#include "runtime/ops/op.h"

namespace hopline {

OpFamily structural_ops();
OpFamily elementwise_ops();
OpFamily ternary_ops();
OpFamily aggregate_ops();
OpFamily cumulative_ops();
OpFamily matmul_ops();
OpFamily linalg_ops();
OpFamily reorg_ops();
OpFamily index_ops();
OpFamily datagen_ops();
OpFamily order_ops();
OpFamily selection_ops();
OpFamily distinct_ops();
OpFamily table_ops();
OpFamily grouped_ops();
OpFamily quantile_ops();
OpFamily moment_ops();
OpFamily distribution_ops();
OpFamily text_ops();
OpFamily cast_ops();
OpFamily list_ops();
OpFamily file_ops();

}  // namespace hopline
