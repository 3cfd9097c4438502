// suld, sust and sured: an image read and written without a filter.
#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/image.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

enum class Outside : std::uint8_t { trap, clamp, zero };
enum class Reduction : std::uint8_t { none, add, minimum, maximum, conjunction, disjunction };

constexpr std::size_t kMostBytes = 16;

struct SurfaceDetail : Detail {
  HandleOperand surface;
  Geometry geometry;
  CoordinateSlots coordinates;
  Outside outside = Outside::trap;
  bool formatted = false;           // .p: x counts texels, and values are converted to the format
  std::uint32_t element = 4;        // bytes of one value
  std::uint32_t register_bytes = 4; // at least as wide
  std::uint32_t count = 1;
  std::array<std::uint32_t, 4> values = {kNone, kNone, kNone, kNone};
  AccessKind kind = AccessKind::load;
  Reduction reduction = Reduction::none;
  bool is_signed = false;
};

// The device address of the element, 0 when it is outside and does not matter. Nothing after a
// fault.
std::optional<std::uint64_t> locate(const SurfaceDetail& detail, WarpState& warp, const Op& op,
                                    int lane, const ImageDescription& image, std::uint32_t size) {
  auto coordinate = [&](std::uint32_t slot) {
    return slot == kNone ? std::int64_t{0} : std::int64_t{warp.lanes<std::int32_t>(slot)[lane]};
  };
  const std::int64_t texel = image.format.bytes();
  std::array<std::int64_t, 4> at = {
      coordinate(detail.coordinates.at[0]) * (detail.formatted ? texel : 1),
      coordinate(detail.coordinates.at[1]), coordinate(detail.coordinates.at[2]),
      coordinate(detail.coordinates.layer)};
  const std::array<std::int64_t, 4> ends = {
      std::int64_t{image.width} * texel, std::max<std::int64_t>(image.height, 1),
      std::max<std::int64_t>(image.depth, 1), std::max<std::int64_t>(image.layers, 1)};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::int64_t last = ends[i] - (i == 0 ? size : 1);
    if (at[i] >= 0 && at[i] <= last)
      continue;
    if (detail.outside == Outside::zero || last < 0)
      return 0;
    if (detail.outside == Outside::trap) {
      constexpr std::array<std::string_view, 4> names = {"x (in bytes)", "y", "z", "layer"};
      warp.raise(FindingKind::out_of_bounds, op, lane,
                 fmt::format("surface access of {} bytes at {} = {}, the surface ends at {}", size,
                             names[i], at[i], ends[i]));
      return std::nullopt;
    }
    at[i] = std::clamp<std::int64_t>(at[i], 0, last);
    if (i == 0)
      at[i] -= at[i] % size;
  }
  const std::int64_t row = (at[3] * ends[2] + at[2]) * ends[1] + at[1];
  return image.memory + static_cast<std::uint64_t>(row) * row_pitch(image, 0) +
         static_cast<std::uint64_t>(at[0]);
}

std::uint64_t value_of(const SurfaceDetail& detail, Warp& warp, std::uint32_t index, int lane) {
  std::uint64_t value = 0;
  const std::byte* slot = warp.lanes<std::byte>(detail.values[index]);
  std::memcpy(&value, slot + detail.register_bytes * static_cast<std::size_t>(lane),
              detail.register_bytes);
  return value;
}

void set_value(const SurfaceDetail& detail, Warp& warp, std::uint32_t index, int lane,
               std::uint64_t value) {
  std::byte* slot = warp.lanes<std::byte>(detail.values[index]);
  std::memcpy(slot + detail.register_bytes * static_cast<std::size_t>(lane), &value,
              detail.register_bytes);
}

void run_load(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const SurfaceDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  Access access;
  access.space = ptx::Space::global;
  access.size = detail.element * detail.count;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const ImageObject* surface =
        find_image(warp, op, lane, detail.surface, ImageObject::Kind::surface);
    if (surface == nullptr)
      return;
    const auto address = locate(detail, warp, op, lane, surface->image, access.size);
    if (!address)
      return;
    const std::byte* from = *address == 0 ? nullptr : resolve(warp, op, lane, *address, access);
    if (warp.faulted)
      return;
    for (std::uint32_t i = 0; i < detail.count; ++i) {
      std::uint64_t value = 0;
      if (from != nullptr)
        std::memcpy(&value, from + i * detail.element, detail.element);
      set_value(detail, warp, i, lane, value);
    }
  }
}

// One 32-bit register in the format of a channel.
std::uint32_t encode(const ChannelFormat& format, std::uint32_t value) {
  if (format.bits == 32)
    return value;
  if (format.kind == ChannelKind::floating)
    return double_to_half(std::bit_cast<float>(value));
  if (format.kind == ChannelKind::unsigned_integer)
    return std::min(value, (1U << format.bits) - 1);
  const std::int32_t most = (1 << (format.bits - 1)) - 1;
  return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(value), -most - 1, most));
}

// What a lane stores; its size.
std::uint32_t stored_bytes(const SurfaceDetail& detail, Warp& warp, int lane,
                           const ChannelFormat& format, std::array<std::byte, kMostBytes>& bytes) {
  if (!detail.formatted) {
    for (std::uint32_t i = 0; i < detail.count; ++i) {
      const std::uint64_t value = value_of(detail, warp, i, lane);
      std::memcpy(bytes.data() + i * detail.element, &value, detail.element);
    }
    return detail.element * detail.count;
  }
  for (std::uint32_t i = 0; i < format.channels; ++i) {
    const std::uint32_t value =
        i < detail.count
            ? encode(format, static_cast<std::uint32_t>(value_of(detail, warp, i, lane)))
            : 0;
    std::memcpy(bytes.data() + i * (format.bits / 8), &value, format.bits / 8);
  }
  return format.bytes();
}

void run_store(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const SurfaceDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const ImageObject* surface =
        find_image(warp, op, lane, detail.surface, ImageObject::Kind::surface);
    if (surface == nullptr)
      return;
    alignas(16) std::array<std::byte, kMostBytes> bytes{};
    Access access;
    access.space = ptx::Space::global;
    access.kind = AccessKind::store;
    access.size = stored_bytes(detail, warp, lane, surface->image.format, bytes);
    const auto address = locate(detail, warp, op, lane, surface->image, access.size);
    if (!address)
      return;
    if (*address == 0)
      continue;
    std::byte* to = resolve(warp, op, lane, *address, access, bytes.data());
    if (to == nullptr)
      return;
    std::memcpy(to, bytes.data(), access.size);
  }
}

template <class T> T combined(Reduction reduction, T old, T value) {
  switch (reduction) {
  case Reduction::add: return static_cast<T>(old + value);
  case Reduction::minimum: return std::min(old, value);
  case Reduction::maximum: return std::max(old, value);
  case Reduction::conjunction: return static_cast<T>(old & value);
  case Reduction::disjunction: return static_cast<T>(old | value);
  case Reduction::none: break;
  }
  return value;
}

// Unsigned addition wraps; only the order of minimum and maximum knows signs.
template <class Unsigned, class Signed>
void reduce(std::byte* cell, Reduction reduction, bool is_signed, std::uint64_t value) {
  std::atomic_ref<Unsigned> target(*reinterpret_cast<Unsigned*>(cell)); // NOLINT
  Unsigned old = target.load();
  Unsigned next = 0;
  const bool orders = reduction == Reduction::minimum || reduction == Reduction::maximum;
  do {
    next = is_signed && orders ? static_cast<Unsigned>(combined(reduction, static_cast<Signed>(old),
                                                                static_cast<Signed>(value)))
                               : combined(reduction, old, static_cast<Unsigned>(value));
  } while (!target.compare_exchange_weak(old, next));
}

void run_reduction(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const SurfaceDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  Access access;
  access.space = ptx::Space::global;
  access.kind = AccessKind::atomic;
  access.strong = true;
  access.polls = false;
  access.size = detail.element;
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const ImageObject* surface =
        find_image(warp, op, lane, detail.surface, ImageObject::Kind::surface);
    if (surface == nullptr)
      return;
    const auto address = locate(detail, warp, op, lane, surface->image, access.size);
    if (!address)
      return;
    if (*address == 0)
      continue;
    std::byte* cell = resolve(warp, op, lane, *address, access);
    if (cell == nullptr)
      return;
    const std::uint64_t value = value_of(detail, warp, 0, lane);
    const bool is_signed = detail.formatted
                               ? surface->image.format.kind == ChannelKind::signed_integer
                               : detail.is_signed;
    if (detail.element == 8)
      reduce<std::uint64_t, std::int64_t>(cell, detail.reduction, is_signed, value);
    else
      reduce<std::uint32_t, std::int32_t>(cell, detail.reduction, is_signed, value);
  }
}

Reduction reduction_of(const Instruction& instruction) {
  return instruction.has(Mod::add)    ? Reduction::add
         : instruction.has(Mod::min_) ? Reduction::minimum
         : instruction.has(Mod::max_) ? Reduction::maximum
         : instruction.has(Mod::and_) ? Reduction::conjunction
                                      : Reduction::disjunction;
}

Type wide_type(std::uint32_t bytes) {
  return bytes == 8 ? Type::b64 : bytes == 4 ? Type::b32 : bytes == 2 ? Type::b16 : Type::b8;
}

Result<void> lower_surface(Lowering& lowering, const Instruction& instruction) {
  auto detail = std::make_unique<SurfaceDetail>();
  const Opcode opcode = instruction.opcode;
  const bool loads = opcode == Opcode::suld_b;
  const bool reduces = opcode == Opcode::sured_b || opcode == Opcode::sured_p;
  const Operand& place = instruction.operands.at(loads ? 1 : 0);
  const Operand& data = instruction.operands.at(loads ? 0 : 1);
  detail->formatted = opcode == Opcode::sust_p || opcode == Opcode::sured_p;
  detail->geometry = geometry_of(instruction);
  detail->outside = instruction.has(Mod::trap)    ? Outside::trap
                    : instruction.has(Mod::clamp) ? Outside::clamp
                                                  : Outside::zero;
  detail->element = static_cast<std::uint32_t>(ptx::bytes_of(instruction.type()));
  detail->is_signed = ptx::is_signed(instruction.type());
  if (reduces)
    detail->reduction = reduction_of(instruction);

  KERNEVO_TRY(surface, lower_handle(lowering, instruction, place.elements.front()));
  detail->surface = surface;
  KERNEVO_TRY(coordinates, lower_coordinates(lowering, instruction, place.elements.back(),
                                             detail->geometry, Type::s32));
  detail->coordinates = coordinates;

  const bool is_vector = data.kind == Operand::Kind::vector;
  detail->count = is_vector ? static_cast<std::uint32_t>(data.elements.size()) : 1;
  if (detail->count > detail->values.size())
    return unknown_form(lowering, instruction);
  auto element = [&](std::uint32_t i) -> const Operand& {
    return is_vector ? data.elements[i] : data;
  };
  detail->register_bytes = detail->element;
  for (std::uint32_t i = 0; i < detail->count; ++i)
    if (const Type declared = lowering.register_type(element(i)); declared != Type::none)
      detail->register_bytes =
          std::max(detail->register_bytes, static_cast<std::uint32_t>(ptx::bytes_of(declared)));
  if (detail->register_bytes > 8)
    return unknown_form(lowering, instruction);
  const Type type = wide_type(detail->register_bytes);
  for (std::uint32_t i = 0; i < detail->count; ++i) {
    KERNEVO_TRY(slot, loads ? lowering.destination(instruction, element(i), type)
                            : lowering.source(instruction, element(i), type));
    detail->values[i] = slot;
  }
  Op& op = lowering.emit(loads ? run_load : reduces ? run_reduction : run_store, OpKind::memory);
  op.detail = lowering.keep(std::move(detail));
  return {};
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::suld_b, lower_surface},  FamilyEntry{Opcode::sust_b, lower_surface},
    FamilyEntry{Opcode::sust_p, lower_surface},  FamilyEntry{Opcode::sured_b, lower_surface},
    FamilyEntry{Opcode::sured_p, lower_surface},
};

} // namespace

std::span<const FamilyEntry> surface_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
