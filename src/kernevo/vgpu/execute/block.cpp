#include "kernevo/vgpu/execute/block.h"

#include "kernevo/base/random.h"
#include "kernevo/vgpu/execute/barrier.h"
#include "kernevo/vgpu/execute/cluster.h"
#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/leftovers.h"
#include "kernevo/vgpu/execute/runner.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/tier/compiled_run.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

namespace kernevo::vgpu {

WarpState::WarpState() = default;
WarpState::~WarpState() = default;
WarpState::WarpState(WarpState&&) noexcept = default;
WarpState& WarpState::operator=(WarpState&&) noexcept = default;

namespace {

// The same in the shuffled order, at most.
constexpr std::uint32_t kShuffledQuantum = 8192;
// In profile mode warps take turns as often as they can, so that the caches see their accesses
// mixed.
constexpr std::uint32_t kProfileQuantum = 1;
// Rounds in which all warps only poll before other blocks get the core.
constexpr int kSpinRounds = 4;
constexpr std::size_t kSharedAlignment = 1024;
// A core looks at the budget and the clock this often.
constexpr std::uint64_t kLimitCheck = 1U << 16U;

void start_warp(WarpState& warp, BlockState& block, std::uint32_t index) {
  LaunchState& launch = *block.launch;
  warp.launch = &launch;
  warp.block = &block;
  warp.index = static_cast<int>(index);
  const std::uint32_t threads = std::min<std::uint32_t>(
      kWarpSize, launch.threads_per_block - index * std::uint32_t{kWarpSize});
  warp.cluster_arrived = 0;
  warp.cluster_unwaited = 0;
  warp.started = threads == kWarpSize ? kAllLanes : (LaneMask{1} << threads) - 1;
  warp.live = warp.started;
  warp.faulted = false;
  warp.must_wait = false;
  warp.executed = 0;
  warp.deadline = 0;
  warp.strong_access = false;
  warp.watched = false;
  warp.spinning = false;
  if (warp.activation && (warp.activation->parked || warp.activation->left))
    warp.activation.reset(); // its block ended with a fault
  warp.hits.fill(nullptr);
  warp.pending.clear();
  warp.open_group.fill(0);
  warp.last_effect.fill(kNone);
  warp.visited.assign(launch.sanitize ? launch.kernel->ops.size() : 0, 0);
  warp.splits.clear();
  for (auto& frame : warp.frames)
    warp.spare.push_back(std::move(frame));
  warp.frames.clear();
  warp.leftover =
      leftover_word(launch.options->order_seed, block.number * launch.warps_per_block + index);
  fill_with(warp.local, warp.leftover);
  warp.entry = push_frame(warp, *launch.kernel, nullptr, 0, warp.live);
  if (warp.entry == nullptr)
    return;
  warp.current = warp.entry;
  warp.frame = warp.entry->registers;
  warp.splits.push_back({.mask = warp.live, .frame = warp.entry});
  // As after a barrier, the lanes part before they run.
  warp.parts = launch.lanes_part;
  warp.apart = 0;
  warp.passed_barrier = warp.parts;
}

} // namespace

void BlockState::start(LaunchState& state, std::uint64_t block) {
  launch = &state;
  number = block;
  if (state.cluster_blocks == 1) {
    cluster = nullptr;
    rank = 0;
    shared_base = 0;
  }
  recorder = state.recorder && state.recorder->counts(block) ? state.recorder.get() : nullptr;
  const auto& grid = state.config->grid;
  index = {static_cast<std::uint32_t>(block % grid[0]),
           static_cast<std::uint32_t>(block / grid[0] % grid[1]),
           static_cast<std::uint32_t>(block / grid[0] / grid[1])};
  shared_bytes = state.shared_bytes;
  if (shared_storage.size() < shared_bytes + kSharedAlignment)
    shared_storage.resize(shared_bytes + kSharedAlignment);
  void* aligned = shared_storage.data();
  std::size_t space = shared_storage.size();
  shared = static_cast<std::byte*>(std::align(kSharedAlignment, shared_bytes, aligned, space));
  fill_with({shared, shared_bytes}, leftover_word(~state.options->order_seed, block));
  if (state.sanitize)
    shared_written.assign(shared_bytes, kUnwritten);
  if (state.uses_reserved_shared) {
    std::memset(shared + state.reserved_shared, 0, kReservedShared);
    if (state.sanitize)
      std::fill_n(shared_written.begin() + static_cast<std::ptrdiff_t>(state.reserved_shared),
                  kReservedShared, kWritten);
  }
  for (BarrierState& barrier : barriers)
    barrier.active = false;
  clock = 0;
  warp_instructions = 0;
  thread_instructions = 0;
  counted = 0;
  counted_threads = 0;
  has_turn = false;
  choices = 0;
  interpreted.resize(state.tier ? state.program->codes.size() : 0);
  warps.resize(state.warps_per_block);
  live_warps = state.warps_per_block;
  for (std::uint32_t i = 0; i < warps.size(); ++i)
    start_warp(warps[i], *this, i);
  if (state.races)
    state.races->begin_block(static_cast<std::uint32_t>(block), shared_bytes);
}

std::uint64_t BlockState::choose(std::uint64_t count) {
  const CounterRandom random(launch->options->order_seed + number);
  return random.bits(choices++) % count;
}

void BlockState::add_to_tally(std::uint64_t instructions) const {
  BlockTally& tally = launch->config->tallies[number];
  tally.warp_instructions += instructions;
  tally.sectors += memory.global_load_sectors + memory.global_store_sectors;
  tally.atomics += memory.atomic_lanes;
}

void BlockState::count_instructions() {
  CoreCounters& counters = launch->cores[core];
  const std::uint64_t fresh = warp_instructions - counted;
  if (!launch->config->tallies.empty())
    add_to_tally(fresh);
  counters.executed.store(counters.executed.load(std::memory_order_relaxed) + fresh,
                          std::memory_order_relaxed);
  counters.threads_executed += thread_instructions - counted_threads;
  counters.unchecked += fresh;
  counted = warp_instructions;
  counted_threads = thread_instructions;
  if (launch->tier && compiled_instructions != 0)
    launch->tier->compiled(compiled_instructions);
  counters.compiled_instructions += std::exchange(compiled_instructions, 0);
  counters.memory += std::exchange(memory, {});
  for (std::uint32_t function = 0; function < interpreted.size(); ++function)
    for (const bool full : {false, true})
      if (auto& instructions = interpreted[function].at(full ? 1 : 0); instructions != 0)
        launch->tier->interpreted(function, full, std::exchange(instructions, 0));
}

Progress BlockState::run(std::uint64_t instructions) {
  const std::uint64_t end = warp_instructions + instructions;
  int spin_rounds = 0;
  const bool shuffled = launch->options->order == BlockOrder::shuffled;
  std::vector<std::uint32_t> round(shuffled ? warps.size() : 0);
  for (std::uint32_t i = 0; i < round.size(); ++i)
    round[i] = i;
  moved = false;
  while (live_warps != 0) {
    if (recorder != nullptr && recorder->full())
      recorder = nullptr;
    std::uint64_t useful = 0;
    bool only_spinning = true;
    for (std::size_t i = 0; i < warps.size(); ++i) {
      // A random choice among those left, swapped to the front of them.
      if (shuffled)
        std::swap(round[i], round[i + choose(warps.size() - i)]);
      WarpState& warp = warps[shuffled ? round[i] : i];
      if (warp.live == 0)
        continue;
      for (Split& split : warp.splits)
        if (split.state == SplitState::waiting)
          make_ready(split, warp.executed);
      scheduled = &warp;
      last_run = &warp;
      turn_start = warp.executed;
      const std::uint64_t executed =
          run_warp(warp, shuffled ? 1U + static_cast<std::uint32_t>(choose(kShuffledQuantum))
                         : recorder != nullptr ? kProfileQuantum
                                               : kWarpQuantum);
      useful += executed;
      only_spinning = only_spinning && (executed == 0 || warp.spinning);
      if (launch->stop.load(std::memory_order_relaxed))
        break;
      // The warps it handed over to have had their turn, but for one that left its code.
      if (last_run != &warp)
        i = static_cast<std::size_t>(last_run->index) - (last_run->activation->left ? 1 : 0);
    }
    count_instructions();
    if (CoreCounters& counters = launch->cores[core]; counters.unchecked >= kLimitCheck) {
      counters.unchecked = 0;
      launch->within_limits();
    }
    if (launch->stop.load(std::memory_order_relaxed))
      return Progress::stopped;
    if (live_warps == 0)
      break;
    moved = moved || useful != 0;
    if (useful == 0) {
      if (cluster != nullptr)
        return Progress::blocked;
      report_stuck(*this);
      return Progress::stopped;
    }
    spin_rounds = only_spinning ? spin_rounds + 1 : 0;
    if (spin_rounds >= kSpinRounds)
      return Progress::spinning;
    if (warp_instructions >= end)
      return Progress::running;
  }
  if (cluster != nullptr)
    check_exit(*this);
  if (launch->races)
    launch->races->end_block(static_cast<std::uint32_t>(number));
  if (launch->stop.load(std::memory_order_relaxed))
    return Progress::stopped;
  return Progress::done;
}

} // namespace kernevo::vgpu
