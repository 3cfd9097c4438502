// A sequence of random numbers that depends on its seed alone, on every machine: the standard
// library's distributions differ between implementations.
#pragma once

#include "kernevo/base/random.h"

namespace kernevo::search {

class RandomStream {
public:
  explicit RandomStream(std::uint64_t seed) : random_(seed) {}
  // An independent stream for each purpose of one seed.
  RandomStream(std::uint64_t seed, std::uint64_t purpose, std::uint64_t step)
      : random_(CounterRandom(CounterRandom(seed).bits(purpose)).bits(step)) {}

  double uniform() { return random_.uniform(next_++); }
  double normal() { return random_.normal((std::uint64_t{1} << 62U) + next_++); }
  // In [0, count).
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(random_.bits(next_++) % count);
  }

private:
  CounterRandom random_;
  std::uint64_t next_ = 0;
};

} // namespace kernevo::search
