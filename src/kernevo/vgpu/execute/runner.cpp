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
#include "kernevo/vgpu/execute/runner.h"

#include "kernevo/vgpu/execute/warp_state.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace kernevo::vgpu {
namespace {

// A warp that met a strong access polls if it meets another within this many instructions.
constexpr std::uint64_t kWatch = 1024;
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

// Where a split stands in a frame, and the call it is in below that frame.
struct Standing {
  const Frame* frame;
  std::uint32_t pc;
  const Frame* call = nullptr;

  void climb() {
    call = frame;
    pc = frame->return_pc - 1;
    frame = frame->parent;
  }
};

// A total order, or two splits could each wait for the other: by place in the innermost frame that
// both are in or below; there, in a call goes before at it, and of two calls the one with the
// lowest lane.
bool runs_before(const Split& a, const Split& b) {
  Standing at_a{a.frame, a.pc};
  Standing at_b{b.frame, b.pc};
  while (at_a.frame->depth > at_b.frame->depth)
    at_a.climb();
  while (at_b.frame->depth > at_a.frame->depth)
    at_b.climb();
  while (at_a.frame != at_b.frame) {
    at_a.climb();
    at_b.climb();
  }
  const auto& order = at_a.frame->code->order;
  if (order[at_a.pc] != order[at_b.pc])
    return order[at_a.pc] < order[at_b.pc];
  if (at_a.call != nullptr && at_b.call != nullptr)
    return std::countr_zero(at_a.call->lanes) < std::countr_zero(at_b.call->lanes);
  if (at_a.call != at_b.call)
    return at_a.call != nullptr;
  return std::countr_zero(a.mask) < std::countr_zero(b.mask);
}

} // namespace

std::uint64_t Runner::run() {
  const std::uint64_t start = warp_.executed;
  // The short turns of the profiler end long before a look: who span then still does.
  if (recorder_ == nullptr)
    warp_.spinning = false;
  if ((!is_parked() && !has_left()) || resume_parked())
    run_splits();
  const std::uint64_t executed = warp_.executed - start;
  warp_.block->warp_instructions += executed;
  warp_.block->thread_instructions += threads_;
  warp_.block->clock += executed - std::exchange(warp_.block->clocked, 0);
  return executed - vain_;
}

bool Runner::resume_parked() {
  Split& split = warp_.splits.front();
  if (split.state != SplitState::ready)
    return false; // the barrier has not opened
  set_deadline(0);
  warp_.current = split.frame;
  warp_.frame = split.frame->registers;
  settle(split, resume_compiled(warp_));
  if (warp_.faulted || is_parked())
    return false;
  if (look_due_)
    look(0);
  return !yielded_;
}

void Runner::run_splits() {
  // One that stands at a barrier waits for its next turn, even if others have opened it by now.
  while (!warp_.faulted && !yielded_ && !is_parked()) {
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
}

std::size_t Runner::pick() {
  auto& splits = warp_.splits;
  if (warp_.passed_barrier)
    part_after_barrier();
  if (splits.size() == 1) {
    splits.front().deferred = false;
    return splits.front().state == SplitState::ready ? 0 : kNoSplit;
  }
  merge_ready();
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::size_t best = kNoSplit;
    for (std::size_t i = 0; i < splits.size(); ++i)
      if (splits[i].state == SplitState::ready && !splits[i].deferred &&
          (best == kNoSplit || goes_first(splits[i], splits[best])))
        best = i;
    if (best != kNoSplit)
      return best;
    for (Split& split : splits)
      split.deferred = false;
  }
  return kNoSplit;
}

void Runner::look(std::size_t index) {
  const std::uint64_t now = warp_.executed;
  if (now >= turn_end_)
    yielded_ = true;
  if (!warp_.watched) {
    warp_.watched = std::exchange(warp_.strong_access, false);
    warp_.watched_until = now + kWatch;
    warp_.spinning = false;
  } else if (now >= warp_.watched_until) {
    warp_.watched = std::exchange(warp_.strong_access, false);
    warp_.watched_until = now + kWatch;
    warp_.spinning = false;
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

void Runner::defer(std::size_t index) {
  warp_.splits[index].deferred = true;
  // Where lanes go apart several splits spin: each must have spun before the first is tried again.
  const std::uint64_t turns = warp_.parts ? warp_.splits.size() : 1;
  warp_.splits[index].deferred_until = warp_.executed + turns * kDeferral;
}

void Runner::give_way(std::size_t index) {
  for (std::size_t i = 0; i < warp_.splits.size(); ++i)
    if (const Split& other = warp_.splits[i];
        i != index && other.state == SplitState::ready && !other.deferred) {
      defer(index);
      return;
    }
  warp_.spinning = true;
  yielded_ = true;
}

bool Runner::goes_first(const Split& split, const Split& other) const {
  if (goes_apart(split) != goes_apart(other))
    return !goes_apart(split);
  return runs_before(split, other);
}

void Runner::part_after_barrier() {
  warp_.passed_barrier = false;
  auto& splits = warp_.splits;
  const bool together = std::all_of(splits.begin(), splits.end(), [&](const Split& split) {
    return split.state == SplitState::ready && split.pc == splits.front().pc &&
           split.frame == splits.front().frame;
  });
  if (!together)
    return;
  splits.resize(1);
  splits.front().mask = warp_.live;
  part(0);
}

void Runner::merge_ready() {
  auto& splits = warp_.splits;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].state != SplitState::ready)
      continue;
    for (std::size_t j = splits.size() - 1; j > i; --j)
      if (splits[j].state == SplitState::ready && splits[j].pc == splits[i].pc &&
          splits[j].frame == splits[i].frame && goes_apart(splits[j]) == goes_apart(splits[i])) {
        splits[i].mask |= splits[j].mask;
        splits[i].deferred = splits[i].deferred && splits[j].deferred;
        splits[i].deferred_until = std::min(splits[i].deferred_until, splits[j].deferred_until);
        splits[i].idle_since = std::min(splits[i].idle_since, splits[j].idle_since);
        splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(j));
      }
  }
}

std::uint32_t Runner::turn_of_others(std::size_t index) const {
  const Split& self = warp_.splits[index];
  std::uint32_t limit = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = 0; i < warp_.splits.size(); ++i) {
    const Split& other = warp_.splits[i];
    if (i == index || other.state != SplitState::ready || other.deferred ||
        other.frame->depth < self.frame->depth || goes_apart(other) != goes_apart(self))
      continue;
    const Frame* frame = other.frame;
    const std::uint32_t pc = position_in(frame, other.pc, self.frame->depth);
    if (frame == self.frame)
      limit = std::min(limit, frame->code->order[pc]);
  }
  return limit;
}

bool Runner::run_in_compiled(std::size_t index, const CompiledFunction& compiled,
                             std::uint32_t entry, std::uint32_t limit) {
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

const CompiledFunction* Runner::compiled_for(const Split& split) const {
  if (tier_ == nullptr)
    return nullptr;
  const std::uint32_t function = split.frame->code->index;
  return split.mask == kAllLanes ? tier_->full(function) : tier_->partial(function);
}

bool Runner::execute(std::size_t index) {
  bool moved = std::exchange(moved_, true);
  look_due_ = false;
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
        moved_ = true;
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

void Runner::note_visit(const Frame* frame, std::uint32_t target, LaneMask lanes) {
  if (frame == warp_.entry && target < warp_.visited.size())
    warp_.visited[target] |= lanes;
}

std::uint64_t run_warp(WarpState& warp, std::uint32_t quantum) {
  return Runner(warp, quantum).run();
}

} // namespace kernevo::vgpu
