// The one door to memory: address -> host pointer, after every check.
#pragma once

#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/sanitizer/race_detector.h"

#include <cstddef>
#include <cstdint>

namespace kernevo::vgpu {

enum class AccessKind : std::uint8_t { load, store, atomic };

struct Access {
  ptx::Space space = ptx::Space::generic;
  AccessKind kind = AccessKind::load;
  bool strong = false; // volatile, relaxed, acquire, release, atomic: never a data race by itself
  std::uint32_t size = 4;
  bool overwrites = false;  // an exchange: what was there before does not matter
  bool cluster = false;     // .shared::cluster: may name the memory of another block of the cluster
  bool polls = true;        // if strong, and no store: a loop may wait for what it reads
  Touch as = Touch::load;   // if a load: by which cache
  bool block_scope = false; // if strong: seen in time by the threads of its block alone
};

// The one door to memory for every instruction: translates the lane's address in the given space to
// a host pointer, after checking bounds, alignment (natural for `size`) and, in sanitizer mode,
// initialisation and races. For stores, `new_bytes` are the bytes about to be written (the race
// detector forgives two threads writing the same value). Returns nullptr after raising a fault: the
// handler must then return at once.
std::byte* resolve(Warp& warp, const Op& op, int lane, std::uint64_t address, const Access& access,
                   const std::byte* new_bytes = nullptr);

// Is the address inside module .const memory? (isspacep.const)
bool is_constant_address(const Warp& warp, std::uint64_t address);

} // namespace kernevo::vgpu
