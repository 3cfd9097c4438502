// Runs one warp: see runner.cpp for which part of it runs when, runner_splits.cpp for what makes,
// moves and ends the parts.
#pragma once

#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/program/control.h"
#include "kernevo/vgpu/tier/compiled_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kernevo::vgpu {

class Runner {
public:
  Runner(WarpState& warp, std::uint32_t quantum)
      : warp_(warp), tier_(warp.block->recorder == nullptr ? warp.launch->tier.get() : nullptr),
        recorder_(warp.block->recorder), turn_end_(warp.executed + quantum) {}

  std::uint64_t run();

private:
  // A split that waits this long for others gets a turn: they may wait for it with plain loads.
  static constexpr std::uint64_t kFairShare = 1U << 20U;

  // Goes on with compiled code that stood at a barrier. True when there is more to do in this turn.
  bool resume_parked();
  void run_splits();

  // Scheduling.
  std::size_t pick();
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
  void look(std::size_t index);
  void defer(std::size_t index);
  // The split waits for somebody: another split, or another warp if all of this one do.
  void give_way(std::size_t index);
  void merge_ready();
  // Lanes that go apart run when the others cannot, and neither wait for them nor join them.
  bool goes_apart(const Split& split) const { return (split.mask & warp_.apart) != 0; }
  bool goes_first(const Split& split, const Split& other) const;
  void part_after_barrier();
  // The first position in the frame at which another split must have its turn.
  std::uint32_t turn_of_others(std::size_t index) const;

  // Execution.
  // Lets compiled code run the split from an entry; false when nothing happened.
  bool run_in_compiled(std::size_t index, const CompiledFunction& compiled, std::uint32_t entry,
                       std::uint32_t limit);
  void settle(Split& split, const CompiledOutcome& outcome) {
    warp_.executed += outcome.executed;
    if (!outcome.parked) { // by all lanes: nobody waits for it
      split.pc = outcome.pc;
      split.idle_since = warp_.executed;
    }
    compiled_ += outcome.executed;
    threads_ += outcome.threads;
    look_due_ = outcome.look_due;
    moved_ = false;
  }
  bool is_parked() const { return warp_.activation != nullptr && warp_.activation->parked; }
  bool has_left() const { return warp_.activation != nullptr && warp_.activation->left; }
  // Compiled code has run: must its split be looked at, or can it not go on?
  bool must_stop() const { return warp_.faulted || is_parked() || look_due_; }
  // The code that may run a split of these lanes, if it has been compiled.
  const CompiledFunction* compiled_for(const Split& split) const;
  // Runs the split until another may have to run. True where a look may be taken at the warp; the
  // split has its index still.
  bool execute(std::size_t index);
  void note_visit(const Frame* frame, std::uint32_t target, LaneMask lanes);

  // What makes, moves and ends splits.
  // An op that may change what splits there are. True where a look may be taken.
  bool special(std::size_t index, const Op& op, LaneMask active);
  // Lanes of the split that take a branch part from those that do not.
  void diverge(std::size_t index, LaneMask taken, std::uint32_t target);
  // Moves the lanes of the split that are not active past its op, so that it is all active.
  void shed(std::size_t index, LaneMask active);
  void wait(std::size_t index, const Op& op, LaneMask active);
  void branch_by_index(std::size_t index, const Op& op, LaneMask active);
  void call(std::size_t index, const Op& op, LaneMask active);
  void enter(std::size_t index, const CallDetail& detail, std::uint32_t function);
  void return_lanes(std::size_t index, LaneMask active);
  void exit_lanes(std::size_t index, LaneMask active);
  // warp_sync: the handler runs once for each group of lanes with the same member mask, when all of
  // the group that still live are here.
  void synchronise(std::size_t index, const Op& op, LaneMask active);
  // Where lanes go apart (WarpState::parts), those of the split part anew after they have met.
  void part(std::size_t index);
  // bar.warp.sync joins threads that stand at different ones of it.
  bool join_elsewhere(std::size_t index, const Op& op, LaneMask members, LaneMask group);

  WarpState& warp_;
  TierHandle* tier_;
  Recorder* recorder_;         // null unless its block is counted
  std::uint64_t turn_end_;     // of warp_.executed
  std::uint64_t compiled_ = 0; // of what it has executed in this turn
  std::uint64_t threads_ = 0;
  std::uint64_t vain_ = 0;
  bool look_due_ = false; // compiled code left for it
  bool moved_ = true;     // since compiled code last ran: where it leaves, the interpreter goes on
  bool yielded_ = false;
};

// Runs one warp for about `quantum` ops. Returns how many of them were more than a vain wait.
std::uint64_t run_warp(WarpState& warp, std::uint32_t quantum);

} // namespace kernevo::vgpu
