// A warp in flight: its diverged parts, their frames, local memory and copies under way.
#pragma once

#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/memory/memory.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernevo::vgpu {

enum class SplitState : std::uint8_t {
  ready,
  at_warp_sync, // waits for lanes of its member mask
  at_barrier,   // arrived at a block barrier
  waiting,      // an OpKind::wait instruction said to try again
};

// Lanes of a warp that are at the same place.
struct Split {
  LaneMask mask = 0;
  std::uint32_t pc = 0;
  Frame* frame = nullptr;
  SplitState state = SplitState::ready;
  bool deferred = false;            // it span long enough; others go first,
  std::uint64_t deferred_until = 0; // until the warp has run so many instructions
  std::uint64_t idle_since = 0;     // instructions of the warp when it last ran
};

inline void make_ready(Split& split, std::uint64_t now) {
  split.state = SplitState::ready;
  split.idle_since = now;
}

// A cp.async (or similar) in flight: data already read, to be stored when it is waited for.
struct PendingCopy {
  std::uint8_t lane = 0;
  std::uint8_t size = 0;
  std::uint32_t group = 0; // of the lane; commit_group opens the next
  std::uint64_t shared_offset = 0;
  const Op* op = nullptr;
  std::array<std::byte, 16> bytes{};
};

struct Activation; // see compiled_run.h

struct WarpState : Warp {
  WarpState();
  ~WarpState();
  WarpState(WarpState&&) noexcept;
  WarpState& operator=(WarpState&&) noexcept;

  std::unique_ptr<Activation> activation; // of compiled code, the last or a parked one
  LaunchState* launch = nullptr;
  Frame* current = nullptr; // the frame of `frame`
  Frame* entry = nullptr;
  std::vector<Split> splits;
  // Lanes promise nothing about how they advance between barriers. With `parts` (sanitizer,
  // shuffled order) those of `apart`, drawn anew whenever all have met, stay behind until the
  // others wait.
  bool parts = false;
  LaneMask apart = 0;
  bool passed_barrier = false; // of the block; its lanes may part anew
  std::uint64_t executed = 0;  // instructions since its start, the clock of its scheduler
  bool spinning = false;       // its last slice was spent in a loop of strong accesses
  // Loops of strong accesses wait for somebody. After the first such access the warp is watched; it
  // polls if there are more of them in a while.
  bool strong_access = false; // since its scheduler last looked
  bool watched = false;
  std::uint64_t watched_until = 0;

  std::vector<std::unique_ptr<Frame>> frames; // in use; released ones move to spare
  std::vector<std::unique_ptr<Frame>> spare;
  // Local memory, lane after lane.
  std::vector<std::byte> local;
  std::uint32_t local_stride = 0;
  std::uint64_t leftover = 0; // what it holds before it is set
  LaneMask started = 0;       // lanes that exist
  // barrier.cluster: lanes that arrived in the phase in progress, and those yet to wait for theirs.
  LaneMask cluster_arrived = 0;
  LaneMask cluster_unwaited = 0;
  void note_strong_access() {
    strong_access = true;
    if (!watched)
      deadline = 0;
  }

  // Allocations hit lately, by instruction.
  std::array<const Allocation*, 8> hits{};

  // cp.async: copies in flight and the group each lane is filling.
  std::vector<PendingCopy> pending;
  std::array<std::uint32_t, kWarpSize> open_group{};

  // Sanitizer: the last instruction of the kernel with an effect on memory, per lane (for barrier
  // divergence).
  std::array<std::uint32_t, kWarpSize> last_effect{};
  // Sanitizer: which lanes ever branched to an op of the kernel (for the same).
  std::vector<LaneMask> visited;

  std::byte* local_of(int lane) {
    return local.data() + std::size_t{local_stride} * static_cast<std::size_t>(lane);
  }
};

inline WarpState& state_of(Warp& warp) {
  return static_cast<WarpState&>(warp);
}

} // namespace kernevo::vgpu
