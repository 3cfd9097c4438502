// What a kernel's result owes to the order in which its blocks run, read off its instructions.
#pragma once

#include "kernevo/vgpu/program/lower.h"

namespace kernevo::vgpu {

// Notes in the code and its atomic ops (Op::immediate = kOrdered) which of them depend on order:
// floating-point updates, for rounding is not associative; exchanges and their kin, for the last
// one wins; and every atomic whose old value some instruction reads. Integer sums, extremes and
// bits whose old value nobody looks at commute. Shared memory belongs to one block: its order is
// fixed already.
inline constexpr std::int64_t kOrdered = 1;
void note_order(Code& code);

struct OrderDependence {
  bool matters = false; // some reachable op depends on the order of blocks
  bool polls = false;   // and blocks may wait for others in a loop
};
OrderDependence order_dependence(const Program& program, std::uint32_t kernel);

} // namespace kernevo::vgpu
