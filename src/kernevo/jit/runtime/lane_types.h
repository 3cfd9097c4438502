// PTX types as C++ holds them in a register, by their PTX names.
#pragma once

#include <cstdint>

namespace kernevo::jit::runtime {

using b16 = std::uint16_t;
using b32 = std::uint32_t;
using b64 = std::uint64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f16 = std::uint16_t;
using bf16 = std::uint16_t;
using f32 = float;
using f64 = double;
using tf32 = std::uint32_t;
using f16x2 = std::uint32_t;
using bf16x2 = std::uint32_t;
using s16x2 = std::uint32_t;
using u16x2 = std::uint32_t;
using e4m3x2 = std::uint16_t;
using e5m2x2 = std::uint16_t;
using ue8m0x2 = std::uint16_t;

// Sixteen bits of a register that is otherwise used whole.
using Halves [[gnu::may_alias]] = std::uint16_t;

inline constexpr int kLanes = 32;

} // namespace kernevo::jit::runtime
