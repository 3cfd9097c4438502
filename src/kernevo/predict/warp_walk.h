// How long each stretch of a kernel's machine code takes a warp that runs alone: stall counts, and
// waits on scoreboards for what memory and the slower units deliver.
#pragma once

#include "kernevo/model/architecture.h"
#include "kernevo/predict/access_table.h"
#include "kernevo/predict/machine_work.h"

#include <vector>

namespace kernevo {

// Cycles by basic block. `far_latency`: of a load that misses L1.
std::vector<double> walk_warp(const MachineWork& work, const AccessTable& accesses,
                              const Architecture& architecture, double far_latency);

} // namespace kernevo
