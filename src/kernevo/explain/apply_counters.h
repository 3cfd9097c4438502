// What hardware counted takes the place of what was modelled, metric by metric, and each says where
// it comes from.
#pragma once

#include "kernevo/explain/launch_evidence.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/explain/roofline_point.h"

namespace kernevo {

// The readings have all that the map needs.
void apply_counters(const CountedLaunch& counted, const PlannedWork& planned, Metrics& metrics,
                    RooflinePoint& roofline);

} // namespace kernevo
