// A counter-based generator: the value at an index depends on (seed, index) alone, so inputs can be
// made in any order, on any core, and partly.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace kernevo {

class CounterRandom {
public:
  explicit constexpr CounterRandom(std::uint64_t seed) : seed_(mix(seed + kGolden)) {}

  // 64 random bits for this index.
  constexpr std::uint64_t bits(std::uint64_t index) const {
    return mix(mix(index * kGolden + seed_) ^ seed_);
  }
  // Uniform in [0, 1).
  constexpr double uniform(std::uint64_t index) const {
    return static_cast<double>(bits(index) >> 11) * 0x1.0p-53;
  }
  // Standard normal (Box-Muller on two streams derived from the index).
  double normal(std::uint64_t index) const {
    const double radius = 1.0 - uniform(2 * index);
    const double angle = uniform(2 * index + 1);
    return std::sqrt(-2.0 * std::log(radius)) * std::cos(2.0 * std::numbers::pi * angle);
  }
  // Uniform integer in [low, high].
  constexpr std::int64_t integer(std::uint64_t index, std::int64_t low, std::int64_t high) const {
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(span == 0 ? bits(index) : bits(index) % span);
  }

private:
  static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
  // The finaliser of SplitMix64: full avalanche, passes BigCrush.
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }

  std::uint64_t seed_;
};

} // namespace kernevo
