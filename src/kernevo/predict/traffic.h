// What leaves L1 and what leaves L2, for the whole grid.
#pragma once

#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/occupancy.h"
#include "kernevo/predict/prediction.h"

namespace kernevo {

// Sectors of stack arrays and spilled registers an average block loads and stores.
struct LocalTraffic {
  double load_sectors = 0;
  double store_sectors = 0;
  double bytes_per_thread = 0; // of the stack
};

struct GridTraffic {
  MemoryTraffic total;
  double local_dram_bytes = 0; // part of the DRAM traffic
  // Of the sectors read from L2, those that come from DRAM.
  double dram_share = 0;
};

GridTraffic grid_traffic(const Gpu& gpu, const LaunchCounts& counts, const Occupancy& occupancy,
                         const LocalTraffic& local);

} // namespace kernevo
