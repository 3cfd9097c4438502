// How many blocks of a kernel fit on one multiprocessor, exact to the allocation granularity.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"

#include <string_view>

namespace kernevo {

enum class OccupancyLimiter { threads, registers, shared_memory, blocks };
std::string_view name_of(OccupancyLimiter limiter);

struct Occupancy {
  int blocks_per_multiprocessor = 0;
  int active_warps = 0;
  double fraction = 0; // of the warps the multiprocessor can hold
  OccupancyLimiter limiter = OccupancyLimiter::threads;
};

// An error (interface contract) when not even one block fits.
Result<Occupancy> compute_occupancy(const Gpu& gpu, int threads_per_block, int registers_per_thread,
                                    Bytes shared_per_block);

} // namespace kernevo
