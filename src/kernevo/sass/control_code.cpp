#include "kernevo/sass/control_code.h"

#include <fmt/format.h>

namespace kernevo::sass {

namespace {

constexpr unsigned kNoBarrier = 7;
constexpr int kBarriers = 6;

unsigned bits(std::uint64_t word, unsigned first, unsigned count) {
  return static_cast<unsigned>(word >> first) & ((1U << count) - 1U);
}

std::optional<int> barrier(unsigned field) {
  return field == kNoBarrier ? std::nullopt : std::optional(static_cast<int>(field));
}

} // namespace

ControlCode decode_control(std::uint64_t upper) {
  // The upper word begins at bit 64.
  ControlCode control;
  control.stall = static_cast<int>(bits(upper, 105 - 64, 4));
  control.yield = bits(upper, 109 - 64, 1) == 0; // the bit is set where the warp should stay
  control.write_barrier = barrier(bits(upper, 110 - 64, 3));
  control.read_barrier = barrier(bits(upper, 113 - 64, 3));
  control.wait_mask = bits(upper, 116 - 64, 6);
  control.reuse_mask = bits(upper, 122 - 64, 4);
  return control;
}

std::string format_control(const ControlCode& control) {
  std::string waits;
  for (int i = 0; i < kBarriers; ++i)
    waits += (control.wait_mask >> static_cast<unsigned>(i) & 1U) != 0 ? fmt::format("{}", i) : "-";
  const auto name = [](const std::optional<int>& b) { return b ? fmt::format("{}", *b) : "-"; };
  return fmt::format("B{} R{} W{} {} S{:02}", waits, name(control.read_barrier),
                     name(control.write_barrier), control.yield ? "Y" : "-", control.stall);
}

} // namespace kernevo::sass
