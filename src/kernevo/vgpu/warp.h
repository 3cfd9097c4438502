// What an instruction handler sees of the running warp.
#pragma once

#include "kernevo/model/finding.h"
#include "kernevo/vgpu/program.h"

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

enum class AccessKind : std::uint8_t { load, store, atomic };

struct Access {
  ptx::Space space = ptx::Space::generic;
  AccessKind kind = AccessKind::load;
  bool strong = false; // volatile, relaxed, acquire, release, atomic: never a data race by itself
  std::uint32_t size = 4;
  bool overwrites = false; // an exchange: what was there before does not matter
  bool cluster = false;    // .shared::cluster: may name the memory of another block of the cluster
  bool polls = true;       // if strong, and no store: a loop may wait for what it reads
};

// The one door to memory for every instruction: translates the lane's address in the given space to
// a host pointer, after checking bounds, alignment (natural for `size`) and, in sanitizer mode,
// initialisation and races. For stores, `new_bytes` are the bytes about to be written (the race
// detector forgives two threads writing the same value). Returns nullptr after raising a fault: the
// handler must then return at once.
std::byte* resolve(Warp& warp, const Op& op, int lane, std::uint64_t address, const Access& access,
                   const std::byte* new_bytes = nullptr);

} // namespace kernevo::vgpu
