// The 64-bit matrix descriptor of wgmma and the place of every 16 bytes of the matrix in shared
// memory. A matrix is made of rows of 16-byte units; "K-major" means that a unit holds consecutive
// k of one row of A (or column of B), "MN-major" that it holds consecutive rows (columns) of one k.
//
//   bits  0-13  start address / 16          bits 32-45  stride byte offset / 16
//   bits 16-29  leading byte offset / 16    bits 49-51  base offset: row of an unaligned pattern
//   bits 62-63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
#pragma once

#include "kernevo/vgpu/semantics/shared_swizzle.h"

#include <cstdint>

namespace kernevo::vgpu::semantics {

struct MatrixDescriptor {
  std::uint64_t start = 0;
  std::uint64_t leading = 0;
  std::uint64_t stride = 0;
  std::uint32_t first_row = 0;
  std::uint32_t span = 16; // bytes a swizzle pattern is wide; 16 = none

  static constexpr MatrixDescriptor decode(std::uint64_t bits) {
    constexpr std::uint64_t field = 0x3FFF;
    constexpr std::uint32_t spans[] = {16, 128, 64, 32};
    return {(bits & field) << 4U, (bits >> 16U & field) << 4U, (bits >> 32U & field) << 4U,
            static_cast<std::uint32_t>(bits >> 49U & 7U), spans[bits >> 62U]};
  }

  // Unit `unit` (16 bytes of k) of row `row`, K-major: eight rows stand `span` bytes apart, then
  // comes the stride. Units follow each other inside a span; without a swizzle they stand the
  // leading offset apart.
  constexpr std::uint64_t k_major(std::uint32_t row, std::uint32_t unit) const {
    const std::uint64_t along = span == 16 ? unit * leading : std::uint64_t{unit} * 16;
    return place(std::uint64_t{row % 8} * span + row / 8 * stride + along);
  }

  // Unit `unit` (16 bytes of rows) at depth k, MN-major: eight k stand `span` bytes apart. With a
  // swizzle, spans of rows stand the leading offset and groups of eight k the stride apart; without
  // one it is the other way round.
  constexpr std::uint64_t mn_major(std::uint32_t unit, std::uint32_t k) const {
    const std::uint32_t units = span / 16;
    const std::uint64_t spans_apart = span == 16 ? stride : leading;
    const std::uint64_t groups_apart = span == 16 ? leading : stride;
    return place(std::uint64_t{unit % units} * 16 + unit / units * spans_apart +
                 std::uint64_t{k % 8} * span + k / 8 * groups_apart);
  }

private:
  constexpr std::uint64_t place(std::uint64_t offset) const {
    return swizzle(start + offset, span, first_row);
  }
};

} // namespace kernevo::vgpu::semantics
