#include "kernevo/vgpu/execute/cluster.h"

#include "kernevo/vgpu/execute/barrier.h"
#include "kernevo/vgpu/execute/findings.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::vgpu {
namespace {

// Warp instructions a block runs before the others of its cluster have their turn.
constexpr std::uint64_t kTurn = 1U << 16U;

using Extent = std::array<std::uint32_t, 3>;

Extent coordinates(std::uint64_t number, const Extent& extent) {
  return {static_cast<std::uint32_t>(number % extent[0]),
          static_cast<std::uint32_t>(number / extent[0] % extent[1]),
          static_cast<std::uint32_t>(number / extent[0] / extent[1])};
}

std::uint64_t linear(const Extent& at, const Extent& extent) {
  return at[0] + std::uint64_t{extent[0]} * (at[1] + std::uint64_t{extent[1]} * at[2]);
}

Extent clusters_of(const LaunchState& launch) {
  Extent count = launch.config->grid;
  for (std::size_t i = 0; i < count.size(); ++i)
    count[i] /= launch.cluster[i];
  return count;
}

struct Waiter {
  BlockState* block = nullptr;
  WarpState* warp = nullptr;
  const Split* split = nullptr;

  const Op& op() const { return split->frame->code->ops[split->pc]; }
  const ptx::Instruction& instruction() const {
    return split->frame->code->function->instructions[op().instruction];
  }
  bool at_cluster_barrier() const {
    return instruction().opcode == ptx::Opcode::barrier_cluster_wait;
  }
  std::string where() const {
    const ptx::Instruction& at = instruction();
    return fmt::format("thread ({}) of the block of rank {} waits at {}",
                       fmt::join(thread_index(*warp, std::countr_zero(split->mask)), ","),
                       block->rank,
                       at.source.line > 0 ? fmt::format("line {}", at.source.line)
                                          : fmt::format("PTX line {}", at.line));
  }
};

// No block can move. The cause is where a thread waits for something else than the cluster.
void report_stuck_cluster(Cluster& cluster) {
  Waiter at_barrier;
  Waiter elsewhere;
  for (auto& block : cluster.blocks)
    for (WarpState& warp : block->warps)
      for (const Split& split : warp.splits) {
        const Waiter waiter{block.get(), &warp, &split};
        Waiter& kind = waiter.at_cluster_barrier() ? at_barrier : elsewhere;
        if (kind.block == nullptr)
          kind = waiter;
      }
  if (at_barrier.block == nullptr || elsewhere.block == nullptr) {
    const Waiter& any = elsewhere.block != nullptr ? elsewhere : at_barrier;
    if (any.block != nullptr)
      report_stuck(*any.block);
    return;
  }
  // A block that is stuck by itself explains why the others wait for it.
  if (elsewhere.split->state != SplitState::waiting) {
    report_stuck(*elsewhere.block);
    return;
  }
  at_barrier.warp->current = at_barrier.split->frame;
  at_barrier.warp->raise(
      FindingKind::deadlock, at_barrier.op(), std::countr_zero(at_barrier.split->mask),
      fmt::format("waits at the cluster barrier for ever: {}", elsewhere.where()));
}

} // namespace

std::uint64_t cluster_of(const LaunchState& launch, std::uint64_t block) {
  Extent at = coordinates(block, launch.config->grid);
  for (std::size_t i = 0; i < at.size(); ++i)
    at[i] /= launch.cluster[i];
  return linear(at, clusters_of(launch));
}

SharedPlace locate_shared(BlockState& block, std::uint64_t address) {
  if (block.cluster == nullptr)
    return {&block, 0, address};
  const std::uint64_t rank = address >> kRankShift;
  SharedPlace place;
  place.rank = static_cast<std::uint32_t>(rank);
  place.offset = address & (kSharedPart - 1);
  if (rank < block.cluster->blocks.size())
    place.block = block.cluster->blocks[rank].get();
  return place;
}

BlockState* shared_owner(BlockState& block, const std::byte* pointer) {
  auto inside = [&](const BlockState& other) {
    return pointer >= other.shared && pointer < other.shared + other.shared_bytes;
  };
  if (inside(block))
    return &block;
  if (block.cluster != nullptr)
    for (auto& other : block.cluster->blocks)
      if (inside(*other))
        return other.get();
  return nullptr;
}

std::uint64_t shared_region(const BlockState& block) {
  return kSharedWindow + block.number * kSharedPart;
}

std::uint64_t cluster_region(const BlockState& block) {
  const BlockState& first = block.cluster == nullptr ? block : *block.cluster->blocks.front();
  return shared_region(first) + kSharedPart / 2;
}

void check_exit(BlockState& block) {
  LaunchState& launch = *block.launch;
  if (!launch.races || block.cluster == nullptr)
    return;
  launch.races->forget_region(shared_region(block));
  const auto race = launch.races->use_at_exit(static_cast<std::uint32_t>(block.number));
  if (!race)
    return;
  const Code* code = nullptr;
  launch.program->instruction_of(race->first.instruction, &code);
  const Extent who = coordinates(race->first.block, launch.config->grid);
  Finding finding = finding_at(launch, FindingKind::shared_race, *code,
                               race->first.instruction - code->first_tag);
  finding.message = fmt::format(
      "a thread of block ({}) uses the shared memory of block ({}), which may have exited: "
      "synchronise the cluster before a block leaves",
      fmt::join(who, ","), fmt::join(block.index, ","));
  launch.record(std::move(finding));
}

bool complete_cluster_barrier(BlockState& block) {
  auto arrived = [](const BlockState& one) {
    return std::all_of(one.warps.begin(), one.warps.end(), [](const WarpState& warp) {
      return (warp.live & ~warp.cluster_arrived) == 0;
    });
  };
  auto reset = [](BlockState& one) {
    for (WarpState& warp : one.warps)
      warp.cluster_arrived = 0;
  };
  if (block.cluster == nullptr) {
    if (!arrived(block))
      return false;
    reset(block);
    return true;
  }
  for (const auto& one : block.cluster->blocks)
    if (!arrived(*one))
      return false;
  for (auto& one : block.cluster->blocks) {
    reset(*one);
    if (one->launch->races)
      one->launch->races->cluster_barrier(static_cast<std::uint32_t>(one->number));
  }
  return true;
}

void Cluster::start(LaunchState& launch, std::uint64_t number) {
  while (blocks.size() < launch.cluster_blocks)
    blocks.push_back(std::make_unique<BlockState>());
  if (launch.cluster_blocks == 1) {
    blocks.front()->start(launch, number);
    return;
  }
  const Extent at = coordinates(number, clusters_of(launch));
  for (std::uint32_t rank = 0; rank < launch.cluster_blocks; ++rank) {
    const Extent inside = coordinates(rank, launch.cluster);
    const Extent index = {at[0] * launch.cluster[0] + inside[0],
                          at[1] * launch.cluster[1] + inside[1],
                          at[2] * launch.cluster[2] + inside[2]};
    BlockState& block = *blocks[rank];
    block.cluster = this;
    block.rank = rank;
    block.shared_base = std::uint64_t{rank} << kRankShift;
    block.start(launch, linear(index, launch.config->grid));
  }
}

Progress Cluster::run(std::uint64_t instructions) {
  if (blocks.size() == 1)
    return blocks.front()->run(instructions);
  for (std::uint64_t left = instructions;;) {
    bool moved = false;
    bool spinning = false;
    bool done = true;
    for (auto& block : blocks) {
      if (block->live_warps == 0)
        continue;
      const std::uint64_t before = block->warp_instructions;
      const Progress progress = block->run(kTurn);
      if (progress == Progress::stopped)
        return Progress::stopped;
      left -= std::min(left, block->warp_instructions - before);
      moved = moved || (block->moved && progress != Progress::spinning);
      spinning = spinning || progress == Progress::spinning;
      done = done && block->live_warps == 0;
    }
    if (done)
      return Progress::done;
    if (!moved && spinning)
      return Progress::spinning;
    if (!moved) {
      report_stuck_cluster(*this);
      return Progress::stopped;
    }
    if (left == 0)
      return Progress::running;
  }
}

} // namespace kernevo::vgpu
