// A seeded permutation of 0..count-1, evaluated point by point: a grid may have four billion
// blocks.
#pragma once

#include "kernevo/base/random.h"

#include <bit>
#include <cstdint>

namespace kernevo::vgpu {

class Permutation {
public:
  Permutation(std::uint64_t count, std::uint64_t seed)
      : count_(count), half_((std::bit_width(count > 1 ? count - 1 : 1) + 1) / 2), random_(seed) {}

  // A Feistel network over the next even power of two, walked until it lands inside.
  std::uint64_t operator()(std::uint64_t index) const {
    do
      index = mix(index);
    while (index >= count_);
    return index;
  }

private:
  std::uint64_t mix(std::uint64_t index) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = index >> half_;
    std::uint64_t right = index & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (random_.bits(right << 2U | round) & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t count_;
  unsigned half_;
  CounterRandom random_;
};

} // namespace kernevo::vgpu
