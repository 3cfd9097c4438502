// What makes, moves and ends the splits of a warp: branches that part lanes, calls and returns,
// exits, and operations that wait for other lanes.
#include "kernevo/vgpu/execute/barrier.h"
#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/execute/runner.h"
#include "kernevo/vgpu/execute/runtime_calls.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/program/control.h"
#include "kernevo/vgpu/program/order.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace kernevo::vgpu {
namespace {

bool is_warp_barrier(const Frame& frame, const Op& op) {
  return op.kind == OpKind::warp_sync && op.member_mask != kNone &&
         frame.code->function->instructions[op.instruction].opcode == ptx::Opcode::bar_warp_sync;
}

} // namespace

void Runner::diverge(std::size_t index, LaneMask taken, std::uint32_t target) {
  if (recorder_ != nullptr)
    recorder_->diverged();
  Split branch = warp_.splits[index];
  note_visit(branch.frame, target, taken);
  branch.mask = taken;
  branch.pc = target;
  warp_.splits[index].mask &= ~taken;
  ++warp_.splits[index].pc;
  warp_.splits.push_back(branch);
}

void Runner::shed(std::size_t index, LaneMask active) {
  Split rest = warp_.splits[index];
  rest.mask &= ~active;
  if (rest.mask == 0)
    return;
  ++rest.pc;
  warp_.splits[index].mask = active;
  warp_.splits.push_back(rest);
}

bool Runner::special(std::size_t index, const Op& op, LaneMask active) {
  switch (op.kind) {
  case OpKind::branch: diverge(index, active, op.target); return true;
  case OpKind::indirect_branch: branch_by_index(index, op, active); return true;
  case OpKind::call: call(index, op, active); return true;
  case OpKind::warp_sync: synchronise(index, op, active); break;
  case OpKind::ret:
    if (warp_.current->parent != nullptr)
      return_lanes(index, active);
    else
      exit_lanes(index, active);
    break;
  case OpKind::exit: exit_lanes(index, active); break;
  case OpKind::barrier:
    shed(index, active);
    arrive_at_barrier(warp_, index);
    break;
  case OpKind::wait: wait(index, op, active); break;
  default:
    op.handler(op, warp_, active);
    if (!warp_.faulted)
      ++warp_.splits[index].pc;
    break;
  }
  return false;
}

void Runner::wait(std::size_t index, const Op& op, LaneMask active) {
  warp_.must_wait = false;
  op.handler(op, warp_, active);
  if (warp_.faulted)
    return;
  if (warp_.must_wait) {
    warp_.must_wait = false;
    ++vain_;
    shed(index, active);
    warp_.splits[index].state = SplitState::waiting;
    return;
  }
  ++warp_.splits[index].pc;
  give_way(index);
}

void Runner::branch_by_index(std::size_t index, const Op& op, LaneMask active) {
  const auto& table = static_cast<const BranchTable&>(*op.detail);
  const auto* lanes = warp_.lanes<std::uint32_t>(op.a);
  shed(index, active);
  while (active != 0) {
    const int first = std::countr_zero(active);
    const std::uint32_t choice = lanes[first];
    if (choice >= table.targets.size()) {
      warp_.raise(FindingKind::trap, op, first,
                  fmt::format("branch to entry {} of a table of {}", choice, table.targets.size()));
      return;
    }
    LaneMask same = 0;
    for_each_lane(active, [&](int lane) {
      if (lanes[lane] == choice)
        same |= LaneMask{1} << static_cast<unsigned>(lane);
    });
    active &= ~same;
    if (active == 0) {
      warp_.splits[index].pc = table.targets[choice];
      return;
    }
    Split part = warp_.splits[index];
    part.mask = same;
    part.pc = table.targets[choice];
    warp_.splits[index].mask = active;
    warp_.splits.push_back(part);
  }
}

void Runner::call(std::size_t index, const Op& op, LaneMask active) {
  const auto& detail = static_cast<const CallDetail&>(*op.detail);
  if (detail.runtime != RuntimeFunction::none) {
    call_runtime(warp_, op, detail, active);
    ++warp_.splits[index].pc;
    return;
  }
  shed(index, active);
  if (detail.function != kNone) {
    enter(index, detail, detail.function);
    return;
  }
  // Through pointers: the lanes part by the function they call; the rest come back to this op.
  const auto* pointers = warp_.lanes<std::uint64_t>(detail.pointer);
  const int first = std::countr_zero(active);
  const std::uint64_t pointer = pointers[first];
  LaneMask same = 0;
  for_each_lane(active, [&](int lane) {
    if (pointers[lane] == pointer)
      same |= LaneMask{1} << static_cast<unsigned>(lane);
  });
  const auto function = static_cast<std::uint32_t>(pointer - kFunctionWindow);
  const Program& program = *warp_.launch->program;
  if (pointer - kFunctionWindow >= program.codes.size() || program.codes[function].ops.empty() ||
      program.codes[function].parameters.size() != detail.arguments.size()) {
    warp_.raise(
        FindingKind::trap, op, first,
        fmt::format("call through a pointer ({:#x}) that is not a function of this kind", pointer));
    return;
  }
  if (same != active) {
    Split rest = warp_.splits[index];
    rest.mask = active & ~same;
    warp_.splits.push_back(rest);
    warp_.splits[index].mask = same;
  }
  enter(index, detail, function);
}

void Runner::enter(std::size_t index, const CallDetail& detail, std::uint32_t function) {
  Frame* const caller = warp_.current;
  const Code& code = warp_.launch->program->codes[function];
  const LaneMask lanes = warp_.splits[index].mask;
  Frame* const callee = push_frame(warp_, code, caller, warp_.splits[index].pc + 1, lanes);
  if (callee == nullptr)
    return;
  for (std::size_t i = 0; i < detail.arguments.size(); ++i) {
    const std::size_t bytes = std::min(detail.arguments[i].bytes, code.parameters[i].bytes);
    for_each_lane(lanes, [&](int lane) {
      std::memcpy(warp_.local_of(lane) + callee->local_base + code.parameters[i].offset,
                  place_of(warp_, *caller, detail.arguments[i], lane), bytes);
    });
  }
  warp_.splits[index].frame = callee;
  warp_.splits[index].pc = 0;
}

void Runner::return_lanes(std::size_t index, LaneMask active) {
  shed(index, active);
  Frame* const callee = warp_.current;
  Frame* const caller = callee->parent;
  const Op& op = caller->code->ops[callee->return_pc - 1];
  const auto& detail = static_cast<const CallDetail&>(*op.detail);
  const auto& returns = callee->code->returns;
  for (std::size_t i = 0; i < std::min(detail.results.size(), returns.size()); ++i) {
    const std::size_t bytes = std::min(detail.results[i].bytes, returns[i].bytes);
    for_each_lane(active, [&](int lane) {
      std::memcpy(place_of(warp_, *caller, detail.results[i], lane),
                  warp_.local_of(lane) + callee->local_base + returns[i].offset, bytes);
    });
  }
  warp_.splits[index].frame = caller;
  warp_.splits[index].pc = callee->return_pc;
  leave_frame(warp_, callee, active);
}

void Runner::exit_lanes(std::size_t index, LaneMask active) {
  for (Frame* frame = warp_.current; frame != nullptr;) {
    Frame* const parent = frame->parent;
    leave_frame(warp_, frame, active);
    frame = parent;
  }
  warp_.live &= ~active;
  warp_.splits[index].mask &= ~active;
  ++warp_.splits[index].pc;
  if (warp_.splits[index].mask == 0)
    warp_.splits.erase(warp_.splits.begin() + static_cast<std::ptrdiff_t>(index));
  if (warp_.live == 0)
    --warp_.block->live_warps;
  // Those who waited for the lanes that left look again.
  for (Split& split : warp_.splits)
    if (split.state == SplitState::at_warp_sync)
      make_ready(split, warp_.executed);
  complete_barriers(*warp_.block);
}

void Runner::synchronise(std::size_t index, const Op& op, LaneMask active) {
  auto& splits = warp_.splits;
  if (splits.size() > 1) {
    shed(index, active);
    // Those who wait at this very op join.
    for (std::size_t i = splits.size(); i-- > 0;)
      if (i != index && splits[i].state == SplitState::at_warp_sync &&
          splits[i].pc == splits[index].pc && splits[i].frame == splits[index].frame) {
        splits[index].mask |= splits[i].mask;
        active |= splits[i].mask;
        splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(i));
        if (i < index)
          --index;
      }
  }
  LaneMask done = 0;
  for (LaneMask rest = active; rest != 0;) {
    const int first = std::countr_zero(rest);
    LaneMask members = warp_.live;
    LaneMask group = rest;
    if (op.member_mask != kNone) {
      const auto* masks = warp_.lanes<std::uint32_t>(op.member_mask);
      members = masks[first];
      group = 0;
      for (unsigned lane = 0; lane < kWarpSize; ++lane)
        group |= LaneMask{masks[lane] == members} << lane;
      group &= rest;
    }
    rest &= ~group;
    if ((group & ~members) != 0) {
      warp_.raise(FindingKind::warp_sync_divergence, op, std::countr_zero(group & ~members),
                  fmt::format("a lane executes a warp-level operation with member mask {:#010x}, "
                              "which does not name it",
                              members));
      return;
    }
    if ((members & warp_.live & ~group) == 0) {
      op.handler(op, warp_, group);
      if (warp_.faulted)
        return;
      done |= group;
    } else if (op.member_mask != kNone && join_elsewhere(index, op, members, group)) {
      done |= group;
    } else {
      continue;
    }
    if (warp_.launch->races && is_warp_barrier(*splits[index].frame, op))
      warp_.launch->races->warp_sync(static_cast<std::uint32_t>(warp_.block->number),
                                     static_cast<std::uint32_t>(warp_.index),
                                     (warp_.live & ~members) == 0 ? kAllLanes : members);
  }
  const LaneMask left = active & ~done;
  Split& self = splits[index];
  if (left == 0) {
    ++self.pc;
    part(index);
    return;
  }
  Split onward = self;
  self.mask = left;
  self.state = SplitState::at_warp_sync;
  onward.mask &= ~left;
  ++onward.pc;
  if (onward.mask != 0) {
    splits.push_back(onward);
    part(splits.size() - 1);
  }
}

void Runner::part(std::size_t index) {
  if (!warp_.parts)
    return;
  const Split whole = warp_.splits[index];
  if (whole.mask == warp_.live)
    warp_.apart = static_cast<LaneMask>(warp_.block->choose(std::uint64_t{1} << kWarpSize));
  Split rest = whole;
  rest.mask &= warp_.apart;
  if (rest.mask == 0 || rest.mask == whole.mask)
    return;
  warp_.splits[index].mask &= ~warp_.apart;
  warp_.splits.push_back(rest);
}

bool Runner::join_elsewhere(std::size_t index, const Op& op, LaneMask members, LaneMask group) {
  if (!is_warp_barrier(*warp_.splits[index].frame, op))
    return false;
  LaneMask here = group;
  std::vector<std::size_t> partners;
  for (std::size_t i = 0; i < warp_.splits.size(); ++i) {
    Split& other = warp_.splits[i];
    if (i == index || other.state != SplitState::at_warp_sync)
      continue;
    const Op& at = other.frame->code->ops[other.pc];
    if (!is_warp_barrier(*other.frame, at))
      continue;
    bool same = true;
    for_each_lane(other.mask, [&](int lane) {
      std::uint32_t mask = 0;
      std::memcpy(&mask,
                  other.frame->registers + at.member_mask + 4 * static_cast<std::size_t>(lane),
                  sizeof mask);
      same = same && mask == members;
    });
    if (!same)
      continue;
    here |= other.mask;
    partners.push_back(i);
  }
  if ((members & warp_.live & ~here) != 0)
    return false;
  for (const std::size_t i : partners) {
    make_ready(warp_.splits[i], warp_.executed);
    ++warp_.splits[i].pc;
  }
  return true;
}

} // namespace kernevo::vgpu
