// What one block of a launch did, counted in passing while all of them run.
#pragma once

#include <cstdint>

namespace kernevo {

struct BlockTally {
  std::uint64_t warp_instructions = 0;
  std::uint64_t sectors = 0; // of global memory, that its loads and stores asked for
  std::uint64_t atomics = 0; // lanes of them

  bool operator==(const BlockTally&) const = default;
};

} // namespace kernevo
