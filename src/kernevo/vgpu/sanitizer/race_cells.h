// What the detector remembers of each granule of memory: the last write and two readers.
#pragma once

#include "kernevo/vgpu/sanitizer/race_clocks.h"
#include "kernevo/vgpu/sanitizer/race_detector.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kernevo::vgpu {

struct Trace {
  std::uint32_t owner = 0; // block, or the run of a block in shared memory; see Cell
  Clock clock = 0;         // 0: nothing recorded
  std::uint32_t instruction = 0;
  std::uint32_t lanes = 0; // that did it since their warp last synchronised
  std::uint16_t warp = 0;
  Touch touch = Touch::load;
  bool strong : 1 = false;
  bool narrow : 1 = false;     // strong among the threads of its block alone
  bool unchanging : 1 = false; // a write of what was there already, with no write before it

  bool empty() const { return clock == 0; }
};

struct Cell {
  Trace covered; // a plain write that strong ones of its block have since covered
  Trace write;
  std::array<Trace, 2> reads; // of two different warps
  std::uint32_t agreeing = 0; // other warps of the writer's block that wrote the same value
  std::uint32_t promise = 0;  // 1 + the place in a list of who loaded it as read-only; 0: nobody
};

// Cells of one allocation, made a page at a time on first touch.
class CellRegion {
public:
  static constexpr std::uint64_t kPageCells = 512;

  explicit CellRegion(std::uint64_t cells) : pages_((cells + kPageCells - 1) / kPageCells) {}

  // Null when the page would exceed the budget (bytes left for cells) or the region.
  Cell* cell(std::uint64_t index, std::uint64_t& budget) {
    const std::uint64_t page = index / kPageCells;
    if (page >= pages_.size())
      return nullptr;
    if (!pages_[page]) {
      constexpr std::uint64_t cost = kPageCells * sizeof(Cell);
      if (budget < cost)
        return nullptr;
      budget -= cost;
      ++made_;
      pages_[page] = std::make_unique<std::array<Cell, kPageCells>>();
    }
    return &(*pages_[page])[index % kPageCells];
  }

  // Taken from the budget so far.
  std::uint64_t bytes() const { return made_ * kPageCells * sizeof(Cell); }

private:
  std::uint64_t made_ = 0;
  std::vector<std::unique_ptr<std::array<Cell, kPageCells>>> pages_;
};

} // namespace kernevo::vgpu
