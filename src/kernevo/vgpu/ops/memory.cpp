// ld, st and their relatives. Checks are always on; without the sanitizer a warp's 32 addresses are
// checked together against one allocation, which is what coalesced code hits.
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/address.h"
#include "kernevo/vgpu/ops/async_families.h"
#include "kernevo/vgpu/ops/fence.h"
#include "kernevo/vgpu/program/lowering.h"
#include "kernevo/vgpu/tier/compiled_run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <type_traits>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr std::size_t kMostElements = 8;
constexpr std::int64_t kWidestStep = std::int64_t{1} << 40;
constexpr std::size_t kMostBytes = 64; // of one access: .v8 of 64 bits

struct Bits128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

struct MemoryDetail : Detail {
  AddressOperand address;
  Access access;
  bool acquire = false;
  std::uint32_t elements = 1;
  std::array<std::uint32_t, kMostElements> slots{};
};

using Addresses = std::array<std::uint64_t, kWarpSize>;

std::byte* host(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address); // NOLINT
}

void read_addresses(const MemoryDetail& detail, Warp& warp, Addresses& at) {
  const auto offset = static_cast<std::uint64_t>(detail.address.offset);
  if (detail.address.wide) {
    const auto* base = warp.lanes<std::uint64_t>(detail.address.slot);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane)
      at[lane] = base[lane] + offset;
  } else {
    const auto* base = warp.lanes<std::uint32_t>(detail.address.slot);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane)
      at[lane] = base[lane] + static_cast<std::uint32_t>(offset);
  }
}

// Where the active lanes' data is: lane i at base + i * step, base + at[i] or base + narrow[i].
enum class Shape : std::uint8_t { straight, scattered, narrow };
struct Located {
  std::uint64_t base = 0; // a host address
  std::int64_t step = 0;
  Shape shape = Shape::scattered;
  const Allocation* allocation = nullptr; // null for shared memory
  Addresses at;
  std::array<std::uint32_t, kWarpSize> narrow;
};

// The active lanes' addresses as one interval.
struct Reach {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t bits = 0; // all set bits, for alignment
};

template <class T> Reach reach_of_all(const std::array<T, kWarpSize>& at) {
  // Signed 64-bit comparisons are what the host has; no valid address has the top bit set.
  using Compared = std::conditional_t<sizeof(T) == 8, std::int64_t, T>;
  auto low = static_cast<Compared>(at[0]);
  Compared high = low;
  Compared bits = low;
  for (const T address : at) {
    const auto value = static_cast<Compared>(address);
    low = std::min(low, value);
    high = std::max(high, value);
    bits |= value;
  }
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high),
          static_cast<std::uint64_t>(bits)};
}

Reach reach_of(const Addresses& at, LaneMask active) {
  const std::uint64_t first = at[static_cast<std::size_t>(__builtin_ctz(active))];
  Reach reach{first, first, first};
  for_each_lane(active, [&](int lane) {
    const std::uint64_t value = at[static_cast<std::size_t>(lane)];
    reach.low = std::min(reach.low, value);
    reach.high = std::max(reach.high, value);
    reach.bits |= value;
  });
  return reach;
}

// Do all lanes follow each other at one distance? Then the ends say it all.
template <class T> bool is_straight(const T* lanes) {
  const T step = lanes[1] - lanes[0];
  T difference = 0;
  for (std::size_t lane = 1; lane < kWarpSize; ++lane)
    difference |= (lanes[lane] - lanes[lane - 1]) ^ step;
  return difference == 0;
}

// Sets what the addresses are relative to when the whole interval lies in one allocation or in
// shared memory and is aligned; false when each lane must be looked at by itself.
bool find_base(const MemoryDetail& detail, WarpState& warp, const Op& op, const Reach& reach,
               Located& located) {
  const std::uint32_t size = detail.access.size;
  if ((reach.bits & (size - 1)) != 0)
    return false;
  Space space = detail.access.space;
  std::uint64_t window = 0;
  if (space == Space::generic) {
    space = Space::global;
    if (in_window(reach.low, kSharedWindow)) {
      space = Space::shared;
      window = kSharedWindow;
    }
  }
  if (space == Space::shared) {
    const BlockState& block = *warp.block;
    if (reach.low - window >= block.shared_base)
      window += block.shared_base;
    else if (block.cluster != nullptr)
      return false;
    if (reach.low < window || reach.high - window >= block.shared_bytes ||
        size > block.shared_bytes - (reach.high - window))
      return false;
    located.base = reinterpret_cast<std::uint64_t>(block.shared) - window; // NOLINT
    located.allocation = nullptr;
    return true;
  }
  if (space != Space::global && space != Space::constant)
    return false;
  const Allocation*& hit = warp.hits[op.instruction % warp.hits.size()];
  if (hit == nullptr || !hit->covers(reach.low, reach.high + size)) {
    const Allocation* found = warp.launch->memory->find(reach.low);
    if (found == nullptr || !found->covers(reach.low, reach.high + size))
      return false;
    hit = found;
  }
  const bool stores = detail.access.kind == AccessKind::store;
  if (stores ? hit->read_only : hit->strict)
    return false;
  // Lanes far apart say one by one which pages they need.
  if (const std::uint64_t span = reach.high + size - reach.low;
      hit->pages != nullptr &&
      (span > LazyPages::kPage || !hit->pages->need(reach.low - hit->base, span)))
    return false;
  located.base = 0;
  located.allocation = hit;
  return true;
}

void mark_written(const MemoryDetail& detail, LaneMask active, const Located& to) {
  if (to.allocation == nullptr || to.allocation->written == nullptr)
    return;
  std::uint8_t* const flags = to.allocation->written;
  const std::uint64_t start = to.allocation->base;
  const std::uint32_t size = detail.access.size;
  if (to.shape == Shape::straight && to.step == size) {
    std::memset(flags + (to.base - start), 1, std::size_t{size} * kWarpSize);
    return;
  }
  for_each_lane(active, [&](int lane) {
    const std::uint64_t place =
        to.base + (to.shape == Shape::straight ? static_cast<std::uint64_t>(to.step * lane)
                   : to.shape == Shape::narrow ? to.narrow[static_cast<std::size_t>(lane)]
                                               : to.at[static_cast<std::size_t>(lane)]);
    std::memset(flags + (place - start), 1, size);
  });
}

// All lanes at once; false when each must be resolved by itself.
bool locate_together(const MemoryDetail& detail, WarpState& warp, const Op& op, LaneMask active,
                     Located& located) {
  if (detail.access.strong && detail.access.kind == AccessKind::load)
    warp.note_strong_access();
  if (active != kAllLanes) {
    located.shape = Shape::scattered;
    read_addresses(detail, warp, located.at);
    return find_base(detail, warp, op, reach_of(located.at, active), located);
  }
  std::uint64_t first = 0;
  std::int64_t step = 0;
  bool straight = false;
  if (detail.address.wide) {
    const auto* lanes = warp.lanes<std::uint64_t>(detail.address.slot);
    straight = is_straight(lanes);
    first = lanes[0] + static_cast<std::uint64_t>(detail.address.offset);
    step = static_cast<std::int64_t>(lanes[1] - lanes[0]);
  } else {
    const auto* lanes = warp.lanes<std::uint32_t>(detail.address.slot);
    straight = is_straight(lanes);
    first = lanes[0] + static_cast<std::uint32_t>(detail.address.offset);
    step = static_cast<std::int32_t>(lanes[1] - lanes[0]);
  }
  // A wild step could wrap around and end inside the allocation with the lanes between outside.
  if (straight && step > -kWidestStep && step < kWidestStep) {
    located.shape = Shape::straight;
    located.step = step;
    const std::uint64_t last = first + static_cast<std::uint64_t>(step) * (kWarpSize - 1);
    const Reach reach{std::min(first, last), std::max(first, last),
                      first | static_cast<std::uint64_t>(step)};
    const bool found = find_base(detail, warp, op, reach, located);
    located.base += first;
    return found;
  }
  if (detail.address.wide) {
    located.shape = Shape::scattered;
    read_addresses(detail, warp, located.at);
    return find_base(detail, warp, op, reach_of_all(located.at), located);
  }
  located.shape = Shape::narrow;
  const auto* lanes = warp.lanes<std::uint32_t>(detail.address.slot);
  for (std::size_t lane = 0; lane < kWarpSize; ++lane)
    located.narrow[lane] = lanes[lane] + static_cast<std::uint32_t>(detail.address.offset);
  return find_base(detail, warp, op, reach_of_all(located.narrow), located);
}

template <class F> void each_lane(LaneMask active, F&& f) {
  if (active == kAllLanes) {
    for (std::size_t lane = 0; lane < kWarpSize; ++lane)
      f(lane);
    return;
  }
  for_each_lane(active, [&](int lane) { f(static_cast<std::size_t>(lane)); });
}

template <class To, class From> To converted(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else
    return static_cast<To>(value);
}

// The sanitizer looks at every lane; so does the profiler where each may be in a space of its own.
bool one_by_one(const MemoryDetail& detail, const WarpState& warp) {
  return warp.launch->sanitize ||
         (warp.block->recorder != nullptr && detail.access.space == Space::generic);
}

// For the profiler, what resolve() would have told it of each lane.
void record_together(const MemoryDetail& detail, WarpState& warp, LaneMask active) {
  if (warp.block->recorder == nullptr)
    return;
  Addresses at;
  read_addresses(detail, warp, at);
  for_each_lane(active, [&](int lane) {
    warp.block->recorder->touch(lane, detail.access.space, detail.access,
                                at[static_cast<std::size_t>(lane)]);
  });
}

// Lane by lane through the one door, which checks everything and says what is wrong.
bool resolve_each(const MemoryDetail& detail, WarpState& warp, const Op& op, LaneMask active,
                  Located& located) {
  located.shape = Shape::scattered;
  located.base = 0;
  read_addresses(detail, warp, located.at);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::uint64_t& at = located.at[static_cast<std::size_t>(lane)];
    const std::byte* pointer = resolve(warp, op, lane, at, detail.access);
    if (pointer == nullptr)
      return false;
    at = reinterpret_cast<std::uint64_t>(pointer); // NOLINT
  }
  return true;
}

// Global memory only: an address of another space is not the profiler's business here.
void count_global(const MemoryDetail& detail, WarpState& warp, LaneMask active) {
  const Space space = detail.access.space;
  if (!warp.launch->counts_memory ||
      (space != Space::global && space != Space::constant && space != Space::generic))
    return;
  Addresses at;
  read_addresses(detail, warp, at);
  LaneMask global = active;
  if (space == Space::generic)
    for_each_lane(active, [&](int lane) {
      if (!in_space(at[static_cast<std::size_t>(lane)], Space::global))
        global &= ~(LaneMask{1} << static_cast<unsigned>(lane));
    });
  count_request(warp.block->memory, at.data(), global, detail.access.size,
                detail.access.kind == AccessKind::store);
}

template <class Memory, class Register> void load(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const MemoryDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  count_global(detail, warp, active);
  Located from;
  if (!one_by_one(detail, warp) && locate_together(detail, warp, op, active, from))
    record_together(detail, warp, active);
  else if (!resolve_each(detail, warp, op, active, from))
    return;
  for (std::uint32_t element = 0; element < detail.elements; ++element) {
    auto* result = warp.lanes<Register>(detail.slots[element]);
    auto copy = [&](std::size_t lane, const std::byte* place) {
      Memory value;
      std::memcpy(&value, place, sizeof value);
      result[lane] = converted<Register>(value);
    };
    const std::uint64_t start = from.base + element * sizeof(Memory);
    if (from.shape == Shape::straight && from.step == sizeof(Memory)) {
      const std::byte* contiguous = host(start);
      for (std::size_t lane = 0; lane < kWarpSize; ++lane)
        copy(lane, contiguous + lane * sizeof(Memory));
    } else if (from.shape == Shape::straight && from.step == 0) {
      Memory value;
      std::memcpy(&value, host(start), sizeof value);
      std::fill_n(result, kWarpSize, converted<Register>(value));
    } else if (from.shape == Shape::straight) {
      for (std::size_t lane = 0; lane < kWarpSize; ++lane)
        copy(lane, host(start + static_cast<std::uint64_t>(from.step) * lane));
    } else if (from.shape == Shape::narrow) {
      for (std::size_t lane = 0; lane < kWarpSize; ++lane)
        copy(lane, host(start + from.narrow[lane]));
    } else {
      each_lane(active, [&](std::size_t lane) { copy(lane, host(start + from.at[lane])); });
    }
  }
  if (detail.acquire)
    std::atomic_thread_fence(std::memory_order_acquire);
}

// A kernel's own parameter: the same for every lane, checked when lowering.
template <class Memory, class Register>
void load_parameter(const Op& op, Warp& warp, LaneMask active) {
  const auto& detail = static_cast<const MemoryDetail&>(*op.detail);
  const std::byte* from = state_of(warp).launch->parameters.data() + op.immediate;
  for (std::uint32_t element = 0; element < detail.elements; ++element) {
    Memory value;
    std::memcpy(&value, from + element * sizeof(Memory), sizeof value);
    auto* result = warp.lanes<Register>(detail.slots[element]);
    each_lane(active, [&](std::size_t lane) {
      if constexpr (std::is_same_v<Memory, Register>)
        result[lane] = value;
      else
        result[lane] = static_cast<Register>(value);
    });
  }
}

template <class Memory, class Register> void store(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const MemoryDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  count_global(detail, warp, active);
  Located to;
  if (!one_by_one(detail, warp) && locate_together(detail, warp, op, active, to)) {
    record_together(detail, warp, active);
    mark_written(detail, active, to);
    for (std::uint32_t element = 0; element < detail.elements; ++element) {
      const auto* values = warp.lanes<Register>(detail.slots[element]);
      auto copy = [&](std::size_t lane, std::byte* place) {
        const auto value = converted<Memory>(values[lane]);
        std::memcpy(place, &value, sizeof value);
      };
      const std::uint64_t start = to.base + element * sizeof(Memory);
      if (to.shape == Shape::straight && to.step == sizeof(Memory)) {
        std::byte* contiguous = host(start);
        for (std::size_t lane = 0; lane < kWarpSize; ++lane)
          copy(lane, contiguous + lane * sizeof(Memory));
      } else if (to.shape == Shape::straight) {
        for (std::size_t lane = 0; lane < kWarpSize; ++lane)
          copy(lane, host(start + static_cast<std::uint64_t>(to.step) * lane));
      } else if (to.shape == Shape::narrow) {
        for (std::size_t lane = 0; lane < kWarpSize; ++lane)
          copy(lane, host(start + to.narrow[lane]));
      } else {
        each_lane(active, [&](std::size_t lane) { copy(lane, host(start + to.at[lane])); });
      }
    }
    return;
  }
  read_addresses(detail, warp, to.at);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const auto index = static_cast<std::size_t>(lane);
    alignas(16) std::array<std::byte, kMostBytes> bytes;
    // The second bound holds anyway; without it g++ 14 sees a write past the end.
    constexpr std::size_t kRoom = std::min(kMostElements, kMostBytes / sizeof(Memory));
    for (std::size_t element = 0; element < detail.elements && element < kRoom; ++element) {
      const auto value = converted<Memory>(warp.lanes<Register>(detail.slots[element])[index]);
      std::memcpy(bytes.data() + element * sizeof(Memory), &value, sizeof value);
    }
    std::byte* place = resolve(warp, op, lane, to.at[index], detail.access, bytes.data());
    if (place == nullptr)
      return;
    std::memcpy(place, bytes.data(), detail.access.size);
  }
}

enum class Family : std::uint8_t { load, load_parameter, store };

template <class Memory, class Register> Handler handler_for(Family family) {
  switch (family) {
  case Family::load: return load<Memory, Register>;
  case Family::load_parameter: return load_parameter<Memory, Register>;
  case Family::store: return store<Memory, Register>;
  }
  return nullptr;
}

template <class Memory> Handler widened(Family family, int register_bytes) {
  if constexpr (sizeof(Memory) <= 1)
    if (register_bytes == 1)
      return handler_for<Memory, std::uint8_t>(family);
  if constexpr (sizeof(Memory) <= 2)
    if (register_bytes == 2)
      return handler_for<Memory, std::uint16_t>(family);
  if constexpr (sizeof(Memory) <= 4)
    if (register_bytes == 4)
      return handler_for<Memory, std::uint32_t>(family);
  if (register_bytes == 8)
    return handler_for<Memory, std::uint64_t>(family);
  return nullptr;
}

Handler choose(Family family, Type type, int register_bytes) {
  const bool is_signed = ptx::is_signed(type);
  switch (ptx::bytes_of(type)) {
  case 1:
    return is_signed ? widened<std::int8_t>(family, register_bytes)
                     : widened<std::uint8_t>(family, register_bytes);
  case 2:
    return is_signed ? widened<std::int16_t>(family, register_bytes)
                     : widened<std::uint16_t>(family, register_bytes);
  case 4:
    return is_signed ? widened<std::int32_t>(family, register_bytes)
                     : widened<std::uint32_t>(family, register_bytes);
  case 8: return widened<std::uint64_t>(family, register_bytes);
  case 16: return register_bytes == 16 ? handler_for<Bits128, Bits128>(family) : nullptr;
  default: return nullptr;
  }
}

Type wide_type(int bytes) {
  switch (bytes) {
  case 1: return Type::b8;
  case 2: return Type::b16;
  case 4: return Type::b32;
  case 8: return Type::b64;
  default: return Type::b128;
  }
}

bool is_strong(const Instruction& instruction) {
  for (const Mod mod : {Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::release, Mod::mmio})
    if (instruction.has(mod))
      return true;
  return false;
}

// ld type: d, [a]; st type: [a], b. The register may be wider than the type.
Result<void> transfer(Lowering& lowering, const Instruction& instruction) {
  const bool loads = instruction.opcode != Opcode::st && instruction.opcode != Opcode::st_async;
  const Operand& address = instruction.operands.at(loads ? 1 : 0);
  const Operand& data = instruction.operands.at(loads ? 0 : 1);
  const Type type = instruction.type();
  auto detail = std::make_unique<MemoryDetail>();
  const bool is_vector = data.kind == Operand::Kind::vector;
  detail->elements = is_vector ? static_cast<std::uint32_t>(data.elements.size()) : 1;
  if (detail->elements > kMostElements)
    return tl::unexpected(lowering.unsupported(instruction, "a vector has at most 8 elements"));
  detail->access.space = instruction.space;
  detail->access.kind = loads ? AccessKind::load : AccessKind::store;
  detail->access.strong = is_strong(instruction);
  detail->access.block_scope = instruction.has(Mod::cta);
  detail->access.cluster = instruction.has(Mod::shared_cluster);
  if (instruction.has(Mod::nc) || instruction.opcode == Opcode::ldu)
    detail->access.as = Touch::read_only_load;
  detail->access.size = static_cast<std::uint32_t>(ptx::bytes_of(type)) * detail->elements;
  if (instruction.has(Mod::release))
    lowering.emit(fence);
  detail->acquire = instruction.has(Mod::acquire);

  int register_bytes = ptx::bytes_of(type);
  for (std::uint32_t i = 0; i < detail->elements; ++i) {
    const Operand& element = is_vector ? data.elements[i] : data;
    const Type declared = lowering.register_type(element);
    if (declared == Type::pred)
      return tl::unexpected(
          lowering.unsupported(instruction, "a predicate cannot be loaded or stored"));
    if (declared != Type::none)
      register_bytes = std::max(register_bytes, ptx::bytes_of(declared));
  }
  const Type slot_type = register_bytes == ptx::bytes_of(type) ? type : wide_type(register_bytes);
  for (std::uint32_t i = 0; i < detail->elements; ++i) {
    const Operand& element = is_vector ? data.elements[i] : data;
    KERNEVO_TRY(slot, loads ? lowering.destination(instruction, element, slot_type)
                            : lowering.source(instruction, element, slot_type));
    detail->slots[i] = slot;
  }

  Family family = loads ? Family::load : Family::store;
  std::int64_t parameter_offset = 0;
  const Operand* base = address.elements.empty() ? nullptr : &address.elements.front();
  if (base != nullptr && base->kind == Operand::Kind::symbol && instruction.space == Space::param) {
    const auto variable = lowering.frame_variable(base->name);
    if (variable && variable->kernel_parameter) {
      const std::int64_t inside = base->offset + address.offset;
      if (!loads || inside < 0 || inside + detail->access.size > variable->bytes)
        return tl::unexpected(
            lowering.unsupported(instruction, fmt::format("outside parameter '{}' of {} bytes",
                                                          base->name, variable->bytes)));
      family = Family::load_parameter;
      parameter_offset = inside + variable->offset;
    }
  }
  if (family != Family::load_parameter) {
    KERNEVO_TRY(place, lower_address(lowering, instruction, address));
    detail->address = place;
  }
  const Handler handler = choose(family, type, register_bytes);
  if (handler == nullptr)
    return tl::unexpected(
        lowering.unsupported(instruction, fmt::format("cannot move .{} and a register of {} bytes",
                                                      ptx::name_of(type), register_bytes)));
  const std::uint32_t bytes = detail->access.size;
  Op& op = lowering.emit(handler, OpKind::memory);
  op.immediate = parameter_offset;
  op.detail = lowering.keep(std::move(detail));
  if (instruction.has(Mod::complete_tx_bytes))
    return lower_completion(lowering, instruction, 2, bytes);
  return {};
}

void nothing(const Op& /*op*/, Warp& /*warp*/, LaneMask /*active*/) {}

Result<void> fences(Lowering& lowering, const Instruction& instruction) {
  lowering.emit(instruction.has(Mod::cta) ? block_fence : fence);
  return {};
}

// Hints: no effect on what a program computes.
Result<void> hint(Lowering& lowering, const Instruction& /*instruction*/) {
  lowering.emit(nothing);
  return {};
}

void zero64(const Op& op, Warp& warp, LaneMask active) {
  for_each_lane(active, [&](int lane) { warp.lanes<std::uint64_t>(op.d)[lane] = 0; });
}

Result<void> policy(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_TRY(result, lowering.destination(instruction, instruction.operands.at(0), Type::b64));
  lowering.emit(zero64).d = result;
  return {};
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::ld, transfer},         FamilyEntry{Opcode::ldu, transfer},
    FamilyEntry{Opcode::st, transfer},         FamilyEntry{Opcode::fence, fences},
    FamilyEntry{Opcode::membar, fences},       FamilyEntry{Opcode::prefetch, hint},
    FamilyEntry{Opcode::prefetchu, hint},      FamilyEntry{Opcode::discard, hint},
    FamilyEntry{Opcode::applypriority, hint},  FamilyEntry{Opcode::st_async, transfer},
    FamilyEntry{Opcode::createpolicy, policy}, FamilyEntry{Opcode::applypriority, hint},
};

} // namespace

std::span<const FamilyEntry> memory_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
