// ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16-bit elements between shared memory and the
// fragment layout, where lane l holds row l / 4, columns 2 * (l % 4) and the next.
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/address.h"
#include "kernevo/vgpu/ops/matrix_families.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Type;

constexpr std::uint32_t kRowBytes = 16;
using Tile = std::array<std::array<std::uint16_t, 8>, 8>;

struct MoveDetail : Detail {
  AddressOperand address;
  ptx::Space space = ptx::Space::shared;
  bool transposed = false;
  Slots registers; // one for each matrix
};

std::uint32_t fragment_of(const Tile& tile, int lane, bool transposed) {
  const auto row = static_cast<std::size_t>(lane) / 4;
  const auto column = static_cast<std::size_t>(lane) % 4 * 2;
  const std::uint32_t low = transposed ? tile[column][row] : tile[row][column];
  const std::uint32_t high = transposed ? tile[column + 1][row] : tile[row][column + 1];
  return low | (high << 16U);
}

void place_fragment(Tile& tile, int lane, bool transposed, std::uint32_t pair) {
  const auto row = static_cast<std::size_t>(lane) / 4;
  const auto column = static_cast<std::size_t>(lane) % 4 * 2;
  (transposed ? tile[column][row] : tile[row][column]) = static_cast<std::uint16_t>(pair);
  (transposed ? tile[column + 1][row] : tile[row][column + 1]) =
      static_cast<std::uint16_t>(pair >> 16U);
}

// Lanes 8i..8i+7 hold the addresses of the rows of matrix i.
void run_ldmatrix(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& detail = static_cast<const MoveDetail&>(*op.detail);
  const Access access{detail.space, AccessKind::load, false, kRowBytes};
  std::array<Tile, 4> tiles;
  for (std::size_t i = 0; i < detail.registers.size(); ++i)
    for (std::size_t row = 0; row < 8; ++row) {
      const int lane = static_cast<int>(8 * i + row);
      const std::byte* memory =
          resolve(warp, op, lane, lane_address(warp, detail.address, lane), access);
      if (memory == nullptr)
        return;
      std::memcpy(tiles[i][row].data(), memory, kRowBytes);
    }
  for (std::size_t i = 0; i < detail.registers.size(); ++i) {
    auto* d = warp.lanes<std::uint32_t>(detail.registers[i]);
    for (int lane = 0; lane < kWarpSize; ++lane)
      d[lane] = fragment_of(tiles[i], lane, detail.transposed);
  }
}

void run_stmatrix(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& detail = static_cast<const MoveDetail&>(*op.detail);
  const Access access{detail.space, AccessKind::store, false, kRowBytes};
  for (std::size_t i = 0; i < detail.registers.size(); ++i) {
    Tile tile;
    const auto* values = warp.lanes<std::uint32_t>(detail.registers[i]);
    for (int lane = 0; lane < kWarpSize; ++lane)
      place_fragment(tile, lane, detail.transposed, values[lane]);
    for (std::size_t row = 0; row < 8; ++row) {
      const int lane = static_cast<int>(8 * i + row);
      std::array<std::byte, kRowBytes> bytes;
      std::memcpy(bytes.data(), tile[row].data(), kRowBytes);
      std::byte* memory =
          resolve(warp, op, lane, lane_address(warp, detail.address, lane), access, bytes.data());
      if (memory == nullptr)
        return;
      std::memcpy(memory, bytes.data(), kRowBytes);
    }
  }
}

void run_movmatrix(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  Tile tile;
  const auto* a = warp.lanes<std::uint32_t>(op.a);
  for (int lane = 0; lane < kWarpSize; ++lane)
    place_fragment(tile, lane, false, a[lane]);
  auto* d = warp.lanes<std::uint32_t>(op.d);
  for (int lane = 0; lane < kWarpSize; ++lane)
    d[lane] = fragment_of(tile, lane, true);
}

Result<void> emit_move(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                       const ptx::Operand& address, Slots registers) {
  const std::size_t wanted = instruction.has(Mod::x4) ? 4 : instruction.has(Mod::x2) ? 2 : 1;
  if (!instruction.has(Mod::m8n8) || instruction.type() != Type::b16 || registers.size() != wanted)
    return tl::unexpected<Error>(lowering.unsupported(
        instruction,
        "only .m8n8 with .b16 elements and one register for each matrix is supported"));
  auto detail = std::make_unique<MoveDetail>();
  KERNEVO_TRY(lowered, lower_address(lowering, instruction, address));
  detail->address = lowered;
  detail->space = instruction.space;
  detail->transposed = instruction.has(Mod::trans);
  detail->registers = std::move(registers);
  lowering.emit(handler, OpKind::warp_sync).detail = lowering.keep(std::move(detail));
  return {};
}

} // namespace

Result<void> lower_ldmatrix(Lowering& lowering, const ptx::Instruction& instruction) {
  KERNEVO_TRY(registers,
              matrix_destinations(lowering, instruction, instruction.operands.at(0), Type::b32));
  return emit_move(lowering, instruction, run_ldmatrix, instruction.operands.at(1),
                   std::move(registers));
}

Result<void> lower_stmatrix(Lowering& lowering, const ptx::Instruction& instruction) {
  KERNEVO_TRY(registers,
              matrix_sources(lowering, instruction, instruction.operands.at(1), Type::b32));
  return emit_move(lowering, instruction, run_stmatrix, instruction.operands.at(0),
                   std::move(registers));
}

Result<void> lower_movmatrix(Lowering& lowering, const ptx::Instruction& instruction) {
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands.at(0), Type::b32));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands.at(1), Type::b32));
  Op& op = lowering.emit(run_movmatrix, OpKind::warp_sync);
  op.d = d;
  op.a = a;
  return {};
}

} // namespace kernevo::vgpu::ops
