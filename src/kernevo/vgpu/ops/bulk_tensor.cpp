// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: a box of a tensor in global memory to or
// from a tile in shared memory. The box is moved row by row, a row being the elements along
// dimension 0; what of it lies outside the tensor is filled on the way in and left out on the way
// back.
#include "kernevo/vgpu/ops/async_families.h"
#include "kernevo/vgpu/ops/bulk_families.h"
#include "kernevo/vgpu/ops/bulk_memory.h"
#include "kernevo/vgpu/ops/tensor_map_memory.h"
#include "kernevo/vgpu/semantics/shared_swizzle.h"
#include "kernevo/vgpu/semantics/tensor_box.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <utility>
#include <vector>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using semantics::BulkReduction;
using semantics::TensorBox;

constexpr std::uint32_t kTileAlignment = 128;
constexpr std::uint32_t kMaxRowBytes = 256 * 8;
constexpr std::uint64_t kMaxTileElements = std::uint64_t{1} << 20U;

struct TensorDetail : Detail {
  AddressOperand tile;
  AddressOperand map;
  std::vector<std::uint32_t> coordinates; // slots
  std::vector<std::uint32_t> offsets;     // slots of 16 bits, im2col
  BulkCompletion completion;
  bool loads = true;
  bool im2col = false;
  bool four_rows = false; // tile::gather4 and scatter4
  std::optional<BulkReduction> reduction;
};

// The tensor a lane's map describes, checked against the instruction. False after a fault.
bool open_map(Warp& warp, const Op& op, int lane, TensorFields& fields) {
  const auto& detail = static_cast<const TensorDetail&>(*op.detail);
  TensorMap map;
  if (!load_tensor_map(warp, op, lane, Space::generic, lane_address(warp, detail.map, lane), map))
    return false;
  fields = TensorFields::decode(map);
  const auto refuse = [&](std::string message) {
    warp.raise(FindingKind::bad_argument, op, lane, "tensor map: " + std::move(message));
    return false;
  };
  if (!fields.is_set)
    return refuse("nothing was ever encoded there; pass it as a __grid_constant__ parameter, in "
                  "constant or in global memory");
  const auto rank = static_cast<std::uint32_t>(detail.four_rows ? 2 : detail.coordinates.size());
  if (fields.rank != rank)
    return refuse(fmt::format("its tensor has {} dimensions, the copy {}", fields.rank, rank));
  if ((fields.mode == TensorMode::im2col) != detail.im2col)
    return refuse(detail.im2col ? "an im2col copy needs a map encoded for im2col"
                                : "a tile copy needs a map encoded for tiles");
  if (fields.type > static_cast<std::uint8_t>(TensorType::tf32_ftz))
    return refuse(fmt::format("element type {} is not supported", fields.type));
  if (fields.interleave != 0 || fields.swizzle > 3 || fields.atomicity != 0)
    return refuse("interleaved layouts and swizzles other than of 16-byte units in 32, 64 or 128 "
                  "bytes are not supported");
  for (std::uint32_t i = 0; i < (detail.im2col ? 2 : rank); ++i)
    if (fields.box[i] == 0 || fields.box[i] > (detail.im2col && i == 1 ? 1024 : 256))
      return refuse(fmt::format("dimension {} of the box is {}", i, fields.box[i]));
  for (std::uint32_t i = 0; i < rank; ++i)
    if (fields.element_strides[i] == 0)
      return refuse(fmt::format("the element stride of dimension {} is 0", i));
  std::uint64_t elements = fields.box[0];
  for (std::uint32_t i = 1; i < (detail.im2col ? 2 : rank); ++i)
    elements *= fields.box[i];
  if (elements > kMaxTileElements)
    return refuse(fmt::format("a box of {} elements fits no shared memory", elements));
  const std::uint32_t row = fields.box[0] * bytes_of(static_cast<TensorType>(fields.type));
  if (row % kBulkUnit != 0)
    return refuse(fmt::format("a row of the box is {} bytes, which is no multiple of 16", row));
  return true;
}

TensorBox box_of(Warp& warp, const TensorDetail& detail, const TensorFields& fields, int lane) {
  std::array<std::int32_t, kMaxTensorRank> coordinates{};
  for (std::size_t i = 0; i < detail.coordinates.size(); ++i)
    coordinates[i] = warp.lanes<std::int32_t>(detail.coordinates[i])[lane];
  std::array<std::uint16_t, 3> offsets{};
  for (std::size_t i = 0; i < detail.offsets.size(); ++i)
    offsets[i] = warp.lanes<std::uint16_t>(detail.offsets[i])[lane];
  if (detail.four_rows)
    return TensorBox::rows(fields, coordinates);
  if (detail.im2col)
    return TensorBox::column(fields, coordinates, offsets);
  return TensorBox::tile(fields, coordinates);
}

using Row = std::array<std::byte, kMaxRowBytes>;

// A row of the tile; swizzled, its 16-byte units stand apart.
template <class Unit>
bool each_unit(std::uint64_t address, std::uint32_t bytes, std::uint32_t span, const Unit& unit) {
  if (span == 0)
    return unit(address, 0U, bytes);
  for (std::uint32_t at = 0; at < bytes; at += kBulkUnit)
    if (!unit(semantics::swizzle(address + at, span), at, kBulkUnit))
      return false;
  return true;
}

void fill_row(const TensorBox& box, const TensorFields& fields, Row& row) {
  const std::uint32_t bytes = box.row_bytes();
  std::memset(row.data(), 0, bytes);
  const auto type = static_cast<TensorType>(fields.type);
  if (fields.fill == 0 || !is_float(type))
    return;
  const std::uint32_t size = bytes_of(type);
  for (std::uint32_t at = 0; at < bytes; at += size) {
    std::memset(row.data() + at, 0xFF, size);
    row[at + size - 1] = std::byte{0x7F};
  }
}

void flush_subnormals(TensorType type, std::uint32_t bytes, Row& row) {
  if (type != TensorType::f32_ftz && type != TensorType::tf32_ftz)
    return;
  for (std::uint32_t at = 0; at < bytes; at += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, row.data() + at, sizeof bits);
    if ((bits & 0x7F800000U) == 0)
      bits &= 0x80000000U;
    std::memcpy(row.data() + at, &bits, sizeof bits);
  }
}

bool load_box(Warp& warp, const Op& op, int lane, const TensorFields& fields, TensorBox box,
              const std::vector<std::uint64_t>& tiles) {
  const auto& detail = static_cast<const TensorDetail&>(*op.detail);
  const std::uint32_t span = span_of(static_cast<TensorSwizzle>(fields.swizzle));
  Row row;
  for (std::uint32_t i = 0; i < box.row_count(); ++i) {
    fill_row(box, fields, row);
    const semantics::RowPart part = box.part(i);
    if (part.bytes != 0) {
      const BulkPlace from{Space::global, false, part.address};
      if (!read_run(warp, op, lane, from, part.bytes, row.data() + part.skipped))
        return false;
      flush_subnormals(static_cast<TensorType>(fields.type), box.row_bytes(), row);
    }
    for (const std::uint64_t tile : tiles)
      if (!each_unit(tile + std::uint64_t{i} * box.row_bytes(), box.row_bytes(), span,
                     [&](std::uint64_t address, std::uint32_t at, std::uint32_t bytes) {
                       return write_run(warp, op, lane,
                                        {Space::shared, detail.completion.cluster, address}, bytes,
                                        row.data() + at);
                     }))
        return false;
  }
  return true;
}

bool store_box(Warp& warp, const Op& op, int lane, const TensorFields& fields, TensorBox box,
               std::uint64_t tile) {
  const auto& detail = static_cast<const TensorDetail&>(*op.detail);
  const std::uint32_t span = span_of(static_cast<TensorSwizzle>(fields.swizzle));
  Row row;
  for (std::uint32_t i = 0; i < box.row_count(); ++i) {
    const semantics::RowPart part = box.part(i);
    if (part.bytes == 0)
      continue;
    if (!each_unit(tile + std::uint64_t{i} * box.row_bytes(), box.row_bytes(), span,
                   [&](std::uint64_t address, std::uint32_t at, std::uint32_t bytes) {
                     // Units that are clipped away entirely need not even be initialised.
                     if (at + bytes <= part.skipped || at >= part.skipped + part.bytes)
                       return true;
                     return read_run(warp, op, lane, {Space::shared, false, address}, bytes,
                                     row.data() + at);
                   }))
      return false;
    const BulkPlace to{Space::global, false, part.address};
    const std::byte* from = row.data() + part.skipped;
    if (detail.reduction ? !reduce_run(warp, op, lane, to, part.bytes, from, *detail.reduction,
                                       static_cast<TensorType>(fields.type))
                         : !write_run(warp, op, lane, to, part.bytes, from))
      return false;
  }
  return true;
}

std::vector<std::uint64_t> destinations(Warp& warp, const BulkCompletion& completion, int lane,
                                        std::uint64_t address) {
  if (completion.mask == kNone)
    return {address};
  return multicast(address, warp.lanes<std::uint16_t>(completion.mask)[lane]);
}

bool copy(Warp& warp, const Op& op, int lane) {
  const auto& detail = static_cast<const TensorDetail&>(*op.detail);
  TensorFields fields;
  const std::uint64_t tile = lane_address(warp, detail.tile, lane);
  if (!check_multiple(warp, op, lane, "tile", tile, kTileAlignment) ||
      !open_map(warp, op, lane, fields))
    return false;
  TensorBox box = box_of(warp, detail, fields, lane);
  if (!detail.loads)
    return store_box(warp, op, lane, fields, std::move(box), tile);
  const std::uint32_t bytes = box.row_count() * box.row_bytes();
  if (!load_box(warp, op, lane, fields, std::move(box),
                destinations(warp, detail.completion, lane, tile)))
    return false;
  const std::uint64_t barrier = lane_address(warp, detail.completion.barrier, lane);
  for (const std::uint64_t place : destinations(warp, detail.completion, lane, barrier))
    if (!complete_transactions(warp, op, lane, place, {Space::shared, detail.completion.cluster},
                               bytes))
      return false;
  return true;
}

void run_tensor_copy(const Op& op, Warp& warp, LaneMask active) {
  for (; active != 0; active &= active - 1)
    if (!copy(warp, op, __builtin_ctz(active)))
      return;
}

// [map, {x, y, ...}]
Result<void> lower_tensor_operand(Lowering& lowering, const ptx::Instruction& instruction,
                                  const Operand& operand, TensorDetail& detail) {
  Operand base = operand;
  base.elements.resize(1);
  KERNEVO_TRY(map, lower_address(lowering, instruction, base));
  detail.map = map;
  for (const Operand& coordinate : operand.elements.at(1).elements) {
    KERNEVO_TRY(slot, lowering.source(instruction, coordinate, Type::s32));
    detail.coordinates.push_back(slot);
  }
  return {};
}

} // namespace

Result<void> lower_bulk_tensor(Lowering& lowering, const ptx::Instruction& instruction) {
  auto detail = std::make_unique<TensorDetail>();
  const auto& operands = instruction.operands;
  detail->loads = instruction.space == Space::shared;
  detail->im2col = instruction.has(Mod::im2col) || instruction.has(Mod::im2col_no_offs);
  detail->four_rows = instruction.has(Mod::tile_gather4) || instruction.has(Mod::tile_scatter4);
  const std::size_t tile = detail->loads ? 0 : 1;
  KERNEVO_TRY(address, lower_address(lowering, instruction, operands.at(tile)));
  detail->tile = address;
  KERNEVO_CHECK(lower_tensor_operand(lowering, instruction, operands.at(1 - tile), *detail));
  KERNEVO_TRY(completion, lower_completion_of(lowering, instruction, 2, detail->im2col ? 4 : 3));
  detail->completion = completion;
  if (instruction.has(Mod::im2col)) {
    if (operands.at(3).elements.size() + 2 != detail->coordinates.size())
      return tl::unexpected<Error>(lowering.unsupported(
          instruction, "im2col needs an offset for every dimension but the first and the last"));
    for (const Operand& offset : operands[3].elements) {
      KERNEVO_TRY(slot, lowering.source(instruction, offset, Type::b16));
      detail->offsets.push_back(slot);
    }
  }
  if (instruction.opcode == Opcode::cp_reduce_async_bulk_tensor) {
    detail->reduction = bulk_reduction(instruction);
    // The map says what is added, and it may be floating-point numbers.
    if (detail->reduction == BulkReduction::add)
      lowering.code().ordered = true;
  }
  lowering.emit(run_tensor_copy, OpKind::memory).detail = lowering.keep(std::move(detail));
  return {};
}

} // namespace kernevo::vgpu::ops
