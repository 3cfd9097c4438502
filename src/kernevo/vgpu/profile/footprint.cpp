#include "kernevo/vgpu/profile/footprint.h"

namespace kernevo::vgpu {
namespace {

constexpr std::uint8_t kRead = 1;
constexpr std::uint8_t kWritten = 2;

} // namespace

void Footprints::touch(std::uint64_t block, const Allocation& allocation, std::uint64_t sector,
                       bool read, bool write) {
  if (last_ == nullptr || last_base_ != allocation.base || last_block_ != block) {
    Buffer& buffer = buffers_[allocation.base];
    buffer.name = allocation.name;
    buffer.bytes = allocation.bytes;
    last_ = &buffer.blocks[block];
    last_base_ = allocation.base;
    last_block_ = block;
  }
  (*last_)[sector] |= static_cast<std::uint8_t>((read ? kRead : 0) | (write ? kWritten : 0));
}

std::vector<FootprintCounts> Footprints::summary(const std::array<std::uint32_t, 3>& grid,
                                                 const std::vector<BlockCounts>& blocks) const {
  double represented = 0;
  std::unordered_map<std::uint64_t, double> weights;
  for (const BlockCounts& block : blocks) {
    represented += block.weight;
    weights[block.block] = block.weight;
  }
  const std::array<std::uint64_t, 3> steps = {1, grid[0], std::uint64_t{grid[0]} * grid[1]};
  std::vector<FootprintCounts> all;
  for (const auto& [base, buffer] : buffers_) {
    FootprintCounts counts;
    counts.buffer = buffer.name;
    counts.bytes = buffer.bytes;
    auto amount = [](const Sectors& sectors, std::uint8_t action) {
      std::uint64_t number = 0;
      for (const auto& [sector, actions] : sectors)
        number += (actions & action) != 0 ? 1 : 0;
      return static_cast<double>(number);
    };
    for (const auto& [block, sectors] : buffer.blocks) {
      const double share = weights[block] / represented;
      counts.read_sectors += share * amount(sectors, kRead);
      counts.write_sectors += share * amount(sectors, kWritten);
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const std::uint8_t action : {kRead, kWritten}) {
        double common = 0;
        double whole = 0;
        for (const auto& [block, sectors] : buffer.blocks) {
          if (block / steps.at(axis) % grid.at(axis) + 1 >= grid.at(axis))
            continue;
          const auto neighbour = buffer.blocks.find(block + steps.at(axis));
          if (neighbour == buffer.blocks.end())
            continue;
          const double weight = weights[neighbour->first];
          for (const auto& [sector, actions] : neighbour->second) {
            if ((actions & action) == 0)
              continue;
            whole += weight;
            const auto mine = sectors.find(sector);
            common += mine != sectors.end() && (mine->second & action) != 0 ? weight : 0;
          }
        }
        if (whole > 0)
          (action == kRead ? counts.read_overlap : counts.write_overlap).at(axis) = common / whole;
      }
    all.push_back(std::move(counts));
  }
  return all;
}

} // namespace kernevo::vgpu
