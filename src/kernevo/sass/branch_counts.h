// What PTX branches tell of machine branches: how many threads went which way.
#pragma once

#include "kernevo/sass/flow_solver.h"
#include "kernevo/sass/join.h"

namespace kernevo::sass {

// For every PTX branch with one machine copy whose two ways can be told apart by the PTX lines
// found there: the passages over both edges.
std::vector<CountExpectation> measured_edges(const SassFunction& function, const Flow& flow,
                                             const PtxLines& ptx,
                                             const std::vector<ExecutionCounts>& counts);

} // namespace kernevo::sass
