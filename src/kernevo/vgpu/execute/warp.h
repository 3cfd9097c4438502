// What an instruction handler sees of the running warp.
#pragma once

#include "kernevo/model/finding.h"
#include "kernevo/vgpu/program/program.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernevo::vgpu {

struct BlockState; // the block the warp belongs to: shared memory, barriers, launch. See block.h

struct Warp {
  std::byte* frame = nullptr; // of the function the current lanes execute
  BlockState* block = nullptr;
  int index = 0;          // warp number in the block
  LaneMask live = 0;      // lanes that have not exited
  bool faulted = false;   // set by raise(); the interpreter stops the launch
  bool must_wait = false; // OpKind::wait: set by the handler to retry the same instruction later
  // Once this many instructions of the warp have run, its scheduler looks at it: at the next branch
  // that goes back. Compiled code reads it too.
  std::uint64_t deadline = 0;

  // Register slot as an array of 32 lanes.
  template <class T> T* lanes(std::uint32_t offset) {
    return reinterpret_cast<T*>(frame +
                                offset); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  }
  // A predicate register: one bit per lane.
  LaneMask& predicate(std::uint32_t offset) { return *lanes<LaneMask>(offset); }

  // Records a fault of this lane at this instruction; the launch ends with it. First fault wins.
  void raise(FindingKind kind, const Op& op, int lane, std::string message);
};

// Calls f(lane) for each active lane in ascending order.
template <class F> inline void for_each_lane(LaneMask active, F&& f) {
  while (active != 0) {
    f(__builtin_ctz(active));
    active &= active - 1;
  }
}

} // namespace kernevo::vgpu
