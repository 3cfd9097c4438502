// What an average block asks of its multiprocessor, resource by resource, and how long one of its
// warps would take alone.
#pragma once

#include "kernevo/model/architecture.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/predict/machine_work.h"
#include "kernevo/predict/traffic.h"

#include <vector>

namespace kernevo {

// Cycles for which a multiprocessor's unit is busy.
struct ResourceCycles {
  double issue = 0;
  double fma = 0;
  double alu = 0;
  double fp16 = 0;
  double fp64 = 0;
  double xu = 0;
  double tensor = 0;
  double shared = 0; // shared memory and L1 are one unit: their cycles add up
  double l1 = 0;

  ResourceCycles& operator+=(const ResourceCycles& other);
};

// A stretch of straight code.
struct Segment {
  ResourceCycles cycles; // of all warps of the block, all executions
  double executions = 0; // of a warp
  double latency = 0;    // cycles of one execution by a warp that has the multiprocessor to itself
};

struct BlockWork {
  double warps = 0; // of a block
  ResourceCycles cycles;
  std::vector<Segment> segments;
  double code_bytes = 0;        // that were executed at all
  double barriers_per_warp = 0; // executions
  LocalTraffic local;
};

// Local traffic can be told before latencies are known, and decides them in part.
LocalTraffic local_traffic(const LaunchCounts& counts, const MachineWork& work, double stack_bytes);

// `far_latency`: cycles of a load that misses L1.
BlockWork block_work(const Gpu& gpu, const Architecture& architecture, const LaunchCounts& counts,
                     const MachineWork& work, double far_latency);

// The same from the PTX alone: every PTX instruction stands for one machine instruction.
BlockWork block_work(const Gpu& gpu, const Architecture& architecture, const LaunchCounts& counts,
                     double far_latency);

} // namespace kernevo
