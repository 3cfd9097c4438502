// Memory accesses as the machine makes them: what the profile saw at a PTX line, carried over to
// the loads and stores that ptxas made of it.
#pragma once

#include "kernevo/model/launch_counts.h"
#include "kernevo/predict/machine_work.h"

namespace kernevo {

struct AccessTotals {
  double requests = 0;   // warp accesses with an active lane
  double sectors = 0;    // global, local
  double misses = 0;     // of the sectors, those that L1's model does not hold
  double wavefronts = 0; // shared
};

// Of the blocks counted. Bulk copies are left out: they do not pass the load/store unit.
struct MachineAccesses {
  AccessTotals global_loads;
  AccessTotals global_stores;
  AccessTotals global_atomics;    // that give a value back
  AccessTotals global_reductions; // that do not
  AccessTotals local_loads;       // arrays on the stack and spills
  AccessTotals local_stores;
  AccessTotals shared_loads;
  AccessTotals shared_stores;
  AccessTotals shared_atomics;
  double spills = 0; // warp accesses of local memory that no PTX line asks for
};

// A request of the machine touches as many sectors, or needs as many passes, as one of its PTX line
// does: lanes that are s bytes apart touch the same sectors with 4 bytes each as with s.
MachineAccesses find_accesses(const LaunchCounts& launch, const MachineWork& work);

} // namespace kernevo
