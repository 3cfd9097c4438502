// Single instructions with random operands, from templates.
#pragma once

#include "kernevo/base/random.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::test {

class Dice {
public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t bits() { return random_.bits(next_++); }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(bits() % n); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <class T> const T& pick(const std::vector<T>& from) {
    return from[below(static_cast<std::uint32_t>(from.size()))];
  }

private:
  CounterRandom random_;
  std::uint64_t next_ = 0;
};

// Registers every thread computes with: %h (16 bits), %r, %d (64 bits), %f, %e (f64) and %p.
inline constexpr std::uint32_t kHalves = 5;
inline constexpr std::uint32_t kWords = 8;
inline constexpr std::uint32_t kDoubleWords = 4;
inline constexpr std::uint32_t kFloats = 4;
inline constexpr std::uint32_t kDoubles = 4;
inline constexpr std::uint32_t kPredicates = 5;

// Fills in a template: [a|b|] is one of its parts, $ and a letter an operand.
//   H R D F E P        a register to write (Q: two predicates, J: two %r, G: two %h, K: four %h)
//   h r d f e          a register or a constant
//   x y z v w p        a register; n: a predicate, maybe negated
//   s k                an amount to shift by, a constant below 256
// `words`: further 32-bit registers that may be read.
std::string fill_in(Dice& dice, std::string_view text, const std::vector<std::string>& words);

// The bits of a constant: small, extreme or anything.
std::uint64_t random_constant(Dice& dice, int bits);
std::uint32_t random_f32(Dice& dice);
std::uint64_t random_f64(Dice& dice);
std::uint16_t random_f16(Dice& dice);

// A random instruction for registers alone; `sm` 80 or 90.
std::string random_instruction(Dice& dice, int sm, const std::vector<std::string>& words);
// Several that belong together (carries, the bits of an f64).
std::vector<std::string> random_sequence(Dice& dice, const std::vector<std::string>& words);

} // namespace kernevo::test
