// tex, tld4, txq, suq and istypep.
#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/memory/texture_sample.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/image.h"
#include "kernevo/vgpu/ops/lanes.h"

#include <array>
#include <bit>
#include <utility>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

using Slots = std::array<std::uint32_t, 3>;
constexpr Slots kNoSlots = {kNone, kNone, kNone};

struct TextureDetail : Detail {
  HandleOperand texture;
  HandleOperand sampler; // of its own in independent mode
  bool has_sampler = false;
  SampleRequest shape; // what is the same for every lane
  CoordinateSlots coordinates;
  std::uint32_t level = kNone;
  Slots dx = kNoSlots;
  Slots dy = kNoSlots;
  Slots offset = kNoSlots;
  bool gathers = false;
  std::uint32_t channel = 0;
  enum class Registers : std::uint8_t { words, halves, pairs };
  Registers registers = Registers::words;
  std::array<std::uint32_t, 4> results = {kNone, kNone, kNone, kNone};
  std::uint32_t predicate = kNone;
};

// Through the one door, as every access.
class CheckedReader final : public TexelReader {
public:
  CheckedReader(WarpState& warp, const Op& op) : warp_(warp), op_(op) {}
  int lane = 0;

  const std::byte* read(std::uint64_t address, std::uint32_t size) override {
    if (warp_.faulted)
      return nullptr;
    Access access;
    access.space = ptx::Space::global;
    access.size = size;
    access.as = Touch::texture_load;
    return resolve(warp_, op_, lane, address, access);
  }

private:
  WarpState& warp_;
  const Op& op_;
};

SampleRequest request_of(const TextureDetail& detail, WarpState& warp, int lane) {
  SampleRequest request = detail.shape;
  auto real = [&](std::uint32_t slot) { return warp.lanes<float>(slot)[lane]; };
  auto whole = [&](std::uint32_t slot) { return warp.lanes<std::int32_t>(slot)[lane]; };
  for (std::size_t d = 0; d < static_cast<std::size_t>(request.dimensions); ++d) {
    if (request.by_index)
      request.index[d] = whole(detail.coordinates.at[d]);
    else
      request.at[d] = real(detail.coordinates.at[d]);
    if (detail.dx[d] != kNone) {
      request.dx[d] = real(detail.dx[d]);
      request.dy[d] = real(detail.dy[d]);
    }
    if (detail.offset[d] != kNone)
      request.offset[d] = whole(detail.offset[d]);
  }
  if (detail.coordinates.layer != kNone)
    request.layer = whole(detail.coordinates.layer);
  if (detail.level != kNone)
    request.level = request.by_index ? static_cast<float>(whole(detail.level)) : real(detail.level);
  return request;
}

void write_texel(const TextureDetail& detail, Warp& warp, int lane, const TexelBits& bits) {
  using Registers = TextureDetail::Registers;
  auto half = [&](std::size_t channel) {
    return double_to_half(std::bit_cast<float>(bits[channel]));
  };
  switch (detail.registers) {
  case Registers::words:
    for (std::size_t c = 0; c < 4; ++c)
      warp.lanes<std::uint32_t>(detail.results[c])[lane] = bits[c];
    break;
  case Registers::halves:
    for (std::size_t c = 0; c < 4; ++c)
      warp.lanes<std::uint16_t>(detail.results[c])[lane] = half(c);
    break;
  case Registers::pairs:
    for (std::size_t pair = 0; pair < 2; ++pair)
      warp.lanes<std::uint32_t>(detail.results[pair])[lane] =
          half(2 * pair) | static_cast<std::uint32_t>(half(2 * pair + 1)) << 16U;
    break;
  }
}

void run_texture(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const TextureDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  CheckedReader reader(warp, op);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const ImageObject* texture =
        find_image(warp, op, lane, detail.texture, ImageObject::Kind::texture);
    if (texture == nullptr)
      return;
    const SamplerDescription* sampler = &texture->sampler;
    if (detail.has_sampler) {
      const ImageObject* own =
          find_image(warp, op, lane, detail.sampler, ImageObject::Kind::sampler);
      if (own == nullptr)
        return;
      sampler = &own->sampler;
    }
    reader.lane = lane;
    const SampleRequest request = request_of(detail, warp, lane);
    const TexelBits bits = detail.gathers
                               ? gather(*texture, *sampler, request, detail.channel, reader)
                               : sample(*texture, *sampler, request, reader);
    if (warp.faulted)
      return;
    write_texel(detail, warp, lane, bits);
  }
  // Every texel is resident.
  if (detail.predicate != kNone)
    write_predicate(warp, detail.predicate, active, active);
}

Result<Slots> lower_vector(Lowering& lowering, const Instruction& instruction,
                           const Operand& operand, int count, Type type) {
  Slots slots = kNoSlots;
  const bool is_vector = operand.kind == Operand::Kind::vector;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    KERNEVO_TRY(slot,
                lowering.source(instruction, is_vector ? operand.elements.at(i) : operand, type));
    slots[i] = slot;
  }
  return slots;
}

Result<void> lower_results(Lowering& lowering, const Instruction& instruction,
                           TextureDetail& detail) {
  const Operand* results = &instruction.operands.at(0);
  if (results->kind == Operand::Kind::pair) {
    KERNEVO_TRY(predicate, lowering.destination(instruction, results->elements.at(1), Type::pred));
    detail.predicate = predicate;
    results = &results->elements.front();
  }
  using Registers = TextureDetail::Registers;
  const Type type = instruction.type();
  detail.registers = type == Type::f16     ? Registers::halves
                     : type == Type::f16x2 ? Registers::pairs
                                           : Registers::words;
  for (std::size_t i = 0; i < results->elements.size() && i < detail.results.size(); ++i) {
    KERNEVO_TRY(slot, lowering.destination(instruction, results->elements[i], type));
    detail.results[i] = slot;
  }
  return {};
}

std::uint32_t gathered_channel(const Instruction& instruction) {
  return instruction.has(Mod::r)             ? 0
         : instruction.has(Mod::component_g) ? 1
         : instruction.has(Mod::matrix_b)    ? 2
                                             : 3;
}

Result<void> lower_texture(Lowering& lowering, const Instruction& instruction) {
  auto detail = std::make_unique<TextureDetail>();
  const Geometry geometry = geometry_of(instruction);
  const Type coordinate = instruction.types.at(1);
  const int planes = geometry.dimensions;
  detail->shape.dimensions = planes;
  detail->shape.cube = geometry.cube;
  detail->shape.by_index = coordinate == Type::s32;
  detail->gathers = instruction.opcode == Opcode::tld4;
  detail->channel = gathered_channel(instruction);

  const auto& place = instruction.operands.at(1).elements;
  KERNEVO_TRY(texture, lower_handle(lowering, instruction, place.front()));
  detail->texture = texture;
  if (place.size() == 3) {
    KERNEVO_TRY(sampler, lower_handle(lowering, instruction, place[1]));
    detail->sampler = sampler;
    detail->has_sampler = true;
  }
  KERNEVO_TRY(coordinates,
              lower_coordinates(lowering, instruction, place.back(), geometry, coordinate));
  detail->coordinates = coordinates;
  std::size_t next = 2;
  if (instruction.has(Mod::level)) {
    KERNEVO_TRY(level, lowering.source(instruction, instruction.operands.at(next++), coordinate));
    detail->level = level;
  }
  if (instruction.has(Mod::grad)) {
    KERNEVO_TRY(
        dx, lower_vector(lowering, instruction, instruction.operands.at(next), planes, Type::f32));
    KERNEVO_TRY(dy, lower_vector(lowering, instruction, instruction.operands.at(next + 1), planes,
                                 Type::f32));
    next += 2;
    detail->dx = dx;
    detail->dy = dy;
    detail->shape.has_derivatives = true;
  }
  if (next < instruction.operands.size()) {
    KERNEVO_TRY(offset, lower_vector(lowering, instruction, instruction.operands[next],
                                     geometry.cube ? 2 : planes, Type::s32));
    detail->offset = offset;
  }
  KERNEVO_CHECK(lower_results(lowering, instruction, *detail));
  Op& op = lowering.emit(run_texture, OpKind::memory);
  op.detail = lowering.keep(std::move(detail));
  return {};
}

struct QueryDetail : Detail {
  HandleOperand image;
  ImageObject::Kind kind = ImageObject::Kind::texture;
  Mod query = Mod::width;
  std::uint32_t level = kNone;
};

// The values OpenCL gives these, as the PTX manual says.
std::uint32_t data_type_code(const ImageObject& object) {
  const ChannelFormat& format = object.image.format;
  const std::uint32_t size = format.bits == 8 ? 0 : format.bits == 16 ? 1 : 2;
  if (format.kind == ChannelKind::floating)
    return format.bits == 16 ? 0x10DD : 0x10DE;
  const bool is_signed = format.kind == ChannelKind::signed_integer;
  if (object.read == ReadMode::normalized_float)
    return (is_signed ? 0x10D0 : 0x10D2) + size;
  return (is_signed ? 0x10D7 : 0x10DA) + size;
}

std::uint32_t order_code(std::uint32_t channels) {
  return channels == 1 ? 0x10B0 : channels == 2 ? 0x10B2 : 0x10B5;
}

// wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border, in the manual's order.
std::uint32_t address_code(AddressMode mode) {
  switch (mode) {
  case AddressMode::wrap: return 0;
  case AddressMode::mirror: return 1;
  case AddressMode::clamp: return 3;
  case AddressMode::border: return 4;
  }
  return 0;
}

std::uint32_t answer(const ImageObject& object, Mod query, std::uint32_t level) {
  const ImageDescription& image = object.image;
  const bool linear = image.layout == ImageDescription::Layout::linear;
  auto extent = [&](std::uint32_t whole) {
    return whole == 0 ? 0 : linear ? whole : level_extent(whole, level);
  };
  switch (query) {
  case Mod::width: return extent(image.width);
  case Mod::height: return extent(image.height);
  case Mod::depth: return extent(image.depth);
  case Mod::channel_data_type: return data_type_code(object);
  case Mod::channel_order: return order_code(image.format.channels);
  case Mod::normalized_coords: return object.sampler.normalized ? 1 : 0;
  case Mod::force_unnormalized_coords: return object.sampler.normalized ? 0 : 1;
  case Mod::array_size: return image.cubemap ? image.layers / 6 : image.layers;
  case Mod::num_mipmap_levels: return image.levels;
  case Mod::num_samples: return 1;
  case Mod::filter_mode: return object.sampler.filter == FilterMode::linear ? 1 : 0;
  case Mod::addr_mode_0: return address_code(object.sampler.address[0]);
  case Mod::addr_mode_1: return address_code(object.sampler.address[1]);
  case Mod::addr_mode_2: return address_code(object.sampler.address[2]);
  default: return 0;
  }
}

void run_query(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const QueryDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const ImageObject* object = find_image(warp, op, lane, detail.image, detail.kind);
    if (object == nullptr)
      return;
    const std::uint32_t level =
        detail.level == kNone ? 0 : warp.lanes<std::uint32_t>(detail.level)[lane];
    warp.lanes<std::uint32_t>(op.d)[lane] = answer(*object, detail.query, level);
  }
}

Result<void> lower_query(Lowering& lowering, const Instruction& instruction) {
  auto detail = std::make_unique<QueryDetail>();
  if (instruction.opcode == Opcode::suq)
    detail->kind = ImageObject::Kind::surface;
  for (const Mod modifier : instruction.modifiers)
    if (modifier != Mod::level)
      detail->query = modifier;
  KERNEVO_TRY(image,
              lower_handle(lowering, instruction, instruction.operands.at(1).elements.front()));
  detail->image = image;
  if (instruction.operands.size() > 2) {
    KERNEVO_TRY(level, lowering.source(instruction, instruction.operands[2], Type::u32));
    detail->level = level;
  }
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], Type::b32));
  Op& op = lowering.emit(run_query, OpKind::memory);
  op.d = d;
  op.detail = lowering.keep(std::move(detail));
  return {};
}

void run_type_test(const Op& op, Warp& base, LaneMask active) {
  const auto& detail = static_cast<const QueryDetail&>(*op.detail);
  WarpState& warp = state_of(base);
  LaneMask truth = 0;
  for_each_lane(active, [&](int lane) {
    const ImageObject* object = peek_image(warp, lane, detail.image);
    if (object != nullptr && object->kind == detail.kind)
      truth |= LaneMask{1} << static_cast<unsigned>(lane);
  });
  write_predicate(warp, op.d, truth, active);
}

Result<void> lower_type_test(Lowering& lowering, const Instruction& instruction) {
  auto detail = std::make_unique<QueryDetail>();
  detail->kind = instruction.has(Mod::texref)       ? ImageObject::Kind::texture
                 : instruction.has(Mod::samplerref) ? ImageObject::Kind::sampler
                                                    : ImageObject::Kind::surface;
  KERNEVO_TRY(image, lower_handle(lowering, instruction, instruction.operands.at(1)));
  detail->image = image;
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], Type::pred));
  Op& op = lowering.emit(run_type_test);
  op.d = d;
  op.detail = lowering.keep(std::move(detail));
  return {};
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::tex, lower_texture},       FamilyEntry{Opcode::tld4, lower_texture},
    FamilyEntry{Opcode::txq, lower_query},         FamilyEntry{Opcode::suq, lower_query},
    FamilyEntry{Opcode::istypep, lower_type_test},
};

} // namespace

std::span<const FamilyEntry> texture_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
