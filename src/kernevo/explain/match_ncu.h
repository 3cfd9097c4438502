// Which launch of a file of Nsight Compute is which launch of a plan: by the kernel's name, its
// shape and the order.
#pragma once

#include "kernevo/explain/counter_map.h"
#include "kernevo/explain/ncu_file.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"

#include <string>
#include <vector>

namespace kernevo {

struct PlannedCase {
  std::string id;
  std::vector<const LaunchCounts*> launches;
};

// The first of the file for each, in order; what is left over was run for another reason. A launch
// that is not there, one without the needed counters or of another GPU is an error with its line.
Result<HardwareCounters> match_ncu(const std::vector<NcuLaunch>& launches, const std::string& file,
                                   const std::vector<PlannedCase>& cases, const CounterMap& map,
                                   const Gpu& gpu);

} // namespace kernevo
