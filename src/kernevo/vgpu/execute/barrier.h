// Block barriers, exact: each counts the threads that arrived and lets them go together.
#pragma once

#include "kernevo/vgpu/program/program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernevo::vgpu {

struct BlockState; // see block.h
struct WarpState;  // see warp_state.h

struct BarrierState {
  bool active = false;
  std::uint32_t count = 0;           // threads it waits for; 0 = all of the block
  std::vector<LaneMask> arrived;     // by warp
  bool announced = false;            // some only arrived (bar.arrive) and went on
  std::uint32_t true_predicates = 0; // bar.red
  std::uint32_t predicates = 0;
};

inline constexpr int kBarriers = 16;

// The lanes of the split, all active, arrive at the barrier op they stand at.
void arrive_at_barrier(WarpState& warp, std::size_t split);
// All lanes of a warp that has not diverged arrive at the bar.sync of the whole block. True when
// that opens it.
bool arrive_whole_warp(WarpState& warp, std::uint32_t pc);
// Lets the threads of every complete barrier go.
void complete_barriers(BlockState& block);
// Every thread waits: says why.
void report_stuck(BlockState& block);

} // namespace kernevo::vgpu
