// How much of L1 one of the blocks that share a multiprocessor can call its own.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/occupancy.h"

namespace kernevo {

// What shared memory leaves of the unified cache (the driver sets aside the smallest of a few sizes
// that holds all resident blocks), divided by the blocks.
Bytes l1_share(const Gpu& gpu, const Occupancy& occupancy, Bytes shared_per_block);
// The same for a launch whose registers are not known: threads and shared memory alone decide how
// many blocks share L1. An error where not even one block fits.
Result<Bytes> l1_share_of_launch(const Gpu& gpu, std::uint64_t threads, Bytes shared_per_block);

} // namespace kernevo
