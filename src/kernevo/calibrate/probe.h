// The micro-kernels that show what a GPU can do: how each is launched and how much it does.
#pragma once

#include "kernevo/model/gpu.h"
#include "kernevo/model/launch.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kernevo::calibrate {

// Each probe is run at so many sizes, 1, 2 and 3 times the first.
inline constexpr std::size_t kSizes = 3;

// What is launched at a size.
using PlanAt = std::function<LaunchPlan(const Gpu& gpu, std::int64_t size)>;

struct Probe {
  std::string name; // "dram_read"
  int least_capability = 0;
  int most_capability = 1000;
  // The smallest size: as a GPU has it, and as little as what plays one may do.
  std::int64_t first = 1;
  std::int64_t least = 1;
  // Of the whole grid: operations, bytes, steps; 0 where the time itself counts.
  double work_per_size = 0;
  PlanAt plan;
};

// Those that a GPU of this kind can run, in the order in which they are run.
std::vector<Probe> probes_for(const Gpu& gpu);

} // namespace kernevo::calibrate
