// Runs one warp. A converged warp is one split and pays nothing for divergence; a diverged one runs
// its lowest split first (see order.h), so that lanes meet again where their paths join. Splits
// that spin let others run: lanes of a warp may wait for each other.
//
// Which split runs, and when the warp's turn ends, depends on the splits and on the number of
// instructions the warp has executed, never on who executed them: both are decided only where the
// interpreter and compiled code are alike. Positions are compared at every op by the one, and by
// the other wherever a split can stand. What depends on the count (turns, spinning, fairness) is
// looked at when the warp's deadline has passed, at the next branch that goes back in the text, or
// where lanes part or call: every loop and every recursion comes by there.
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

// A warp that met a strong access polls if it meets another within this many instructions.
constexpr std::uint64_t kWatch = 1024;
// A split that waits this long for others gets a turn: they may wait for it with plain loads.
constexpr std::uint64_t kFairShare = 1U << 20U;
// How long others run before a split that span is tried again.
constexpr std::uint64_t kDeferral = 1024;
constexpr std::size_t kNoSplit = ~std::size_t{0};

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
  if (a.frame->depth != b.frame->depth)
    return a.frame->depth > b.frame->depth;
  return std::countr_zero(a.mask) < std::countr_zero(b.mask);
}

class Runner {
public:
  Runner(WarpState& warp, std::uint32_t quantum)
      : warp_(warp), tier_(warp.launch->tier.get()), recorder_(warp.launch->recorder.get()),
        turn_end_(warp.executed + quantum) {}

  std::uint64_t run() {
    const std::uint64_t start = warp_.executed;
    warp_.spinning = false;
    while (!warp_.faulted && !yielded_) {
      const std::size_t index = pick();
      if (index == kNoSplit)
        break;
      set_deadline(index);
      const std::uint32_t function = warp_.splits[index].frame->code->index;
      const bool full = warp_.splits[index].mask == kAllLanes;
      const std::uint64_t before = warp_.executed - compiled_;
      if (execute(index) && warp_.executed >= warp_.deadline)
        look(index);
      if (tier_ != nullptr)
        warp_.block->interpreted[function].at(full ? 1 : 0) += warp_.executed - compiled_ - before;
    }
    const std::uint64_t executed = warp_.executed - start;
    warp_.block->warp_instructions += executed;
    warp_.block->thread_instructions += threads_;
    warp_.block->clock += executed;
    return executed - vain_;
  }

private:
  std::size_t pick() {
    auto& splits = warp_.splits;
    if (splits.size() == 1) {
      splits.front().deferred = false;
      return splits.front().state == SplitState::ready ? 0 : kNoSplit;
    }
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

  // When to look at the warp while this split runs.
  void set_deadline(std::size_t index) {
    std::uint64_t deadline = turn_end_;
    if (warp_.watched)
      deadline = std::min(deadline, warp_.watched_until);
    else if (warp_.strong_access)
      deadline = 0;
    if (warp_.splits.size() > 1)
      for (std::size_t i = 0; i < warp_.splits.size(); ++i)
        if (const Split& other = warp_.splits[i]; i != index && other.state == SplitState::ready)
          deadline = std::min(deadline, other.deferred ? other.deferred_until
                                                       : other.idle_since + kFairShare);
    warp_.deadline = deadline;
  }

  // The deadline has passed and the split is where a look may be taken.
  void look(std::size_t index) {
    const std::uint64_t now = warp_.executed;
    if (now >= turn_end_)
      yielded_ = true;
    if (!warp_.watched) {
      warp_.watched = std::exchange(warp_.strong_access, false);
      warp_.watched_until = now + kWatch;
    } else if (now >= warp_.watched_until) {
      warp_.watched = std::exchange(warp_.strong_access, false);
      warp_.watched_until = now + kWatch;
      if (warp_.watched)
        give_way(index);
    }
    if (warp_.splits.size() == 1)
      return;
    bool starving = false;
    for (std::size_t i = 0; i < warp_.splits.size(); ++i) {
      Split& other = warp_.splits[i];
      if (i == index || other.state != SplitState::ready)
        continue;
      if (other.deferred && now >= other.deferred_until)
        other.deferred = false;
      starving = starving || (!other.deferred && now >= other.idle_since + kFairShare);
    }
    if (starving)
      defer(index);
  }

  void defer(std::size_t index) {
    warp_.splits[index].deferred = true;
    warp_.splits[index].deferred_until = warp_.executed + kDeferral;
  }

  // The split waits for somebody: another split, or another warp if all of this one do.
  void give_way(std::size_t index) {
    for (std::size_t i = 0; i < warp_.splits.size(); ++i)
      if (const Split& other = warp_.splits[i];
          i != index && other.state == SplitState::ready && !other.deferred) {
        defer(index);
        return;
      }
    warp_.spinning = true;
    yielded_ = true;
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
          splits[i].deferred_until = std::min(splits[i].deferred_until, splits[j].deferred_until);
          splits[i].idle_since = std::min(splits[i].idle_since, splits[j].idle_since);
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

  // Lets compiled code run the split from an entry; false when nothing happened.
  bool run_in_compiled(std::size_t index, const CompiledFunction& compiled, std::uint32_t entry,
                       std::uint32_t limit) {
    Split& split = warp_.splits[index];
    if (!entry_pays(*warp_.block, compiled, entry))
      return false;
    const CompiledOutcome outcome = run_compiled(warp_, compiled, entry, split.mask, limit);
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
    split.idle_since = warp_.executed += outcome.executed;
    compiled_ += outcome.executed;
    threads_ += outcome.threads;
    look_due_ = outcome.look_due;
  }

  bool is_parked() const { return warp_.activation != nullptr && warp_.activation->parked; }

  // Compiled code has run: must its split be looked at, or can it not go on?
  bool must_stop() const { return warp_.faulted || is_parked() || look_due_; }

  // The code that may run a split of these lanes, if it has been compiled.
  const CompiledFunction* compiled_for(const Split& split) const {
    if (tier_ == nullptr)
      return nullptr;
    const std::uint32_t function = split.frame->code->index;
    return split.mask == kAllLanes ? tier_->full(function) : tier_->partial(function);
  }

  // Runs the split until another may have to run. True where a look may be taken at the warp; the
  // split has its index still.
  bool execute(std::size_t index) {
    bool moved = true; // since compiled code last ran: where it leaves, the interpreter goes on
    look_due_ = false;
    if (is_parked()) {
      warp_.current = warp_.splits[index].frame;
      warp_.frame = warp_.current->registers;
      settle(warp_.splits[index], resume_compiled(warp_));
      if (must_stop())
        return look_due_;
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
    const std::uint32_t limit =
        alone ? std::numeric_limits<std::uint32_t>::max() : turn_of_others(index);
    std::uint32_t pc = start.pc;
    std::uint64_t executed = warp_.executed;
    std::uint64_t threads = threads_;

    auto save = [&] {
      warp_.executed = executed;
      threads_ = threads;
      warp_.splits[index].pc = pc;
      warp_.splits[index].idle_since = executed;
    };

    const CompiledFunction* const compiled = compiled_for(start);

    for (;;) {
      if (!alone && order[pc] >= limit) {
        save();
        return false;
      }
      if (compiled != nullptr && moved && compiled->entry_at[pc] != kNone) {
        save();
        moved = false;
        if (run_in_compiled(index, *compiled, compiled->entry_at[pc], limit)) {
          if (must_stop())
            return look_due_;
          pc = warp_.splits[index].pc;
          executed = warp_.executed;
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
            return false;
          }
        }
        ++pc;
        continue;
      }
      if (active == 0) {
        ++pc;
        continue;
      }
      if (op.kind == OpKind::branch && active == mask) {
        const bool back = op.target <= pc;
        pc = op.target;
        note_visit(frame, pc, mask);
        if (back && executed >= warp_.deadline) {
          save();
          return true;
        }
        continue;
      }
      save();
      return special(index, op, active);
    }
  }

  void note_visit(const Frame* frame, std::uint32_t target, LaneMask lanes) {
    if (frame == warp_.entry && target < warp_.visited.size())
      warp_.visited[target] |= lanes;
  }

  // Lanes of the split that take a branch part from those that do not.
  void diverge(std::size_t index, LaneMask taken, std::uint32_t target) {
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

  // An op that may change what splits there are. True where a look may be taken.
  bool special(std::size_t index, const Op& op, LaneMask active) {
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
    give_way(index);
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
        make_ready(split, warp_.executed);
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
      make_ready(warp_.splits[i], warp_.executed);
      ++warp_.splits[i].pc;
    }
    return true;
  }

  WarpState& warp_;
  TierHandle* tier_;
  Recorder* recorder_; // null unless profiling
  std::uint64_t turn_end_;     // of warp_.executed
  std::uint64_t compiled_ = 0; // of what it has executed in this turn
  std::uint64_t threads_ = 0;
  std::uint64_t vain_ = 0;
  bool look_due_ = false; // compiled code left for it
  bool yielded_ = false;
};

} // namespace

std::uint64_t run_warp(WarpState& warp, std::uint32_t quantum) {
  return Runner(warp, quantum).run();
}

std::byte* place_of(WarpState& warp, const Frame& frame, const CallDetail::Place& place, int lane) {
  if (place.in_register)
    return frame.registers + place.offset +
           std::size_t{place.bytes} * static_cast<std::size_t>(lane);
  return warp.local_of(lane) + frame.local_base + place.offset;
}

} // namespace kernevo::vgpu
