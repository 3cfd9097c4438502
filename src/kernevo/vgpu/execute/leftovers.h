// What a thread finds in shared and local memory that nobody has set: what others left there. A
// constant could be recognised and passed over, so a seed and the place decide it, and every part
// of two bytes or more is a large number in any format.
#pragma once

#include "kernevo/base/random.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kernevo::vgpu {

inline std::uint64_t leftover_word(std::uint64_t seed, std::uint64_t place) {
  constexpr std::uint64_t kRandomBits = 0x8FFF8FFF8FFF8FFFU;
  constexpr std::uint64_t kLarge = 0x5000500050005000U;
  return (CounterRandom(seed).bits(place) & kRandomBits) | kLarge;
}

inline void fill_with(std::span<std::byte> memory, std::uint64_t word) {
  std::size_t at = 0;
  for (; at + sizeof word <= memory.size(); at += sizeof word)
    std::memcpy(memory.data() + at, &word, sizeof word);
  std::memcpy(memory.data() + at, &word, memory.size() - at);
}

} // namespace kernevo::vgpu
