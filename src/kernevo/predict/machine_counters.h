// A launch's counts in machine instructions, named as the hardware's profiler names them.
#pragma once

#include "kernevo/model/launch_counts.h"
#include "kernevo/predict/counters.h"
#include "kernevo/predict/machine_work.h"

namespace kernevo {

// What counters_of says, with instructions and accesses counted as ptxas made them: an access that
// it merged, split, dropped or added (a spill) counts so. `work` is of the same launch.
Counters machine_counters(const LaunchCounts& launch, const MachineWork& work);

// Mean distance, in instructions, from one that writes a register to the first that reads it in
// the same basic block, weighted by executions; 1 = the very next. 0 when there is no such pair.
double dependency_distance(const MachineWork& work);

} // namespace kernevo
