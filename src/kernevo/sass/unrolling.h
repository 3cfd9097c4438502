// How a loop that ptxas unrolled shares its trips between the unrolled body and the remainders.
#pragma once

#include "kernevo/sass/anchors.h"
#include "kernevo/sass/flow_solver.h"
#include "kernevo/sass/join.h"

namespace kernevo::sass {

// Expectations for the blocks that hold copies of the same PTX loop: the widest body takes as many
// whole trips as it can, the next takes what is left. Counts alone leave this open: 1000 trips may
// be 250 of a body of four, or 249 and four single ones. Trips are taken to be the mean over the
// entries of the loop, which is exact when every thread makes as many.
std::vector<CountExpectation> expected_shares(const Flow& flow, const PtxLines& ptx,
                                              const std::vector<Anchor>& anchors,
                                              const std::vector<ExecutionCounts>& counts);

} // namespace kernevo::sass
