// Operands that texture and surface instructions share: handles and coordinates.
#pragma once

#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/memory/texture_table.h"
#include "kernevo/vgpu/program/lowering.h"

#include <array>
#include <cstdint>

namespace kernevo::vgpu::ops {

// A register, a .texref variable, or a kernel parameter that holds the handle.
struct HandleOperand {
  std::uint32_t slot = kNone;
  std::uint32_t parameter = kNone; // offset in the parameter buffer
};

Result<HandleOperand> lower_handle(Lowering& lowering, const ptx::Instruction& instruction,
                                   const ptx::Operand& operand);

// The object a lane's handle names, if it is of this kind; null after raising bad_texture.
const ImageObject* find_image(WarpState& warp, const Op& op, int lane, const HandleOperand& operand,
                              ImageObject::Kind kind);
// The same for any kind, and null without a fault.
const ImageObject* peek_image(WarpState& warp, int lane, const HandleOperand& operand);

// Which coordinates an instruction has, by its geometry.
struct Geometry {
  int dimensions = 2;
  bool layered = false;
  bool cube = false;
};
Geometry geometry_of(const ptx::Instruction& instruction);

// Slots of the coordinates and of the layer, from [handle, {layer, x, y, z}].
struct CoordinateSlots {
  std::array<std::uint32_t, 3> at = {kNone, kNone, kNone};
  std::uint32_t layer = kNone;
};
Result<CoordinateSlots> lower_coordinates(Lowering& lowering, const ptx::Instruction& instruction,
                                          const ptx::Operand& operand, const Geometry& geometry,
                                          ptx::Type type);

} // namespace kernevo::vgpu::ops
