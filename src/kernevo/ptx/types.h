// The scalar types and state spaces of PTX.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernevo::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b1,
  b4,
  b8,
  b16,
  b32,
  b64,
  b128,
  u4,
  u8,
  u16,
  u32,
  u64,
  s4,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  ue8m0x2,
  s16x2,
  u16x2,
  s8x4,
  u8x4,
};

enum class Space : std::uint8_t { generic, reg, sreg, global, shared, local, constant, param };

std::string_view name_of(Type type);
std::string_view name_of(Space space);
int bits_of(Type type); // 0 for none; 1 for pred
inline int bytes_of(Type type) {
  return (bits_of(type) + 7) / 8;
}
bool is_signed(Type type);
bool is_float(Type type); // any floating format, packed ones included

} // namespace kernevo::ptx
