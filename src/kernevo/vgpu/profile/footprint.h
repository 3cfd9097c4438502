// Which sectors of which allocation each block touched, and what neighbours have in common.
#pragma once

#include "kernevo/model/launch_counts.h"
#include "kernevo/vgpu/memory/memory.h"

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace kernevo::vgpu {

class Footprints {
public:
  void touch(std::uint64_t block, const Allocation& allocation, std::uint64_t sector, bool read,
             bool write);
  // Means over the blocks that were counted, by their weights.
  std::vector<FootprintCounts> summary(const std::array<std::uint32_t, 3>& grid,
                                       const std::vector<BlockCounts>& blocks) const;

private:
  using Sectors = std::unordered_map<std::uint64_t, std::uint8_t>; // sector -> read, written
  struct Buffer {
    std::string name;
    std::uint64_t bytes = 0;
    std::map<std::uint64_t, Sectors> blocks;
  };

  std::map<std::uint64_t, Buffer> buffers_; // by base address
  // The last one touched: accesses come in runs.
  std::uint64_t last_base_ = 0;
  std::uint64_t last_block_ = 0;
  Sectors* last_ = nullptr;
};

} // namespace kernevo::vgpu
