// Runs one warp. A converged warp is one split and pays nothing for divergence; a diverged one runs
// its lowest split first (see order.h), so that lanes meet again where their paths join. Splits
// that spin let others run: lanes of a warp may wait for each other.
#include "kernevo/vgpu/address_windows.h"
#include "kernevo/vgpu/compiled_run.h"
#include "kernevo/vgpu/control.h"
#include "kernevo/vgpu/launch.h"
#include "kernevo/vgpu/order.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kernevo::vgpu {
namespace {

// Backward branches between looks at whether a loop is a spin (it polls with strong accesses).
constexpr std::uint32_t kSpinCheck = 64;
// Any loop this long lets the other splits of its warp have a turn.
constexpr std::uint32_t kFairShare = 1U << 16U;
// How long splits run before one that span is tried again.
constexpr std::uint32_t kDeferral = 1024;
constexpr std::size_t kNoSplit = ~std::size_t{0};
// Compiled code runs this many instructions before it lets other warps have a turn.
constexpr std::uint64_t kCompiledTurn = 1U << 16U;

// Where a split stands, seen from an ancestor of its frame.
std::uint32_t position_in(const Frame*& frame, std::uint32_t pc, std::uint32_t depth) {
  while (frame->depth > depth) {
    pc = frame->return_pc - 1;
    frame = frame->parent;
  }
  return pc;
}

bool runs_before(const Split& a, const Split& b) {
  const Frame* frame_a = a.frame;
  const Frame* frame_b = b.frame;
  const std::uint32_t depth = std::min(frame_a->depth, frame_b->depth);
  std::uint32_t pc_a = position_in(frame_a, a.pc, depth);
  std::uint32_t pc_b = position_in(frame_b, b.pc, depth);
  while (frame_a != frame_b) {
    pc_a = frame_a->return_pc - 1;
    pc_b = frame_b->return_pc - 1;
    frame_a = frame_a->parent;
    frame_b = frame_b->parent;
  }
  const auto& order = frame_a->code->order;
  if (order[pc_a] != order[pc_b])
    return order[pc_a] < order[pc_b];
  return a.frame->depth > b.frame->depth;
}

class Runner {
public:
  Runner(WarpState& warp, std::uint32_t quantum)
      : warp_(warp), tier_(warp.launch->tier.get()), recorder_(warp.launch->recorder.get()),
        quantum_(quantum) {}

  std::uint32_t run() {
    warp_.spinning = false;
    while (!warp_.faulted && !yielded_) {
      const std::size_t index = pick();
      if (index == kNoSplit)
        break;
      const std::uint32_t function = warp_.splits[index].frame->code->index;
      const bool full = warp_.splits[index].mask == kAllLanes;
      const std::uint32_t before = executed_ - compiled_;
      execute(index);
      if (tier_ != nullptr)
        warp_.block->interpreted[function].at(full ? 1 : 0) += executed_ - compiled_ - before;
      yielded_ = yielded_ || executed_ >= quantum_;
    }
    warp_.block->warp_instructions += executed_;
    warp_.block->thread_instructions += threads_;
    warp_.block->clock += executed_;
    return executed_ - vain_;
  }

private:
  std::size_t pick() {
    auto& splits = warp_.splits;
    if (splits.size() == 1)
      return splits.front().state == SplitState::ready ? 0 : kNoSplit;
    merge_ready();
    for (int attempt = 0; attempt < 2; ++attempt) {
      std::size_t best = kNoSplit;
      for (std::size_t i = 0; i < splits.size(); ++i)
        if (splits[i].state == SplitState::ready && !splits[i].deferred &&
            (best == kNoSplit || runs_before(splits[i], splits[best])))
          best = i;
      if (best != kNoSplit)
        return best;
      for (Split& split : splits)
        split.deferred = false;
    }
    return kNoSplit;
  }

  void merge_ready() {
    auto& splits = warp_.splits;
    for (std::size_t i = 0; i < splits.size(); ++i) {
      if (splits[i].state != SplitState::ready)
        continue;
      for (std::size_t j = splits.size() - 1; j > i; --j)
        if (splits[j].state == SplitState::ready && splits[j].pc == splits[i].pc &&
            splits[j].frame == splits[i].frame) {
          splits[i].mask |= splits[j].mask;
          splits[i].deferred = splits[i].deferred && splits[j].deferred;
          splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(j));
        }
    }
  }

  // The first position in the frame at which another split must have its turn.
  std::uint32_t turn_of_others(std::size_t index) const {
    const Split& self = warp_.splits[index];
    std::uint32_t limit = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < warp_.splits.size(); ++i) {
      const Split& other = warp_.splits[i];
      if (i == index || other.state != SplitState::ready || other.deferred ||
          other.frame->depth < self.frame->depth)
        continue;
      const Frame* frame = other.frame;
      const std::uint32_t pc = position_in(frame, other.pc, self.frame->depth);
      if (frame == self.frame)
        limit = std::min(limit, frame->code->order[pc]);
    }
    return limit;
  }

  bool others_ready(std::size_t index) const {
    for (std::size_t i = 0; i < warp_.splits.size(); ++i)
      if (i != index && warp_.splits[i].state == SplitState::ready)
        return true;
    return false;
  }

  // Lets compiled code run the split from an entry; false when nothing happened.
  bool run_in_compiled(std::size_t index, const CompiledFunction& compiled, std::uint32_t entry,
                       std::uint32_t limit) {
    Split& split = warp_.splits[index];
    if (!entry_pays(*warp_.block, compiled, entry))
      return false;
    const std::uint64_t left = quantum_ > executed_ ? quantum_ - executed_ : 1;
    const CompiledOutcome outcome =
        run_compiled(warp_, compiled, entry, split.mask, limit,
                     warp_.strong_access ? left : std::max(left, kCompiledTurn));
    if (!outcome.entered) {
      tier_->refuted(split.frame->code->index, split.mask == kAllLanes, outcome.refuted);
      return false;
    }
    settle(split, outcome);
    return true;
  }

  void settle(Split& split, const CompiledOutcome& outcome) {
    if (!outcome.parked)
      split.pc = outcome.pc;
    executed_ += static_cast<std::uint32_t>(outcome.executed);
    threads_ += outcome.threads;
    compiled_ += static_cast<std::uint32_t>(outcome.executed);
  }

  bool is_parked() const { return warp_.activation != nullptr && warp_.activation->parked; }

  // Compiled code has run: true when the split cannot go on now.
  bool turn_is_over(std::size_t index) {
    if (warp_.faulted || is_parked())
      return true;
    if (executed_ < quantum_)
      return false;
    yielded_ = true;
    if (std::exchange(warp_.strong_access, false))
      spins_after_turn(index);
    return true;
  }

  // The code that may run a split of these lanes, if it has been compiled.
  const CompiledFunction* compiled_for(const Split& split) const {
    if (tier_ == nullptr)
      return nullptr;
    const std::uint32_t function = split.frame->code->index;
    return split.mask == kAllLanes ? tier_->full(function) : tier_->partial(function);
  }

  void execute(std::size_t index) {
    bool moved = true; // since compiled code last ran: where it leaves, the interpreter goes on
    if (is_parked()) {
      warp_.current = warp_.splits[index].frame;
      warp_.frame = warp_.current->registers;
      settle(warp_.splits[index], resume_compiled(warp_));
      if (turn_is_over(index))
        return;
      moved = false;
    }
    const Split start = warp_.splits[index];
    Frame* const frame = start.frame;
    warp_.current = frame;
    warp_.frame = frame->registers;
    const Op* const ops = frame->code->ops.data();
    const std::uint32_t* const order = frame->code->order.data();
    const LaneMask mask = start.mask;
    const auto width = static_cast<std::uint32_t>(std::popcount(mask));
    const bool alone = warp_.splits.size() == 1;
    std::uint32_t limit = alone ? 0 : turn_of_others(index);
    std::uint32_t deferral_end = executed_ + kDeferral;
    std::uint32_t backward = 0;
    std::uint32_t pc = start.pc;
    std::uint32_t executed = executed_;
    std::uint64_t threads = threads_;

    auto save = [&] {
      executed_ = executed;
      threads_ = threads;
      warp_.splits[index].pc = pc;
    };

    const CompiledFunction* const compiled = compiled_for(start);

    for (;;) {
      if (!alone && order[pc] >= limit) {
        save();
        return;
      }
      if (compiled != nullptr && moved && compiled->entry_at[pc] != kNone) {
        save();
        moved = false;
        if (run_in_compiled(index, *compiled, compiled->entry_at[pc],
                            alone ? std::numeric_limits<std::uint32_t>::max() : limit)) {
          if (turn_is_over(index))
            return;
          pc = warp_.splits[index].pc;
          executed = executed_;
          threads = threads_;
          continue;
        }
      }
      moved = true;
      const Op& op = ops[pc];
      LaneMask active = mask;
      ++executed;
      if (op.guard != kNone) {
        LaneMask guard = 0;
        std::memcpy(&guard, warp_.frame + op.guard, sizeof guard);
        active &= op.guard_negated ? ~guard : guard;
        threads += static_cast<std::uint32_t>(std::popcount(active));
      } else {
        threads += width;
      }
      if (recorder_ != nullptr) [[unlikely]]
        recorder_->begin(warp_, *frame->code, pc, active);
      if (op.kind <= OpKind::memory) [[likely]] {
        if (active != 0) {
          op.handler(op, warp_, active);
          if (warp_.faulted) [[unlikely]] {
            save();
            return;
          }
        }
        ++pc;
        continue;
      }
      if (op.kind == OpKind::branch) {
        if (active == 0) {
          ++pc;
          continue;
        }
        if (active != mask) {
          save();
          if (recorder_ != nullptr)
            recorder_->diverged();
          diverge(index, active, op.target);
          return;
        }
        const bool back = order[op.target] <= order[pc];
        pc = op.target;
        note_visit(frame, pc, mask);
        if (!back)
          continue;
        ++backward;
        if (executed >= quantum_) {
          save();
          yielded_ = true;
          return;
        }
        if (!alone && executed >= deferral_end) {
          // Whoever was put off may try again.
          for (Split& split : warp_.splits)
            split.deferred = false;
          limit = turn_of_others(index);
          deferral_end = executed + kDeferral;
        }
        if (backward % kSpinCheck == 0 && spins(index, backward)) {
          save();
          return;
        }
        continue;
      }
      if (active == 0) {
        ++pc;
        continue;
      }
      save();
      special(index, op, active);
      return;
    }
  }

  // A turn of compiled code in which it polled.
  void spins_after_turn(std::size_t index) {
    if (others_ready(index))
      warp_.splits[index].deferred = true;
    else
      warp_.spinning = true;
  }

  // The split loops and polls: others go first. True when it gives up its turn.
  bool spins(std::size_t index, std::uint32_t backward) {
    const bool polls = warp_.strong_access;
    warp_.strong_access = false;
    if (!polls && backward < kFairShare)
      return false;
    if (others_ready(index)) {
      warp_.splits[index].deferred = true;
      return true;
    }
    if (!polls)
      return false;
    warp_.spinning = true;
    yielded_ = true;
    return true;
  }

  void note_visit(const Frame* frame, std::uint32_t target, LaneMask lanes) {
    if (frame == warp_.entry && target < warp_.visited.size())
      warp_.visited[target] |= lanes;
  }

  // Lanes of the split that take a branch part from those that do not.
  void diverge(std::size_t index, LaneMask taken, std::uint32_t target) {
    Split branch = warp_.splits[index];
    note_visit(branch.frame, target, taken);
    branch.mask = taken;
    branch.pc = target;
    warp_.splits[index].mask &= ~taken;
    ++warp_.splits[index].pc;
    warp_.splits.push_back(branch);
  }

  // Moves the lanes of the split that are not active past its op, so that it is all active.
  void shed(std::size_t index, LaneMask active) {
    Split rest = warp_.splits[index];
    rest.mask &= ~active;
    if (rest.mask == 0)
      return;
    ++rest.pc;
    warp_.splits[index].mask = active;
    warp_.splits.push_back(rest);
  }

  void special(std::size_t index, const Op& op, LaneMask active) {
    switch (op.kind) {
    case OpKind::warp_sync: synchronise(index, op, active); break;
    case OpKind::indirect_branch: branch_by_index(index, op, active); break;
    case OpKind::call: call(index, op, active); break;
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
  }

  void wait(std::size_t index, const Op& op, LaneMask active) {
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
    if (others_ready(index)) {
      warp_.splits[index].deferred = true;
    } else {
      warp_.spinning = true;
      yielded_ = true;
    }
  }

  void branch_by_index(std::size_t index, const Op& op, LaneMask active) {
    const auto& table = static_cast<const BranchTable&>(*op.detail);
    const auto* lanes = warp_.lanes<std::uint32_t>(op.a);
    shed(index, active);
    while (active != 0) {
      const int first = std::countr_zero(active);
      const std::uint32_t choice = lanes[first];
      if (choice >= table.targets.size()) {
        warp_.raise(
            FindingKind::trap, op, first,
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

  void call(std::size_t index, const Op& op, LaneMask active) {
    const auto& detail = static_cast<const CallDetail&>(*op.detail);
    if (detail.runtime != RuntimeFunction::none) {
      call_runtime(warp_, op, detail, active);
      ++warp_.splits[index].pc;
      return;
    }
    shed(index, active);
    if (detail.function != kNone) {
      enter(index, op, detail, detail.function);
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
      warp_.raise(FindingKind::trap, op, first,
                  fmt::format("call through a pointer ({:#x}) that is not a function of this kind",
                              pointer));
      return;
    }
    if (same != active) {
      Split rest = warp_.splits[index];
      rest.mask = active & ~same;
      warp_.splits.push_back(rest);
      warp_.splits[index].mask = same;
    }
    enter(index, op, detail, function);
  }

  void enter(std::size_t index, const Op& /*op*/, const CallDetail& detail,
             std::uint32_t function) {
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

  void return_lanes(std::size_t index, LaneMask active) {
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

  void exit_lanes(std::size_t index, LaneMask active) {
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
        split.state = SplitState::ready;
    complete_barriers(*warp_.block);
  }

  // warp_sync: the handler runs once for each group of lanes with the same member mask, when all of
  // the group that still live are here.
  void synchronise(std::size_t index, const Op& op, LaneMask active) {
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
      }
    }
    if (done != 0 && warp_.launch->races)
      warp_.launch->races->warp_sync(static_cast<std::uint32_t>(warp_.block->number),
                                     static_cast<std::uint32_t>(warp_.index));
    const LaneMask left = active & ~done;
    Split& self = splits[index];
    if (left == 0) {
      ++self.pc;
      return;
    }
    Split onward = self;
    self.mask = left;
    self.state = SplitState::at_warp_sync;
    onward.mask &= ~left;
    ++onward.pc;
    if (onward.mask != 0)
      splits.push_back(onward);
  }

  // bar.warp.sync joins threads that stand at different ones of it.
  bool join_elsewhere(std::size_t index, const Op& op, LaneMask members, LaneMask group) {
    auto is_plain = [&](const Frame& frame, const Op& at) {
      return at.kind == OpKind::warp_sync && at.member_mask != kNone &&
             frame.code->function->instructions[at.instruction].opcode ==
                 ptx::Opcode::bar_warp_sync;
    };
    if (!is_plain(*warp_.splits[index].frame, op))
      return false;
    LaneMask here = group;
    std::vector<std::size_t> partners;
    for (std::size_t i = 0; i < warp_.splits.size(); ++i) {
      Split& other = warp_.splits[i];
      if (i == index || other.state != SplitState::at_warp_sync)
        continue;
      const Op& at = other.frame->code->ops[other.pc];
      if (!is_plain(*other.frame, at))
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
      warp_.splits[i].state = SplitState::ready;
      ++warp_.splits[i].pc;
    }
    return true;
  }

  WarpState& warp_;
  TierHandle* tier_;
  Recorder* recorder_; // null unless profiling
  std::uint32_t quantum_;
  std::uint32_t compiled_ = 0; // of executed_
  std::uint32_t executed_ = 0;
  std::uint32_t vain_ = 0;
  std::uint64_t threads_ = 0;
  bool yielded_ = false;
};

} // namespace

std::uint32_t run_warp(WarpState& warp, std::uint32_t quantum) {
  return Runner(warp, quantum).run();
}

std::byte* place_of(WarpState& warp, const Frame& frame, const CallDetail::Place& place, int lane) {
  if (place.in_register)
    return frame.registers + place.offset +
           std::size_t{place.bytes} * static_cast<std::size_t>(lane);
  return warp.local_of(lane) + frame.local_base + place.offset;
}

} // namespace kernevo::vgpu
