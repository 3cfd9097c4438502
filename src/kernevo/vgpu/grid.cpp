// Blocks over cores. Each core runs a block as long as it makes progress; a block that only polls
// (for another block's flag, at a grid barrier) makes room for others, up to what the GPU could
// hold.
#include "kernevo/vgpu/launch.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace kernevo::vgpu {
namespace {

constexpr std::uint64_t kBlockSlice = 1U << 20U;
// A block that runs this many slices may be polling in a way that is not recognised.
constexpr std::uint32_t kSlicesBeforeCompany = 64;

struct Grid {
  LaunchState& launch;
  std::uint64_t blocks = 0;
  std::uint64_t capacity = 0;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> resident = 0;

  // The next block to run, if any is left and there is room.
  bool admit(BlockState& state) {
    if (resident.fetch_add(1) >= capacity) {
      resident.fetch_sub(1);
      return false;
    }
    const std::uint64_t ticket = next.fetch_add(1);
    if (ticket >= blocks) {
      resident.fetch_sub(1);
      return false;
    }
    const auto& chosen = launch.config->only_blocks;
    state.start(launch, chosen.empty() ? ticket : chosen[ticket]);
    return true;
  }

  void work() {
    std::deque<std::unique_ptr<BlockState>> running;
    std::vector<std::unique_ptr<BlockState>> spare;
    std::uint32_t slices = 0;
    auto admit_one = [&] {
      if (next.load(std::memory_order_relaxed) >= blocks)
        return false;
      std::unique_ptr<BlockState> state;
      if (spare.empty()) {
        state = std::make_unique<BlockState>();
      } else {
        state = std::move(spare.back());
        spare.pop_back();
      }
      const bool admitted = admit(*state);
      if (admitted)
        running.push_front(std::move(state));
      else
        spare.push_back(std::move(state));
      return admitted;
    };
    while (!launch.stop.load(std::memory_order_relaxed)) {
      if (running.empty() && !admit_one()) {
        if (next.load() >= blocks)
          return;
        std::this_thread::yield(); // other cores hold all the room
        continue;
      }
      std::unique_ptr<BlockState> block = std::move(running.front());
      running.pop_front();
      const Progress progress = block->run(kBlockSlice);
      if (progress == Progress::stopped)
        return;
      if (progress == Progress::done) {
        // Whatever could explain a read of unwritten shared memory has happened by now.
        if (launch.suspicion && launch.suspicion->space == "shared")
          return;
        resident.fetch_sub(1);
        launch.blocks_run.fetch_add(1, std::memory_order_relaxed);
        spare.push_back(std::move(block));
        slices = 0;
        continue;
      }
      running.push_back(std::move(block));
      if (progress == Progress::spinning || ++slices % kSlicesBeforeCompany == 0)
        admit_one();
    }
  }
};

} // namespace

void run_grid(LaunchState& launch) {
  Grid grid{launch};
  grid.blocks =
      launch.config->only_blocks.empty() ? launch.grid_blocks : launch.config->only_blocks.size();
  grid.capacity = std::max<std::uint64_t>(resident_limit(launch), 1);
  int cores = launch.options->cores > 0 ? launch.options->cores
                                        : static_cast<int>(std::thread::hardware_concurrency());
  if (launch.sanitize)
    cores = 1;
  cores = static_cast<int>(
      std::clamp<std::uint64_t>(grid.blocks, 1, static_cast<std::uint64_t>(std::max(cores, 1))));
  launch.contended = cores > 1;
  std::vector<std::thread> helpers;
  for (int i = 1; i < cores; ++i)
    helpers.emplace_back([&grid] { grid.work(); });
  grid.work();
  for (std::thread& helper : helpers)
    helper.join();
}

} // namespace kernevo::vgpu
