#include "kernevo/vgpu/block.h"

#include "kernevo/vgpu/launch.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace kernevo::vgpu {
namespace {

// Ops a warp runs before the next one has its turn.
constexpr std::uint32_t kWarpQuantum = 8192;
// Rounds in which all warps only poll before other blocks get the core.
constexpr int kSpinRounds = 4;
constexpr std::size_t kSharedAlignment = 1024;

void start_warp(WarpState& warp, BlockState& block, std::uint32_t index) {
  LaunchState& launch = *block.launch;
  warp.launch = &launch;
  warp.block = &block;
  warp.index = static_cast<int>(index);
  const std::uint32_t threads = std::min<std::uint32_t>(
      kWarpSize, launch.threads_per_block - index * std::uint32_t{kWarpSize});
  warp.started = threads == kWarpSize ? kAllLanes : (LaneMask{1} << threads) - 1;
  warp.live = warp.started;
  warp.faulted = false;
  warp.must_wait = false;
  warp.strong_access = false;
  warp.spinning = false;
  warp.hits.fill(nullptr);
  warp.pending.clear();
  warp.open_group.fill(0);
  warp.last_effect.fill(kNone);
  warp.visited.assign(launch.sanitize ? launch.kernel->ops.size() : 0, 0);
  warp.splits.clear();
  for (auto& frame : warp.frames)
    warp.spare.push_back(std::move(frame));
  warp.frames.clear();
  std::fill(warp.local.begin(), warp.local.end(), std::byte{0});
  warp.entry = push_frame(warp, *launch.kernel, nullptr, 0, warp.live);
  if (warp.entry == nullptr)
    return;
  warp.current = warp.entry;
  warp.frame = warp.entry->registers;
  warp.splits.push_back({warp.live, 0, warp.entry, SplitState::ready, false});
}

} // namespace

void BlockState::start(LaunchState& state, std::uint64_t block) {
  launch = &state;
  number = block;
  const auto& grid = state.config->grid;
  index = {static_cast<std::uint32_t>(block % grid[0]),
           static_cast<std::uint32_t>(block / grid[0] % grid[1]),
           static_cast<std::uint32_t>(block / grid[0] / grid[1])};
  shared_bytes = state.shared_bytes;
  if (shared_storage.size() < shared_bytes + kSharedAlignment)
    shared_storage.resize(shared_bytes + kSharedAlignment);
  // What an earlier block left behind must not look like data.
  std::fill(shared_storage.begin(), shared_storage.end(), std::byte{0xFF});
  void* aligned = shared_storage.data();
  std::size_t space = shared_storage.size();
  shared = static_cast<std::byte*>(std::align(kSharedAlignment, shared_bytes, aligned, space));
  if (state.sanitize)
    shared_written.assign(shared_bytes, kUnwritten);
  for (BarrierState& barrier : barriers)
    barrier.active = false;
  clock = 0;
  warp_instructions = 0;
  thread_instructions = 0;
  warps.resize(state.warps_per_block);
  live_warps = state.warps_per_block;
  for (std::uint32_t i = 0; i < warps.size(); ++i)
    start_warp(warps[i], *this, i);
  if (state.races)
    state.races->begin_block(static_cast<std::uint32_t>(block), shared_bytes);
}

Progress BlockState::run(std::uint64_t instructions) {
  const std::uint64_t end = warp_instructions + instructions;
  int spin_rounds = 0;
  while (live_warps != 0) {
    const std::uint64_t before = warp_instructions;
    const std::uint64_t threads_before = thread_instructions;
    std::uint64_t useful = 0;
    bool only_spinning = true;
    for (WarpState& warp : warps) {
      if (warp.live == 0)
        continue;
      for (Split& split : warp.splits)
        if (split.state == SplitState::waiting)
          split.state = SplitState::ready;
      const std::uint32_t executed = run_warp(warp, kWarpQuantum);
      useful += executed;
      only_spinning = only_spinning && (executed == 0 || warp.spinning);
      if (launch->stop.load(std::memory_order_relaxed))
        break;
    }
    launch->executed.fetch_add(warp_instructions - before, std::memory_order_relaxed);
    launch->threads_executed.fetch_add(thread_instructions - threads_before,
                                       std::memory_order_relaxed);
    if (!launch->within_limits())
      return Progress::stopped;
    if (live_warps == 0)
      break;
    if (useful == 0) {
      report_stuck(*this);
      return Progress::stopped;
    }
    spin_rounds = only_spinning ? spin_rounds + 1 : 0;
    if (spin_rounds >= kSpinRounds)
      return Progress::spinning;
    if (warp_instructions >= end)
      return Progress::running;
  }
  if (launch->races)
    launch->races->end_block(static_cast<std::uint32_t>(number));
  return Progress::done;
}

} // namespace kernevo::vgpu
