// tensormap.replace and tensormap.cp_fenceproxy: a kernel makes its own tensor maps.
#include "kernevo/vgpu/ops/bulk_families.h"
#include "kernevo/vgpu/ops/bulk_memory.h"
#include "kernevo/vgpu/ops/fence.h"
#include "kernevo/vgpu/ops/matrix_families.h"
#include "kernevo/vgpu/ops/tensor_map_memory.h"

#include <memory>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Space;
using ptx::Type;

constexpr std::uint32_t kMapAlignment = 64;

struct ReplaceDetail : Detail {
  AddressOperand at;
  Space space = Space::generic;
  Mod field = Mod::rank;
  std::uint32_t ordinal = 0;
  std::uint32_t value = kNone;
  bool wide = false; // 64 bits
};

void set_field(TensorFields& fields, const ReplaceDetail& detail, std::uint64_t value) {
  const auto word = static_cast<std::uint32_t>(value);
  const auto byte = static_cast<std::uint8_t>(value);
  fields.is_set = true;
  switch (detail.field) {
  case Mod::global_address: fields.address = value; break;
  case Mod::rank: fields.rank = byte + 1U; break;
  case Mod::box_dim: fields.box[detail.ordinal] = word; break;
  case Mod::global_dim: fields.dimensions[detail.ordinal] = word; break;
  case Mod::global_stride: fields.strides[detail.ordinal] = value; break;
  case Mod::element_stride: fields.element_strides[detail.ordinal] = word; break;
  case Mod::elemtype: fields.type = byte; break;
  case Mod::interleave_layout: fields.interleave = byte; break;
  case Mod::swizzle_mode: fields.swizzle = byte; break;
  case Mod::fill_mode: fields.fill = byte; break;
  case Mod::swizzle_atomicity: fields.atomicity = byte; break;
  default: break;
  }
}

void run_replace(const Op& op, Warp& warp, LaneMask active) {
  const auto& detail = static_cast<const ReplaceDetail&>(*op.detail);
  for (; active != 0; active &= active - 1) {
    const int lane = __builtin_ctz(active);
    const std::uint64_t address = lane_address(warp, detail.at, lane);
    TensorMap map;
    if (!load_tensor_map(warp, op, lane, detail.space, address, map))
      return;
    TensorFields fields = TensorFields::decode(map);
    set_field(fields, detail,
              detail.wide ? warp.lanes<std::uint64_t>(detail.value)[lane]
                          : warp.lanes<std::uint32_t>(detail.value)[lane]);
    if (!store_tensor_map(warp, op, lane, detail.space, address, fields.encode()))
      return;
  }
}

struct MapCopyDetail : Detail {
  AddressOperand to;
  AddressOperand from;
};

// The whole warp makes one copy; its lanes agree on the addresses.
void run_map_copy(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& detail = static_cast<const MapCopyDetail&>(*op.detail);
  TensorMap map;
  if (!load_tensor_map(warp, op, 0, Space::shared, lane_address(warp, detail.from, 0), map) ||
      !store_tensor_map(warp, op, 0, Space::global, lane_address(warp, detail.to, 0), map))
    return;
  fence(op, warp, active);
}

bool has_ordinal(Mod field) {
  return field == Mod::box_dim || field == Mod::global_dim || field == Mod::global_stride ||
         field == Mod::element_stride;
}

} // namespace

bool load_tensor_map(Warp& warp, const Op& op, int lane, Space space, std::uint64_t address,
                     TensorMap& map) {
  return check_multiple(warp, op, lane, "tensor map", address, kMapAlignment) &&
         read_run(warp, op, lane, {space, false, address}, kTensorMapBytes, map.bytes.data());
}

bool store_tensor_map(Warp& warp, const Op& op, int lane, Space space, std::uint64_t address,
                      const TensorMap& map) {
  return check_multiple(warp, op, lane, "tensor map", address, kMapAlignment) &&
         write_run(warp, op, lane, {space, false, address}, kTensorMapBytes, map.bytes.data());
}

Result<void> lower_tensormap_replace(Lowering& lowering, const ptx::Instruction& instruction) {
  auto detail = std::make_unique<ReplaceDetail>();
  for (const Mod modifier : instruction.modifiers)
    if (modifier >= Mod::global_address && modifier <= Mod::fill_mode)
      detail->field = modifier;
  KERNEVO_TRY(at, lower_address(lowering, instruction, instruction.operands.at(0)));
  detail->at = at;
  detail->space = instruction.space;
  detail->wide = instruction.type() == Type::b64;
  std::size_t next = 1;
  if (has_ordinal(detail->field)) {
    const std::uint64_t ordinal = instruction.operands.at(next++).bits;
    const std::uint32_t most = detail->field == Mod::global_stride ? 4 : kMaxTensorRank;
    if (ordinal >= most)
      return tl::unexpected<Error>(
          lowering.unsupported(instruction, "a tensor has no dimension of this number"));
    detail->ordinal = static_cast<std::uint32_t>(ordinal);
  }
  KERNEVO_TRY(value, lowering.source(instruction, instruction.operands.at(next),
                                     detail->wide ? Type::b64 : Type::b32));
  detail->value = value;
  lowering.emit(run_replace, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

Result<void> lower_tensormap_copy(Lowering& lowering, const ptx::Instruction& instruction) {
  if (instruction.operands.at(2).bits != kTensorMapBytes)
    return tl::unexpected<Error>(
        lowering.unsupported(instruction, "the size of a tensor map is 128 bytes"));
  auto detail = std::make_unique<MapCopyDetail>();
  KERNEVO_TRY(to, lower_address(lowering, instruction, instruction.operands[0]));
  KERNEVO_TRY(from, lower_address(lowering, instruction, instruction.operands[1]));
  detail->to = to;
  detail->from = from;
  lowering.emit(run_map_copy, OpKind::warp_sync).detail = lowering.keep(std::move(detail));
  return {};
}

} // namespace kernevo::vgpu::ops
