// What the race detector keeps, and what one access does to it: race_state.cpp for cells of memory,
// race_detector.cpp for who synchronises with whom.
#pragma once

#include "kernevo/vgpu/sanitizer/race_cells.h"
#include "kernevo/vgpu/sanitizer/race_clocks.h"
#include "kernevo/vgpu/sanitizer/race_detector.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace kernevo::vgpu {

struct LiveBlock {
  std::uint32_t index = 0;
  std::uint32_t run = 0;      // distinguishes blocks that reuse the same cells
  bool fenced_block = false;  // some thread executed a fence, at block scope or wider
  bool fenced_device = false; // the same at device scope
  std::vector<WarpClocks> warps;
  std::vector<Cell> cells;                              // of shared memory
  std::unordered_map<std::uint64_t, SyncPoint> chunks;  // of shared memory
  std::unordered_map<std::uint64_t, SyncPoint> objects; // named by the caller
  // The last use of its shared memory by each warp of other blocks, by clock component.
  struct Use {
    Actor who;
    Touch touch = Touch::load;
    Clock clock = 0;
  };
  std::unordered_map<std::uint32_t, Use> uses;

  std::uint64_t name(std::uint32_t warp) const { return std::uint64_t{run} << 32U | warp; }
};

struct TrackedAccess {
  const Actor& who;
  Touch touch;
  bool strong;
  bool same_value;
  bool narrow = false; // Trace

  bool writes() const { return vgpu::writes(touch); }
};

struct RaceDetector::State {
  State(std::uint64_t blocks, std::uint32_t warps, std::uint32_t granule_bytes,
        std::uint64_t cell_bytes)
      : warps_per_block(std::max(warps, 1U)), granule(std::max(granule_bytes, 1U)),
        granule_shift(static_cast<unsigned>(std::countr_zero(granule))),
        clocks(std::max<std::uint64_t>(blocks, 1), warps_per_block), budget(cell_bytes) {}

  std::uint32_t warps_per_block;
  std::uint32_t granule;
  unsigned granule_shift;
  GridClocks clocks;
  std::unordered_map<std::uint32_t, std::unique_ptr<LiveBlock>> live;
  LiveBlock* recent_block = nullptr;
  std::vector<std::vector<Cell>> spare_cells; // of ended blocks; their runs make them stale
  std::uint32_t runs = 0;
  std::unordered_map<std::uint64_t, CellRegion> regions;
  std::uint64_t recent_region_id = 0;
  CellRegion* recent_region = nullptr;
  std::uint64_t budget;
  std::uint64_t untracked = 0;
  std::vector<Actor> promises; // of memory that stays as it is; see Cell

  LiveBlock& begin(std::uint32_t block, std::uint64_t shared_bytes);
  void end(std::uint32_t block);
  LiveBlock& block(std::uint32_t index);
  CellRegion& region(std::uint64_t id, std::uint64_t bytes);

  struct Place {
    std::uint64_t region;
    std::uint64_t region_bytes;
    std::uint64_t offset;
    std::uint32_t size;
  };
  // `publishes`: strong writes carry what the block did before.
  std::optional<Race> touch_region(LiveBlock& here, const Place& place, const TrackedAccess& now,
                                   bool publishes);
  bool ordered(const LiveBlock& here, const Trace& before, std::uint32_t owner,
               const TrackedAccess& now) const;
  void remember_read(const LiveBlock& here, Cell& cell, std::uint32_t owner,
                     const TrackedAccess& now, Clock clock) const;
  const Trace* conflict(const LiveBlock& here, Cell& cell, std::uint32_t owner,
                        const TrackedAccess& now, Clock clock) const;
  std::optional<Race> staleness(Cell& cell, std::uint32_t owner, const TrackedAccess& now);
  std::optional<Race> touch_cell(LiveBlock& here, Cell& cell, std::uint32_t owner,
                                 const TrackedAccess& now, Clock clock);

  void publish_local(LiveBlock& here, std::uint32_t warp, SyncPoint& point);
  void learn_local(LiveBlock& here, std::uint32_t warp, SyncPoint& point) const;
  void publish_global(LiveBlock& here, std::uint32_t warp, SyncPoint& point);
  void learn_global(LiveBlock& here, std::uint32_t warp, SyncPoint& point) const;
};

} // namespace kernevo::vgpu
