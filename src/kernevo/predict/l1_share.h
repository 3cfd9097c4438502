// How much of L1 one of the blocks that share a multiprocessor can call its own.
#pragma once

#include "kernevo/model/gpu.h"
#include "kernevo/model/occupancy.h"

namespace kernevo {

// What shared memory leaves of the unified cache (the driver sets aside the smallest of a few sizes
// that holds all resident blocks), divided by the blocks.
Bytes l1_share(const Gpu& gpu, const Occupancy& occupancy, Bytes shared_per_block);

} // namespace kernevo
