// The order in which a diverged warp runs its parts.
#pragma once

#include "kernevo/vgpu/program/program.h"

#include <cstdint>
#include <vector>

namespace kernevo::vgpu {

// A position for every op such that running the lanes with the lowest position first makes them
// meet again at or before the immediate post-dominator: blocks in topological order, every loop
// (strongly connected component) contiguous, recursively. Irreducible loops are entered at their
// first block.
std::vector<std::uint32_t> schedule_order(const std::vector<Op>& ops);

// Targets of an indirect branch, as op indices.
struct BranchTable : Detail {
  std::vector<std::uint32_t> targets;
};

} // namespace kernevo::vgpu
