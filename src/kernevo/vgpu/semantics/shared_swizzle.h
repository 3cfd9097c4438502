// How TMA and wgmma spread a tile over the banks of shared memory: the 16-byte unit of an address
// is exchanged with another one of its span, chosen by the 128-byte row the address stands in. The
// pattern belongs to the address, not to the tile, so a pointer into the middle of a tile still
// finds its data.
#pragma once

#include <cstdint>

namespace kernevo::vgpu::semantics {

// `span` is 32, 64 or 128 bytes; 0 or 16 means no swizzle. `first_row` is the row, modulo 8, at
// which a pattern that is not aligned to its own size begins.
constexpr std::uint64_t swizzle(std::uint64_t address, std::uint32_t span,
                                std::uint32_t first_row = 0) {
  if (span < 32)
    return address;
  const std::uint64_t units = span / 16;
  const std::uint64_t row = (address >> 7U) - first_row;
  return address ^ ((row & (units - 1)) << 4U);
}

} // namespace kernevo::vgpu::semantics
