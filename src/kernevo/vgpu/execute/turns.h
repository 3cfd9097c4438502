// Blocks that run on several cores act on memory in the order of a single core: what depends on
// order (a floating-point atomic, an atomic whose old value is used, printf) waits until every
// block that was handed out earlier is done. Everything before the first such action overlaps, and
// so does everything in blocks that have none. No buffering: a block sees its own updates, and
// the sum of a million atomics has the same bits on any number of cores.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernevo::vgpu {

struct WarpState;

class Turns {
public:
  explicit Turns(std::size_t cores) : seats_(cores) {}

  // Before a core takes its next ticket: none below `bound` can be its next one.
  void announce(std::size_t core, std::uint64_t bound) { seats_[core].ticket.store(bound); }
  // The core runs this ticket from now on.
  void begin(std::size_t core, std::uint64_t ticket) { seats_[core].ticket.store(ticket); }
  void leave(std::size_t core) { seats_[core].ticket.store(kNobody); }

  // Is every earlier ticket done? Once true, true for good.
  bool is_oldest(std::size_t core, std::uint64_t ticket) const {
    for (std::size_t i = 0; i < seats_.size(); ++i)
      if (i != core && seats_[i].ticket.load() < ticket)
        return abandoned_.load(std::memory_order_relaxed);
    return true;
  }
  // Blocks wait for later ones in a way nobody foresaw: better unordered than stuck.
  void abandon() { abandoned_.store(true); }

private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
  // One cache line each: a core writes its own once per block.
  struct alignas(64) Seat {
    std::atomic<std::uint64_t> ticket = kNobody;
  };
  std::vector<Seat> seats_;
  std::atomic<bool> abandoned_ = false;
};

// Holds the warp's block until it is its turn. False when the launch stopped meanwhile: the warp is
// faulted then and its handler returns. Nothing to wait for unless the launch takes turns.
bool await_turn(WarpState& warp);

// What await_turn() has cost this thread so far.
std::chrono::steady_clock::duration time_waited_for_turns();

} // namespace kernevo::vgpu
