#pragma once

#include "kernevo/model/comparison.h"
#include "kernevo/model/timing.h"
#include "kernevo/timing/paired_test.h"

namespace kernevo {

// What two records on file say about each other. Both records must have passed make_timing.
//  - measured against modelled, other devices, drivers, shapes, cache states: not comparable;
//  - modelled against modelled: different only when further apart than the wider of the two stated
//    error intervals, and than the plan's margin; the same within the margin, ambiguous in between.
//    Errors of one model on kernels of one task have much in common, but how much nobody has
//    measured: nothing is taken off for it;
//  - measured against measured: only if they were taken in turns (one episode); then the paired
//  test
//    of the plan is run again on their samples, and ends where it ended on the device. Timings
//    taken one after the other are not comparable: drift between them looks like a difference.
Comparison compare_timings(const Timing& incumbent, const Timing& candidate,
                           const PairedPlan& plan = {});

} // namespace kernevo
