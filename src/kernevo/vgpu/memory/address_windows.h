// Generic addressing. A global or constant address is the host address of its storage. Shared and
// local memory live in windows outside the host's address range, so a generic address says by
// itself which space it is in. Inside its own space an address is the offset from the window's
// base, as with real hardware: cvta adds the base, cvta.to subtracts it.
#pragma once

#include "kernevo/ptx/types.h"

#include <cstdint>

namespace kernevo::vgpu {

// User space of x86-64 and AArch64 ends below 2^48 (2^57 with five-level tables, given only on
// demand).
inline constexpr std::uint64_t kSharedWindow = 0x4000'0000'0000'0000U;
inline constexpr std::uint64_t kLocalWindow = 0x5000'0000'0000'0000U;
inline constexpr std::uint64_t kParamWindow = 0x6000'0000'0000'0000U;
// Handles of functions, as `mov.u64 %rd, function` gives them.
inline constexpr std::uint64_t kFunctionWindow = 0x7000'0000'0000'0000U;
// Handles of textures, surfaces and samplers.
inline constexpr std::uint64_t kImageWindow = 0x7100'0000'0000'0000U;
inline constexpr std::uint64_t kWindowBytes = 0x0000'0001'0000'0000U;

// Inside .param space: a kernel's parameter buffer starts at 0, .param variables of the call stack
// here.
inline constexpr std::uint64_t kStackParams = 0x1000'0000U;

// A cluster's shared memory: each block's part begins at its rank times this, inside the shared
// window as well as inside .shared space. The address of a block's own variable carries its rank.
inline constexpr unsigned kRankShift = 24;
inline constexpr std::uint64_t kSharedPart = std::uint64_t{1} << kRankShift;

constexpr bool in_window(std::uint64_t address, std::uint64_t base) {
  return address - base < kWindowBytes;
}

// Base of a space's window; 0 for spaces whose addresses are generic already.
constexpr std::uint64_t window_base(ptx::Space space) {
  switch (space) {
  case ptx::Space::shared: return kSharedWindow;
  case ptx::Space::local: return kLocalWindow;
  case ptx::Space::param: return kParamWindow;
  default: return 0;
  }
}

// cvta.<space>: an address inside the space -> generic. Null stays distinguishable only for global,
// as on hardware.
constexpr std::uint64_t to_generic(std::uint64_t address, ptx::Space space) {
  return address + window_base(space);
}

// cvta.to.<space>: generic -> an address inside the space.
constexpr std::uint64_t from_generic(std::uint64_t address, ptx::Space space) {
  return address - window_base(space);
}

// isspacep for the spaces told apart by windows. Constant memory is an interval of the module and
// needs is_constant_address() of block.h.
constexpr bool in_space(std::uint64_t address, ptx::Space space) {
  switch (space) {
  case ptx::Space::shared: return in_window(address, kSharedWindow);
  case ptx::Space::local: return in_window(address, kLocalWindow);
  case ptx::Space::param: return in_window(address, kParamWindow);
  case ptx::Space::global: return address < kSharedWindow;
  default: return false;
  }
}

} // namespace kernevo::vgpu
