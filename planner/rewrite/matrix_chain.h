// Orders chains of matrix products by cost.
#pragma once
#include <vector>

#include "planner/rewrite/rewrite.h"

namespace hopline {

// A %*% B %*% C ... with sizes known is computed in the order that needs the fewest multiplications, estimated
// densities included (the classical dynamic program). A product that something else reads too stays as it is. Switched
// off as "matrix_chain".
std::vector<Fired> order_matrix_chains(Region& region, Context& context);

}  // namespace hopline
