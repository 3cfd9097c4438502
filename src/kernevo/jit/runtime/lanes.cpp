// What light code does to 32 lanes at once beside arithmetic: moves, choices and comparisons. The
// lanes of the result may be those of an operand.
#include "kernevo/jit/runtime/lane_types.h"
#include "kernevo/vgpu/semantics/compare.h"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace kernevo::jit::runtime {
namespace {

namespace sem = vgpu::semantics;

using Mask = std::uint32_t;
constexpr Mask kAll = 0xFFFFFFFFU;
using Bools = bool __attribute__((ext_vector_type(kLanes)));
template <class T> using Vector __attribute__((ext_vector_type(kLanes))) = T;

template <class T> [[gnu::always_inline]] inline Vector<T> load(const T* from) {
  Vector<T> all;
  std::memcpy(&all, from, sizeof(T) * kLanes);
  return all;
}
template <class T> [[gnu::always_inline]] inline void store(T* to, Vector<T> all) {
  std::memcpy(to, &all, sizeof(T) * kLanes);
}

bool runs(Mask mask, int lane) {
  return (mask >> lane & 1U) != 0;
}

// Base of the group + stride * position in the group; bases stand 8 bytes apart.
template <class T>
void expand(T* d, const std::uint64_t* bases, std::uint64_t stride, std::uint32_t group,
            Mask mask) {
  const auto step = static_cast<T>(stride);
  if (mask == kAll && group == kLanes) {
    const auto base = static_cast<T>(bases[0]);
    for (int i = 0; i < kLanes; ++i)
      d[i] = static_cast<T>(base + static_cast<T>(step * static_cast<T>(i)));
    return;
  }
  for (int i = 0; i < kLanes; ++i)
    if (runs(mask, i))
      d[i] = static_cast<T>(bases[static_cast<unsigned>(i) / group] +
                            step * (static_cast<unsigned>(i) % group));
}

template <class T> void line(T (&lanes)[kLanes], std::uint64_t base, std::uint64_t step) {
  using Natural = std::make_unsigned_t<T>;
  for (int i = 0; i < kLanes; ++i)
    lanes[i] =
        static_cast<T>(static_cast<Natural>(base) +
                       static_cast<Natural>(static_cast<Natural>(step) * static_cast<Natural>(i)));
}

template <class T> void splat(T* d, std::uint64_t value, Mask mask) {
  if (mask == kAll) {
    for (int i = 0; i < kLanes; ++i)
      d[i] = static_cast<T>(value);
    return;
  }
  for (int i = 0; i < kLanes; ++i)
    if (runs(mask, i))
      d[i] = static_cast<T>(value);
}

template <class T> void select(T* d, const T* a, const T* b, const Mask* choice) {
  const auto which = __builtin_bit_cast(Bools, *choice);
  store<T>(d, __builtin_convertvector(which, Vector<T>) != 0 ? load(a) : load(b));
}

// Lane after lane, element after element <-> one array of lanes for each element.
template <int Count, class T> void split(const T* from, const std::array<T*, Count>& to) {
  for (int part = 0; part < Count; ++part) {
    T lanes[kLanes];
    for (int i = 0; i < kLanes; ++i)
      lanes[i] = from[Count * i + part];
    std::memcpy(to[part], lanes, sizeof lanes);
  }
}
template <int Count, class T> void join(T* to, const std::array<const T*, Count>& from) {
  T all[Count * kLanes];
  for (int i = 0; i < kLanes; ++i)
    for (int part = 0; part < Count; ++part)
      all[Count * i + part] = from[part][i];
  std::memcpy(to, all, sizeof all);
}

// Where accesses may start: the first `room` multiples of their size from `base`; `host` is added
// to an address.
struct Range {
  std::uint64_t base;
  std::uint64_t room;
  std::uint64_t host;
};

// Are all lanes' accesses inside? Turning the distance right by the size's bits makes a misaligned
// one huge.
template <class T, class A>
bool locate(const A* addresses, std::uint64_t offset, const Range& range,
            std::uint64_t (&at)[kLanes]) {
  constexpr int shift = std::countr_zero(sizeof(T));
  bool outside = false;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t address = static_cast<A>(addresses[i] + static_cast<A>(offset));
    const std::uint64_t distance = address - range.base;
    outside |= (distance >> shift | distance << (64 - shift)) >= range.room;
    at[i] = range.host + address;
  }
  return !outside;
}

template <class T, class A>
Mask gather(T* d, const A* addresses, std::uint64_t offset, const Range& range) {
  std::uint64_t at[kLanes];
  if (!locate<T>(addresses, offset, range, at))
    return 0;
  T all[kLanes];
  for (int i = 0; i < kLanes; ++i)
    all[i] = *reinterpret_cast<const T*>(at[i]);
  std::memcpy(d, all, sizeof all);
  return 1;
}

// In the order of the lanes: of several to one place the last is what stays.
template <class T, class A>
Mask scatter(const T* a, const A* addresses, std::uint64_t offset, const Range& range) {
  std::uint64_t at[kLanes];
  if (!locate<T>(addresses, offset, range, at))
    return 0;
  T all[kLanes];
  std::memcpy(all, a, sizeof all);
  for (int i = 0; i < kLanes; ++i)
    *reinterpret_cast<T*>(at[i]) = all[i];
  return 1;
}

template <sem::Comparison C, class T> Mask compare(const T* a, const T* b) {
  const Vector<T> x = load(a);
  const Vector<T> y = load(b);
  const auto mask = [](auto lanes) { return __builtin_convertvector(lanes, Bools); };
  const Bools unordered = mask(x != x) | mask(y != y);
  Bools truth = unordered;
  switch (C) {
  case sem::Comparison::eq: truth = mask(x == y); break;
  case sem::Comparison::ne: truth = mask(x != y) & ~unordered; break;
  case sem::Comparison::lt: truth = mask(x < y); break;
  case sem::Comparison::le: truth = mask(x <= y); break;
  case sem::Comparison::gt: truth = mask(x > y); break;
  case sem::Comparison::ge: truth = mask(x >= y); break;
  case sem::Comparison::equ: truth = ~(mask(x < y) | mask(x > y)); break;
  case sem::Comparison::neu: truth = mask(x != y); break;
  case sem::Comparison::ltu: truth = ~mask(x >= y); break;
  case sem::Comparison::leu: truth = ~mask(x > y); break;
  case sem::Comparison::gtu: truth = ~mask(x <= y); break;
  case sem::Comparison::geu: truth = ~mask(x < y); break;
  case sem::Comparison::num: truth = ~unordered; break;
  case sem::Comparison::nan: break;
  }
  return __builtin_bit_cast(Mask, truth);
}

} // namespace

#define KERNEVO_FUNCTION extern "C" [[gnu::flatten]] void

#define KERNEVO_SIZE(bits)                                                                         \
  KERNEVO_FUNCTION kv_copy_##bits(u##bits* d, const u##bits* a) {                                  \
    store(d, load(a));                                                                             \
  }                                                                                                \
  KERNEVO_FUNCTION kv_expand_##bits(u##bits* d, const u64* bases, u64 stride, u32 group,           \
                                    Mask mask) {                                                   \
    expand(d, bases, stride, group, mask);                                                         \
  }                                                                                                \
  KERNEVO_FUNCTION kv_splat_##bits(u##bits* d, u64 value, Mask mask) {                             \
    splat(d, value, mask);                                                                         \
  }
KERNEVO_SIZE(8)
KERNEVO_SIZE(16)
KERNEVO_SIZE(32)
KERNEVO_SIZE(64)

#define KERNEVO_ACCESS(width, bits)                                                                \
  extern "C" [[gnu::flatten]] Mask kv_gather##width##_##bits(                                      \
      u##bits* d, const u##width* addresses, u64 offset, u64 base, u64 room, u64 host) {           \
    return gather(d, addresses, offset, {base, room, host});                                       \
  }                                                                                                \
  extern "C" [[gnu::flatten]] Mask kv_scatter##width##_##bits(                                     \
      const u##bits* a, const u##width* addresses, u64 offset, u64 base, u64 room, u64 host) {     \
    return scatter(a, addresses, offset, {base, room, host});                                      \
  }
#define KERNEVO_WORD(bits)                                                                         \
  KERNEVO_ACCESS(32, bits)                                                                         \
  KERNEVO_ACCESS(64, bits)                                                                         \
  KERNEVO_FUNCTION kv_selp_##bits(u##bits* d, const u##bits* a, const u##bits* b,                  \
                                  const Mask* choice) {                                            \
    select(d, a, b, choice);                                                                       \
  }                                                                                                \
  KERNEVO_FUNCTION kv_split2_##bits(u##bits* a, u##bits* b, const u##bits* from) {                 \
    split<2>(from, {a, b});                                                                        \
  }                                                                                                \
  KERNEVO_FUNCTION kv_split4_##bits(u##bits* a, u##bits* b, u##bits* c, u##bits* d,                \
                                    const u##bits* from) {                                         \
    split<4>(from, {a, b, c, d});                                                                  \
  }                                                                                                \
  KERNEVO_FUNCTION kv_join2_##bits(u##bits* to, const u##bits* a, const u##bits* b) {              \
    join<2>(to, {a, b});                                                                           \
  }                                                                                                \
  KERNEVO_FUNCTION kv_join4_##bits(u##bits* to, const u##bits* a, const u##bits* b,                \
                                   const u##bits* c, const u##bits* d) {                           \
    join<4>(to, {a, b, c, d});                                                                     \
  }
KERNEVO_WORD(16)
KERNEVO_WORD(32)
KERNEVO_WORD(64)

KERNEVO_FUNCTION kv_shuffle_32(u32* d, const u32* a, const u32* lanes) {
  u32 from[kLanes];
  std::memcpy(from, a, sizeof from);
  for (int i = 0; i < kLanes; ++i)
    d[i] = from[lanes[i]];
}

#define KERNEVO_PACK(whole, part)                                                                  \
  KERNEVO_FUNCTION kv_pack_##whole(u##whole* d, const u##part* a, const u##part* b) {              \
    store(d, __builtin_convertvector(load(a), Vector<u##whole>) |                                  \
                 __builtin_convertvector(load(b), Vector<u##whole>) << part);                      \
  }                                                                                                \
  KERNEVO_FUNCTION kv_unpack_low_##whole(u##part* d, const u##whole* a) {                          \
    store(d, __builtin_convertvector(load(a), Vector<u##part>));                                   \
  }                                                                                                \
  KERNEVO_FUNCTION kv_unpack_high_##whole(u##part* d, const u##whole* a) {                         \
    store(d, __builtin_convertvector(load(a) >> part, Vector<u##part>));                           \
  }
KERNEVO_PACK(16, 8)
KERNEVO_PACK(32, 16)
KERNEVO_PACK(64, 32)

#define KERNEVO_LANES(name)
#define KERNEVO_SETP(name, type)                                                                   \
  KERNEVO_FUNCTION kv_setp_##name##_##type(Mask* d, const type* a, const type* b) {                \
    *d = compare<sem::Comparison::name>(a, b);                                                     \
  }
#define KERNEVO_SETP_WORD(name, type)                                                              \
  KERNEVO_SETP(name, type)                                                                         \
  KERNEVO_FUNCTION kv_setp_lines_##name##_##type(Mask* d, u64 a, u64 a_step, u64 b, u64 b_step) {  \
    type x[kLanes];                                                                                \
    type y[kLanes];                                                                                \
    line(x, a, a_step);                                                                            \
    line(y, b, b_step);                                                                            \
    *d = compare<sem::Comparison::name>(x, y);                                                     \
  }
#include "kernevo/jit/runtime/lanes.def"

} // namespace kernevo::jit::runtime
