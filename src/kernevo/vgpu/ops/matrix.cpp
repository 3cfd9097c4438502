#include "kernevo/vgpu/ops/matrix_families.h"

#include <array>
#include <string>
#include <utility>

namespace kernevo::vgpu::ops {

std::optional<MatrixShape> matrix_shape(const ptx::Instruction& instruction) {
  using ptx::Mod;
  static constexpr std::pair<Mod, MatrixShape> shapes[] = {
      {Mod::m8n8k4, {8, 8, 4}},       {Mod::m8n8k16, {8, 8, 16}},
      {Mod::m8n8k32, {8, 8, 32}},     {Mod::m8n8k128, {8, 8, 128}},
      {Mod::m16n8k4, {16, 8, 4}},     {Mod::m16n8k8, {16, 8, 8}},
      {Mod::m16n8k16, {16, 8, 16}},   {Mod::m16n8k32, {16, 8, 32}},
      {Mod::m16n8k64, {16, 8, 64}},   {Mod::m16n8k128, {16, 8, 128}},
      {Mod::m16n8k256, {16, 8, 256}}, {Mod::m16n16k16, {16, 16, 16}},
      {Mod::m16n16k8, {16, 16, 8}},   {Mod::m8n32k16, {8, 32, 16}},
      {Mod::m32n8k16, {32, 8, 16}},
  };
  for (const auto& [modifier, shape] : shapes)
    if (instruction.has(modifier))
      return shape;
  return std::nullopt;
}

namespace {

template <class Lower>
Result<Slots> each_register(const ptx::Operand& operand, const Lower& lower) {
  Slots slots;
  if (operand.kind != ptx::Operand::Kind::vector) {
    KERNEVO_TRY(slot, lower(operand));
    slots.push_back(slot);
    return slots;
  }
  for (const ptx::Operand& element : operand.elements) {
    KERNEVO_TRY(slot, lower(element));
    slots.push_back(slot);
  }
  return slots;
}

} // namespace

Result<Slots> matrix_sources(Lowering& lowering, const ptx::Instruction& instruction,
                             const ptx::Operand& operand, ptx::Type type) {
  return each_register(operand, [&](const ptx::Operand& element) {
    return lowering.source(instruction, element, type);
  });
}

Result<Slots> matrix_destinations(Lowering& lowering, const ptx::Instruction& instruction,
                                  const ptx::Operand& operand, ptx::Type type) {
  return each_register(operand, [&](const ptx::Operand& element) {
    return lowering.destination(instruction, element, type);
  });
}

bool whole_warp(const Op& op, Warp& warp, LaneMask active) {
  if (active == kAllLanes)
    return true;
  const int missing = __builtin_ctz(~active);
  const int lane = active == 0 ? 0 : __builtin_ctz(active);
  warp.raise(FindingKind::warp_sync_divergence, op, lane,
             "a matrix instruction needs all 32 lanes of the warp, but lane " +
                 std::to_string(missing) + " does not execute it");
  return false;
}

std::span<const FamilyEntry> matrix_families() {
  static constexpr std::array families = {
      FamilyEntry{ptx::Opcode::mma, lower_mma},
      FamilyEntry{ptx::Opcode::wmma_mma, lower_mma},
      FamilyEntry{ptx::Opcode::wmma_load, lower_wmma_load},
      FamilyEntry{ptx::Opcode::wmma_store, lower_wmma_store},
      FamilyEntry{ptx::Opcode::ldmatrix, lower_ldmatrix},
      FamilyEntry{ptx::Opcode::stmatrix, lower_stmatrix},
      FamilyEntry{ptx::Opcode::movmatrix, lower_movmatrix},
      FamilyEntry{ptx::Opcode::wgmma_mma_async, lower_wgmma},
      FamilyEntry{ptx::Opcode::wgmma_fence, lower_wgmma_group},
      FamilyEntry{ptx::Opcode::wgmma_commit_group, lower_wgmma_group},
      FamilyEntry{ptx::Opcode::wgmma_wait_group, lower_wgmma_group},
  };
  return families;
}

} // namespace kernevo::vgpu::ops
