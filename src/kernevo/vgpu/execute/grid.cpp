// Blocks over cores. Each core runs a block as long as it makes progress; a block that only polls
// (for another block's flag, at a grid barrier) makes room for others, up to what the GPU could
// hold. Cores share nothing they write often: each takes several tickets at a time, counts on a
// cache line of its own and keeps its blocks' memory for the next ones.
#include "kernevo/vgpu/execute/grid.h"

#include "kernevo/vgpu/execute/cluster.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/launch_limits.h"
#include "kernevo/vgpu/execute/permutation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace kernevo::vgpu {
namespace {

constexpr std::uint64_t kBlockSlice = 1U << 20U;
// A block that runs this many slices may be polling in a way that is not recognised.
constexpr std::uint32_t kSlicesBeforeCompany = 64;
// Tickets a core takes at once: few enough that the last ones spread over all cores.
constexpr std::uint64_t kMostTickets = 16;
constexpr std::uint64_t kSharesLeft = 8; // of what is left, by core
// Looks in vain of a block that takes turns before it is taken to wait for a later one.
constexpr std::uint32_t kPatience = 1024;
// Waiting for turns that is not worth a thought.
constexpr auto kTolerableWait = std::chrono::milliseconds(5);

struct Grid {
  LaunchState& launch;
  std::vector<std::uint64_t> chosen = {}; // clusters to run; empty = all
  std::uint64_t clusters = 0;
  std::uint64_t most_tickets = 1;
  std::optional<Permutation> shuffle = std::nullopt;
  std::uint64_t company_limit = 0; // clusters that may be resident beside the first of each core
  alignas(64) std::atomic<std::uint64_t> next = 0;
  alignas(64) std::atomic<std::uint64_t> company = 0;
  // Most time goes into waiting for turns: the work is serial, or the machine has no core to spare.
  // The first core goes on alone.
  std::atomic<bool> disbanded = false;

  std::uint64_t cluster_at(std::uint64_t ticket) const {
    if (shuffle)
      ticket = (*shuffle)(ticket);
    return chosen.empty() ? ticket : chosen[ticket];
  }
};

class Core {
public:
  Core(Grid& grid, std::size_t index) : grid_(grid), launch_(grid.launch), index_(index) {}

  void work() {
    while (!launch_.stop.load(std::memory_order_relaxed)) {
      if (running_.empty() && !admit())
        break;
      std::unique_ptr<Cluster> cluster = std::move(running_.front());
      running_.pop_front();
      const Progress progress = cluster->run(kBlockSlice);
      if (progress == Progress::stopped)
        break;
      if (progress == Progress::done) {
        // Whatever could explain a read of unwritten shared memory has happened by now.
        if (launch_.suspicion && launch_.suspicion->space == "shared")
          break;
        if (!running_.empty())
          grid_.company.fetch_sub(1, std::memory_order_relaxed);
        launch_.cores[index_].blocks_run += launch_.cluster_blocks;
        if (launch_.tier)
          launch_.tier->block_done();
        spare_.push_back(std::move(cluster));
        slices_ = 0;
        vain_ = 0;
        launch_.turns_in_vain.store(0, std::memory_order_relaxed);
        if (launch_.turns && retires())
          break;
        continue;
      }
      running_.push_back(std::move(cluster));
      make_room(progress == Progress::spinning);
    }
    if (launch_.turns)
      launch_.turns->leave(index_);
  }

private:
  // Between blocks of a launch that takes turns.
  bool retires() {
    const auto waited = time_waited_for_turns() - waited_before_;
    if (waited > kTolerableWait && 2 * waited > std::chrono::steady_clock::now() - launch_.started)
      grid_.disbanded.store(true, std::memory_order_relaxed);
    return index_ != 0 && running_.empty() && grid_.disbanded.load(std::memory_order_relaxed);
  }

  // The block at the end of the line did not finish: should another run beside it?
  void make_room(bool spinning) {
    if (launch_.turns && vain_ < kPatience) {
      // It waits for an earlier block, which another core runs.
      if (!spinning)
        return;
      std::this_thread::yield();
      if (++vain_ == kPatience)
        launch_.turns->abandon();
      return;
    }
    if (!spinning)
      launch_.turns_in_vain.store(0, std::memory_order_relaxed);
    if (!spinning && ++slices_ % kSlicesBeforeCompany != 0)
      return;
    const bool room = grid_.company.fetch_add(1, std::memory_order_relaxed) < grid_.company_limit;
    if (room && admit())
      return;
    grid_.company.fetch_sub(1, std::memory_order_relaxed);
    if (spinning && !room && grid_.next.load(std::memory_order_relaxed) < grid_.clusters)
      launch_.turns_in_vain.fetch_add(1, std::memory_order_relaxed);
  }

  std::optional<std::uint64_t> take_ticket() {
    if (first_ == last_) {
      const std::uint64_t next = grid_.next.load();
      if (next >= grid_.clusters)
        return std::nullopt;
      if (launch_.turns)
        launch_.turns->announce(index_, next);
      const std::uint64_t share = std::clamp<std::uint64_t>(
          (grid_.clusters - next) / (launch_.cores.size() * kSharesLeft), 1, grid_.most_tickets);
      first_ = std::min(grid_.next.fetch_add(share), grid_.clusters);
      last_ = std::min(first_ + share, grid_.clusters);
    }
    if (first_ == last_)
      return std::nullopt;
    return first_++;
  }

  // Puts the next cluster (often just one block) at the head of the line, if any is left.
  bool admit() {
    const auto ticket = take_ticket();
    if (!ticket)
      return false;
    if (launch_.turns)
      launch_.turns->begin(index_, *ticket);
    std::unique_ptr<Cluster> cluster;
    if (spare_.empty()) {
      cluster = std::make_unique<Cluster>();
    } else {
      cluster = std::move(spare_.back());
      spare_.pop_back();
    }
    cluster->start(launch_, grid_.cluster_at(*ticket));
    for (const auto& block : cluster->blocks) {
      block->ticket = *ticket;
      block->core = index_;
    }
    running_.push_front(std::move(cluster));
    return true;
  }

  Grid& grid_;
  LaunchState& launch_;
  std::size_t index_;
  std::uint64_t first_ = 0; // tickets in hand
  std::uint64_t last_ = 0;
  std::deque<std::unique_ptr<Cluster>> running_;
  std::vector<std::unique_ptr<Cluster>> spare_;
  std::uint32_t slices_ = 0;
  std::uint32_t vain_ = 0;
  std::chrono::steady_clock::duration waited_before_ = time_waited_for_turns();
};

// The clusters of the chosen blocks, each once, in the order of the blocks.
std::vector<std::uint64_t> chosen_clusters(const LaunchState& launch) {
  if (launch.cluster_blocks == 1)
    return launch.config->only_blocks;
  std::vector<std::uint64_t> clusters;
  for (const std::uint64_t block : launch.config->only_blocks)
    if (const std::uint64_t cluster = cluster_of(launch, block);
        std::find(clusters.begin(), clusters.end(), cluster) == clusters.end())
      clusters.push_back(cluster);
  return clusters;
}

// Where blocks may wait for each other and their order shows, one core runs them in an order that
// does not depend on time.
std::size_t core_count(const LaunchState& launch, std::uint64_t clusters, std::uint64_t capacity) {
  const bool ordered = launch.order.matters && launch.options->deterministic;
  if (launch.sanitize || launch.recorder ||
      (ordered && (launch.order.polls || launch.config->cooperative)))
    return 1;
  const auto wanted = static_cast<std::uint64_t>(
      launch.options->cores > 0
          ? launch.options->cores
          : std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  return std::max<std::size_t>(1, std::min({wanted, clusters, capacity}));
}

} // namespace

void run_grid(LaunchState& launch) {
  Grid grid{launch};
  grid.chosen = chosen_clusters(launch);
  grid.clusters =
      grid.chosen.empty() ? launch.grid_blocks / launch.cluster_blocks : grid.chosen.size();
  const std::uint64_t capacity =
      std::max<std::uint64_t>(resident_limit(launch) / launch.cluster_blocks, 1);
  launch.order = order_dependence(*launch.program, launch.kernel->index);
  const std::size_t cores = core_count(launch, grid.clusters, capacity);
  grid.company_limit = capacity - cores;
  launch.most_resident = capacity * launch.cluster_blocks;
  if (launch.options->order == BlockOrder::shuffled)
    grid.shuffle.emplace(grid.clusters, launch.options->order_seed);
  launch.cores = std::vector<CoreCounters>(cores);
  launch.contended = cores > 1;
  if (launch.contended && launch.order.matters && launch.options->deterministic)
    launch.turns.emplace(cores);
  // Tickets in hand must not be what another core's block waits for, nor hold up the turns.
  if (!launch.turns && !launch.order.polls && !launch.config->cooperative)
    grid.most_tickets = kMostTickets;
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < cores; ++i)
    helpers.emplace_back([&grid, i] { Core(grid, i).work(); });
  Core(grid, 0).work();
  for (std::thread& helper : helpers)
    helper.join();
  for (const CoreCounters& core : launch.cores) {
    launch.executed += core.executed.load(std::memory_order_relaxed);
    launch.threads_executed += core.threads_executed;
    launch.blocks_run += core.blocks_run;
    launch.compiled_instructions += core.compiled_instructions;
    launch.memory_counters += core.memory;
  }
}

} // namespace kernevo::vgpu
