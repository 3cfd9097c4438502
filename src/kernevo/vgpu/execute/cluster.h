// Blocks that are resident together and see each other's shared memory. A cluster runs on one core,
// its blocks in turn, so that nothing they share needs host atomics. Without clusters it is one
// block and adds nothing to it.
#pragma once

#include "kernevo/vgpu/execute/block.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace kernevo::vgpu {

struct Cluster {
  std::vector<std::unique_ptr<BlockState>> blocks; // by rank

  // Makes this object the given cluster (linear index), all blocks at the kernel's entry.
  void start(LaunchState& launch, std::uint64_t number);
  // Runs about `instructions` warp instructions.
  Progress run(std::uint64_t instructions);
};

// The cluster a block belongs to, both as linear indices.
std::uint64_t cluster_of(const LaunchState& launch, std::uint64_t block);

// Who owns the shared memory an address of .shared::cluster names; `block` is null when the cluster
// has no block of that rank. The offset is inside that block's memory, not checked against its
// size.
struct SharedPlace {
  BlockState* block = nullptr;
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;
};
SharedPlace locate_shared(BlockState& block, std::uint64_t address);

// Does the pointer lie in the shared memory of a block of this block's cluster? Its owner, or null.
BlockState* shared_owner(BlockState& block, const std::byte* pointer);

// Names a block's shared memory, or the cluster it belongs to, for the race detector.
std::uint64_t shared_region(const BlockState& block);
std::uint64_t cluster_region(const BlockState& block);

// Sanitizer: a block leaves. Faults when another may still be using its shared memory.
void check_exit(BlockState& block);

// True when every thread of the cluster that still runs has arrived at barrier.cluster; then the
// phase is over.
bool complete_cluster_barrier(BlockState& block);

} // namespace kernevo::vgpu
