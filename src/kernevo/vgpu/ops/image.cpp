#include "kernevo/vgpu/ops/image.h"

#include "kernevo/vgpu/execute/warp_state.h"

#include <cstring>
#include <fmt/format.h>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Mod;
using ptx::Operand;
using ptx::Type;

std::uint64_t handle_of(WarpState& warp, int lane, const HandleOperand& operand) {
  std::uint64_t handle = 0;
  if (operand.parameter != kNone) {
    std::memcpy(&handle, warp.launch->parameters.data() + operand.parameter, sizeof handle);
    return handle;
  }
  return warp.lanes<std::uint64_t>(operand.slot)[lane];
}

// The address of a .texref variable stands for the handle the variable holds.
std::uint64_t follow_reference(const LaunchState& launch, std::uint64_t handle) {
  for (std::size_t i = 0; i < launch.addresses.size(); ++i)
    if (launch.addresses[i] == handle && handle != 0 &&
        launch.program->variables[i]->reference != ptx::Variable::Reference::none) {
      std::uint64_t held = 0;
      std::memcpy(&held, reinterpret_cast<const std::byte*>(handle), sizeof held); // NOLINT
      return held;
    }
  return handle;
}

std::string_view name_of(ImageObject::Kind kind) {
  switch (kind) {
  case ImageObject::Kind::texture: return "texture";
  case ImageObject::Kind::surface: return "surface";
  case ImageObject::Kind::sampler: return "sampler";
  }
  return "image";
}

} // namespace

Result<HandleOperand> lower_handle(Lowering& lowering, const ptx::Instruction& instruction,
                                   const Operand& operand) {
  if (operand.kind == Operand::Kind::symbol)
    if (const auto variable = lowering.frame_variable(operand.name)) {
      if (variable->kernel_parameter && variable->bytes == 8)
        return HandleOperand{kNone, variable->offset};
      return tl::unexpected(lowering.unsupported(
          instruction, fmt::format("'{}' is not a texture, surface or sampler", operand.name)));
    }
  KERNEVO_TRY(slot, lowering.source(instruction, operand, Type::u64));
  return HandleOperand{slot, kNone};
}

const ImageObject* peek_image(WarpState& warp, int lane, const HandleOperand& operand) {
  const TextureTable& table = *warp.launch->textures;
  const std::uint64_t handle = handle_of(warp, lane, operand);
  const ImageObject* found = table.find(handle);
  return found != nullptr ? found : table.find(follow_reference(*warp.launch, handle));
}

const ImageObject* find_image(WarpState& warp, const Op& op, int lane, const HandleOperand& operand,
                              ImageObject::Kind kind) {
  const ImageObject* found = peek_image(warp, lane, operand);
  if (found != nullptr && found->kind == kind)
    return found;
  const std::uint64_t handle = handle_of(warp, lane, operand);
  warp.raise(FindingKind::bad_texture, op, lane,
             found == nullptr
                 ? fmt::format("{:#x} is not the handle of a {}", handle, name_of(kind))
                 : fmt::format("{:#x} is the handle of a {}, a {} is needed", handle,
                               name_of(found->kind), name_of(kind)));
  return nullptr;
}

Geometry geometry_of(const ptx::Instruction& instruction) {
  if (instruction.has(Mod::d1))
    return {1, false, false};
  if (instruction.has(Mod::d3))
    return {3, false, false};
  if (instruction.has(Mod::geometry_a1d))
    return {1, true, false};
  if (instruction.has(Mod::geometry_a2d))
    return {2, true, false};
  if (instruction.has(Mod::geometry_cube))
    return {3, false, true};
  if (instruction.has(Mod::geometry_acube))
    return {3, true, true};
  return {2, false, false};
}

Result<CoordinateSlots> lower_coordinates(Lowering& lowering, const ptx::Instruction& instruction,
                                          const Operand& operand, const Geometry& geometry,
                                          Type type) {
  CoordinateSlots slots;
  const bool is_vector = operand.kind == Operand::Kind::vector;
  std::size_t next = 0;
  auto element = [&]() -> const Operand& {
    return is_vector ? operand.elements.at(next++) : operand;
  };
  if (geometry.layered) {
    KERNEVO_TRY(layer, lowering.source(instruction, element(), Type::b32));
    slots.layer = layer;
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(geometry.dimensions); ++d) {
    KERNEVO_TRY(slot, lowering.source(instruction, element(), type));
    slots.at[d] = slot;
  }
  return slots;
}

} // namespace kernevo::vgpu::ops
