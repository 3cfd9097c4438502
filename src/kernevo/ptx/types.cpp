#include "kernevo/ptx/types.h"

#include <array>
#include <cstddef>

namespace kernevo::ptx {
namespace {

enum class Family : std::uint8_t { bits, unsigned_int, signed_int, floating };

struct TypeInfo {
  std::string_view name;
  int bits;
  Family family;
};

// In the order of the enumeration.
constexpr std::array kTypes = {
    TypeInfo{"", 0, Family::bits},
    TypeInfo{"pred", 1, Family::bits},
    TypeInfo{"b1", 1, Family::bits},
    TypeInfo{"b4", 4, Family::bits},
    TypeInfo{"b8", 8, Family::bits},
    TypeInfo{"b16", 16, Family::bits},
    TypeInfo{"b32", 32, Family::bits},
    TypeInfo{"b64", 64, Family::bits},
    TypeInfo{"b128", 128, Family::bits},
    TypeInfo{"u4", 4, Family::unsigned_int},
    TypeInfo{"u8", 8, Family::unsigned_int},
    TypeInfo{"u16", 16, Family::unsigned_int},
    TypeInfo{"u32", 32, Family::unsigned_int},
    TypeInfo{"u64", 64, Family::unsigned_int},
    TypeInfo{"s4", 4, Family::signed_int},
    TypeInfo{"s8", 8, Family::signed_int},
    TypeInfo{"s16", 16, Family::signed_int},
    TypeInfo{"s32", 32, Family::signed_int},
    TypeInfo{"s64", 64, Family::signed_int},
    TypeInfo{"f16", 16, Family::floating},
    TypeInfo{"f16x2", 32, Family::floating},
    TypeInfo{"bf16", 16, Family::floating},
    TypeInfo{"bf16x2", 32, Family::floating},
    TypeInfo{"tf32", 32, Family::floating},
    TypeInfo{"f32", 32, Family::floating},
    TypeInfo{"f32x2", 64, Family::floating},
    TypeInfo{"f64", 64, Family::floating},
    TypeInfo{"e4m3", 8, Family::floating},
    TypeInfo{"e5m2", 8, Family::floating},
    TypeInfo{"e4m3x2", 16, Family::floating},
    TypeInfo{"e5m2x2", 16, Family::floating},
    TypeInfo{"ue8m0x2", 16, Family::floating},
    TypeInfo{"s16x2", 32, Family::signed_int},
    TypeInfo{"u16x2", 32, Family::unsigned_int},
    TypeInfo{"s8x4", 32, Family::signed_int},
    TypeInfo{"u8x4", 32, Family::unsigned_int},
};
static_assert(kTypes.size() == static_cast<std::size_t>(Type::u8x4) + 1);

constexpr std::array<std::string_view, 8> kSpaces = {"generic", "reg",   "sreg",  "global",
                                                     "shared",  "local", "const", "param"};

const TypeInfo& info(Type type) {
  return kTypes[static_cast<std::size_t>(type)];
}

} // namespace

std::string_view name_of(Type type) {
  return info(type).name;
}

std::string_view name_of(Space space) {
  return kSpaces[static_cast<std::size_t>(space)];
}

int bits_of(Type type) {
  return info(type).bits;
}

bool is_signed(Type type) {
  return info(type).family == Family::signed_int;
}

bool is_float(Type type) {
  return info(type).family == Family::floating;
}

} // namespace kernevo::ptx
