#include "kernevo/vgpu/execute/barrier.h"

#include "kernevo/vgpu/execute/findings.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/program/control.h"
#include "kernevo/vgpu/program/order.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace kernevo::vgpu {
namespace {

const Op& op_of(const Split& split) {
  return split.frame->code->ops[split.pc];
}

const BarrierDetail& detail_of(const Split& split) {
  return static_cast<const BarrierDetail&>(*op_of(split).detail);
}

std::uint32_t read_lane(const Frame& frame, std::uint32_t slot, int lane) {
  std::uint32_t value = 0;
  std::memcpy(&value, frame.registers + slot + 4 * static_cast<std::size_t>(lane), sizeof value);
  return value;
}

std::uint32_t barrier_id(const Split& split) {
  return read_lane(*split.frame, detail_of(split).id, std::countr_zero(split.mask));
}

std::string line_of(const Split& split) {
  const ptx::Instruction& at = split.frame->code->function->instructions[op_of(split).instruction];
  return at.source.line > 0 ? fmt::format("line {}", at.source.line)
                            : fmt::format("PTX line {}", at.line);
}

bool is_complete(const BlockState& block, const BarrierState& barrier) {
  if (barrier.count == 0) {
    // Warps come in order, as a rule: the last one tells.
    for (std::size_t i = block.warps.size(); i-- > 0;)
      if ((block.warps[i].live & ~barrier.arrived[i]) != 0)
        return false;
    return true;
  }
  // A warp counts whole: lanes it does not have or that exited are as good as arrived.
  std::uint32_t threads = 0;
  for (std::size_t i = 0; i < block.warps.size(); ++i)
    if (barrier.arrived[i] != 0)
      threads += kWarpSize - static_cast<std::uint32_t>(
                                 std::popcount(block.warps[i].live & ~barrier.arrived[i]));
  return threads >= (barrier.count + kWarpSize - 1) / kWarpSize * kWarpSize;
}

void write_result(const Split& split, const BarrierState& barrier) {
  const BarrierDetail& detail = detail_of(split);
  const Op& op = op_of(split);
  if (detail.mode == BarrierDetail::Mode::sync)
    return;
  if (detail.mode == BarrierDetail::Mode::red_popc) {
    for_each_lane(split.mask, [&](int lane) {
      std::memcpy(split.frame->registers + op.d + 4 * static_cast<std::size_t>(lane),
                  &barrier.true_predicates, sizeof barrier.true_predicates);
    });
    return;
  }
  const bool value = detail.mode == BarrierDetail::Mode::red_and
                         ? barrier.true_predicates == barrier.predicates
                         : barrier.true_predicates != 0;
  LaneMask result = 0;
  std::memcpy(&result, split.frame->registers + op.d, sizeof result);
  result = value ? result | split.mask : result & ~split.mask;
  std::memcpy(split.frame->registers + op.d, &result, sizeof result);
}

// Calls f for each op that may come directly after this one.
template <class F> void for_each_successor(const Code& code, std::uint32_t at, F&& f) {
  const Op& op = code.ops[at];
  if (op.kind == OpKind::branch)
    f(op.target);
  if (op.kind == OpKind::indirect_branch)
    for (const std::uint32_t target : static_cast<const BranchTable*>(op.detail)->targets)
      f(target);
  const bool ends = op.kind == OpKind::branch || op.kind == OpKind::indirect_branch ||
                    op.kind == OpKind::exit || op.kind == OpKind::ret;
  if ((!ends || op.guard != kNone) && at + 1 < code.ops.size())
    f(at + 1);
}

// Walks from an op along control flow; `enter(from, to)` says which steps are taken. True as soon
// as `found(op)` is.
template <class Enter, class Found>
bool search(const Code& code, std::uint32_t from, Enter&& enter, Found&& found) {
  std::vector<bool> seen(code.ops.size(), false);
  std::vector<std::uint32_t> open = {from};
  seen[from] = true;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (found(at))
      return true;
    for_each_successor(code, at, [&](std::uint32_t next) {
      if (!seen[next] && enter(at, next)) {
        seen[next] = true;
        open.push_back(next);
      }
    });
  }
  return false;
}

// Can control flow from one instruction of the kernel to another without going around a loop?
bool leads_to(const Code& code, std::uint32_t from_op, std::uint32_t instruction) {
  return search(
      code, from_op,
      [&](std::uint32_t at, std::uint32_t next) { return code.order[next] > code.order[at]; },
      [&](std::uint32_t at) { return at != from_op && code.ops[at].instruction == instruction; });
}

bool is_end(const Op& op) {
  return op.kind == OpKind::exit || op.kind == OpKind::ret;
}

// Branch targets that every path from the barrier to the kernel's end passes, the end itself aside.
std::vector<std::uint32_t> targets_after(const Code& code, std::uint32_t barrier) {
  std::vector<std::uint32_t> candidates;
  for (const Op& op : code.ops)
    if (op.kind == OpKind::branch && op.target < code.ops.size() && !is_end(code.ops[op.target]))
      candidates.push_back(op.target);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::erase_if(candidates, [&](std::uint32_t target) {
    return target == barrier ||
           search(
               code, barrier, [&](std::uint32_t, std::uint32_t next) { return next != target; },
               [&](std::uint32_t at) { return is_end(code.ops[at]); });
  });
  return candidates;
}

// Threads may leave the kernel early and never meet a barrier; hardware lets the rest pass, and so
// do we. But a thread that went around the barrier and then was where others come after it, or did
// what others do there, shows that the barrier stands inside a condition.
bool report_bypass(BlockState& block, WarpState& waiting, const Split& split) {
  if (split.frame->parent != nullptr)
    return false;
  const Code& code = *split.frame->code;
  auto report = [&](const WarpState& warp, int lane) {
    waiting.current = split.frame;
    waiting.raise(FindingKind::barrier_divergence, op_of(split), std::countr_zero(split.mask),
                  fmt::format("barrier inside a condition: thread ({}) went around it and exited",
                              fmt::join(thread_index(warp, lane), ",")));
    return true;
  };
  for (WarpState& warp : block.warps) {
    LaneMask exited = warp.started & ~warp.live;
    if (exited == 0)
      continue;
    auto [after, fresh] = block.launch->after_barrier.try_emplace(split.pc);
    if (fresh)
      after->second = targets_after(code, split.pc);
    for (const std::uint32_t target : after->second)
      if ((warp.visited[target] & exited) != 0)
        return report(warp, std::countr_zero(warp.visited[target] & exited));
    for (std::uint32_t known = kNone; exited != 0; exited &= exited - 1) {
      const int lane = std::countr_zero(exited);
      const std::uint32_t effect = warp.last_effect[static_cast<std::size_t>(lane)];
      if (effect == kNone || effect == known)
        continue;
      known = effect;
      if (leads_to(code, split.pc, effect))
        return report(warp, lane);
    }
  }
  return false;
}

// Sanitizer: were the threads that pass this barrier together meant to?
bool report_divergence(BlockState& block, std::uint32_t id, bool whole_block) {
  const Split* sample = nullptr;
  WarpState* sample_warp = nullptr;
  for (WarpState& warp : block.warps) {
    const Split* first = nullptr;
    for (const Split& split : warp.splits) {
      if (split.state != SplitState::at_barrier || barrier_id(split) != id)
        continue;
      sample = &split;
      sample_warp = &warp;
      if (first == nullptr) {
        first = &split;
      } else if (detail_of(split).aligned &&
                 (first->pc != split.pc || first->frame->code != split.frame->code)) {
        warp.current = split.frame;
        warp.raise(
            FindingKind::barrier_divergence, op_of(split), std::countr_zero(split.mask),
            fmt::format("threads of one warp meet at different barriers: thread ({}) waits at {}",
                        fmt::join(thread_index(warp, std::countr_zero(first->mask)), ","),
                        line_of(*first)));
        return true;
      }
    }
  }
  return whole_block && sample != nullptr && report_bypass(block, *sample_warp, *sample);
}

void order_accesses(BlockState& block, const BarrierState& barrier, std::uint32_t id,
                    std::uint64_t waiting) {
  RaceDetector& races = *block.launch->races;
  const auto number = static_cast<std::uint32_t>(block.number);
  races.barrier(number, waiting);
  if (!barrier.announced)
    return;
  for (std::uint32_t warp = 0; warp < block.warps.size(); ++warp)
    if ((waiting >> warp & 1U) != 0)
      races.acquire(number, warp, id);
}

// Lets the threads that wait at the barrier go.
void release(BlockState& block, std::uint32_t id) {
  BarrierState& barrier = block.barriers.at(id);
  if (block.launch->sanitize && report_divergence(block, id, barrier.count == 0))
    return;
  std::uint64_t waiting = 0;
  for (std::size_t i = 0; i < block.warps.size(); ++i)
    for (Split& split : block.warps[i].splits)
      if (split.state == SplitState::at_barrier && barrier_id(split) == id) {
        write_result(split, barrier);
        make_ready(split, block.warps[i].executed);
        ++split.pc;
        waiting |= std::uint64_t{1} << i;
        block.warps[i].passed_barrier = block.warps[i].parts;
      }
  // Leaving the kernel counts as arriving, so what an exited warp wrote is there too.
  if (barrier.count == 0)
    for (std::size_t i = 0; i < block.warps.size(); ++i)
      if (block.warps[i].live == 0)
        waiting |= std::uint64_t{1} << i;
  if (block.launch->races)
    order_accesses(block, barrier, id, waiting);
  barrier.active = false;
}

// Lanes that wait, and their warp.
struct Waiter {
  WarpState* warp;
  const Split* split;
};

std::vector<Waiter> waiters_of(BlockState& block) {
  std::vector<Waiter> waiters;
  for (WarpState& warp : block.warps)
    for (const Split& split : warp.splits)
      waiters.push_back({&warp, &split});
  return waiters;
}

std::string describe(const Waiter& waiter) {
  const std::string thread =
      fmt::format("thread ({})",
                  fmt::join(thread_index(*waiter.warp, std::countr_zero(waiter.split->mask)), ","));
  switch (waiter.split->state) {
  case SplitState::at_barrier:
    return fmt::format("{} waits at barrier {} at {}", thread, barrier_id(*waiter.split),
                       line_of(*waiter.split));
  case SplitState::at_warp_sync:
    return fmt::format("{} waits for lanes of its warp at {}", thread, line_of(*waiter.split));
  default: return fmt::format("{} waits at {}", thread, line_of(*waiter.split));
  }
}

void raise(const Waiter& waiter, FindingKind kind, std::string message) {
  waiter.warp->current = waiter.split->frame;
  waiter.warp->raise(kind, op_of(*waiter.split), std::countr_zero(waiter.split->mask),
                     std::move(message));
}

// A warp-level operation whose lanes cannot all come; false when there is none.
bool report_lost_lanes(const std::vector<Waiter>& waiters) {
  for (const Waiter& waiter : waiters) {
    if (waiter.split->state != SplitState::at_warp_sync)
      continue;
    std::string where = "elsewhere";
    for (const Waiter& other : waiters)
      if (other.warp == waiter.warp && other.split != waiter.split)
        where = describe(other);
    raise(waiter, FindingKind::warp_sync_divergence,
          fmt::format("a warp-level operation waits for lanes that never arrive: {}", where));
    return true;
  }
  return false;
}

} // namespace

void arrive_at_barrier(WarpState& warp, std::size_t index) {
  BlockState& block = *warp.block;
  {
    // Lanes that name another barrier stay behind as a split of their own.
    Split& split = warp.splits[index];
    const BarrierDetail& detail = detail_of(split);
    const std::uint32_t id = barrier_id(split);
    LaneMask others = 0;
    for_each_lane(split.mask, [&](int lane) {
      if (read_lane(*split.frame, detail.id, lane) != id)
        others |= LaneMask{1} << static_cast<unsigned>(lane);
    });
    if (others != 0) {
      Split rest = split;
      rest.mask = others;
      split.mask &= ~others;
      warp.splits.push_back(rest);
    }
  }
  Split& split = warp.splits[index];
  const Op& op = op_of(split);
  const BarrierDetail& detail = detail_of(split);
  const int first = std::countr_zero(split.mask);
  const std::uint32_t id = barrier_id(split);
  const std::uint32_t count =
      detail.count == kNone ? 0 : read_lane(*split.frame, detail.count, first);
  if (id >= kBarriers) {
    warp.raise(FindingKind::barrier_divergence, op, first,
               fmt::format("barrier {} does not exist, a block has 0 to {}", id, kBarriers - 1));
    return;
  }
  BarrierState& barrier = block.barriers[id];
  if (!barrier.active) {
    barrier.active = true;
    barrier.count = count;
    barrier.arrived.assign(block.warps.size(), 0);
    barrier.announced = false;
    barrier.true_predicates = 0;
    barrier.predicates = 0;
  } else if (barrier.count != count) {
    warp.raise(FindingKind::barrier_divergence, op, first,
               fmt::format("barrier {} is used with {} threads while others wait at it with {}", id,
                           count == 0 ? block.launch->threads_per_block : count,
                           barrier.count == 0 ? block.launch->threads_per_block : barrier.count));
    return;
  }
  barrier.arrived[static_cast<std::size_t>(warp.index)] |= split.mask;
  if (detail.predicate != kNone) {
    LaneMask predicate = 0;
    std::memcpy(&predicate, split.frame->registers + detail.predicate, sizeof predicate);
    barrier.true_predicates += static_cast<std::uint32_t>(std::popcount(predicate & split.mask));
    barrier.predicates += static_cast<std::uint32_t>(std::popcount(split.mask));
  }
  if (detail.mode == BarrierDetail::Mode::arrive) {
    barrier.announced = true;
    if (block.launch->races)
      block.launch->races->release(static_cast<std::uint32_t>(block.number),
                                   static_cast<std::uint32_t>(warp.index), id);
    ++split.pc;
  } else {
    split.state = SplitState::at_barrier;
  }
  if (is_complete(block, barrier))
    release(block, id);
}

bool arrive_whole_warp(WarpState& warp, std::uint32_t pc) {
  Split& split = warp.splits.front();
  split.pc = pc;
  const std::uint32_t id = barrier_id(split);
  BarrierState& barrier = warp.block->barriers.at(id);
  if (!barrier.active || barrier.count != 0 || warp.launch->races) {
    arrive_at_barrier(warp, 0);
    return split.state == SplitState::ready && !warp.faulted;
  }
  barrier.arrived[static_cast<std::size_t>(warp.index)] = split.mask;
  split.state = SplitState::at_barrier;
  if (!is_complete(*warp.block, barrier))
    return false;
  release(*warp.block, id);
  return true;
}

void complete_barriers(BlockState& block) {
  for (std::uint32_t id = 0; id < kBarriers; ++id)
    if (block.barriers[id].active && block.live_warps != 0 &&
        is_complete(block, block.barriers[id]))
      release(block, id);
}

void report_stuck(BlockState& block) {
  const std::vector<Waiter> waiters = waiters_of(block);
  if (report_lost_lanes(waiters))
    return;
  const auto at_barrier = [](const Waiter& waiter) {
    return waiter.split->state == SplitState::at_barrier;
  };
  const auto first = std::find_if(waiters.begin(), waiters.end(), at_barrier);
  if (first == waiters.end()) {
    if (!waiters.empty())
      raise(waiters.front(), FindingKind::deadlock, "every thread of the block waits for ever");
    return;
  }
  const std::uint32_t id = barrier_id(*first->split);
  const auto elsewhere = [&](const Waiter& waiter) {
    return at_barrier(waiter) && barrier_id(*waiter.split) != id;
  };
  auto other = std::find_if(std::next(first), waiters.end(), elsewhere);
  if (other == waiters.end())
    other = std::find_if_not(waiters.begin(), waiters.end(), at_barrier);
  if (other != waiters.end()) {
    raise(*first, FindingKind::barrier_divergence,
          fmt::format("waits at barrier {} for ever: {}", id, describe(*other)));
    return;
  }
  const std::uint32_t count = block.barriers.at(id).count;
  std::uint32_t exited = 0;
  for (const WarpState& warp : block.warps)
    exited += static_cast<std::uint32_t>(std::popcount(warp.started & ~warp.live));
  if (exited != 0) {
    raise(*first, FindingKind::barrier_divergence,
          fmt::format("waits at barrier {} for {} threads, but {} threads of the block have exited",
                      id, count, exited));
    return;
  }
  raise(*first, FindingKind::deadlock,
        fmt::format("every thread waits at barrier {}, which waits for {} threads", id, count));
}

} // namespace kernevo::vgpu
