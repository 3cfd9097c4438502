// wmma.load and wmma.store: fragments to and from matrices in memory. PTX leaves open which lane
// holds which element; see semantics/matrix_layout.h for the choice.
#include "kernevo/vgpu/memory/resolve.h"
#include "kernevo/vgpu/ops/address.h"
#include "kernevo/vgpu/ops/matrix_families.h"

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kernevo::vgpu::ops {

namespace {

using ptx::Mod;
using ptx::Type;

// Bytes that start at (row, column) and belong to one register of one lane.
struct Piece {
  std::uint8_t lane = 0;
  std::uint8_t register_index = 0;
  std::uint8_t byte = 0; // in the register
  std::uint8_t bytes = 0;
  std::uint16_t row = 0;
  std::uint16_t column = 0;
};

struct FragmentDetail : Detail {
  AddressOperand address;
  ptx::Space space = ptx::Space::generic;
  std::uint32_t stride = kNone; // slot; kNone = packed
  std::uint32_t packed_stride = 0;
  bool row_major = true;
  int element_bits = 16;
  std::uint32_t register_bytes = 4;
  Slots registers;
  std::vector<Piece> pieces;          // of the registers that hold distinct elements
  std::size_t distinct_registers = 0; // later ones repeat them
};

// The rule of wmma: base and rows (columns) are 16-byte aligned, so fragments move in vectors. A
// packed matrix of narrow rows cannot follow it.
bool check_alignment(const Op& op, Warp& warp, const FragmentDetail& detail, int lane,
                     std::uint64_t base, std::uint64_t stride) {
  const bool rows_aligned =
      detail.stride == kNone || stride * static_cast<std::uint64_t>(detail.element_bits) % 128 == 0;
  if (base % 16 == 0 && rows_aligned)
    return true;
  const std::string what = base % 16 != 0 ? "the matrix does not start at a multiple of 16 bytes"
                                          : "the leading dimension " + std::to_string(stride) +
                                                " is not a multiple of 16 bytes";
  warp.raise(FindingKind::misaligned, op, lane, "wmma: " + what);
  return false;
}

// Calls f(piece, address) for every piece; stops when it returns false.
template <class F>
void for_each_piece(const Op& op, Warp& warp, const FragmentDetail& detail, const F& f) {
  std::array<std::uint64_t, kWarpSize> base;
  std::array<std::uint64_t, kWarpSize> stride;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    base[i] = lane_address(warp, detail.address, lane);
    stride[i] = detail.stride == kNone ? detail.packed_stride
                                       : warp.lanes<std::uint32_t>(detail.stride)[lane];
    if (!check_alignment(op, warp, detail, lane, base[i], stride[i]))
      return;
  }
  for (const Piece& piece : detail.pieces) {
    const std::uint64_t line = detail.row_major ? piece.row : piece.column;
    const std::uint64_t along = detail.row_major ? piece.column : piece.row;
    const std::uint64_t elements = line * stride[piece.lane] + along;
    if (!f(piece,
           base[piece.lane] + elements * static_cast<std::uint64_t>(detail.element_bits) / 8))
      return;
  }
}

std::byte* register_bytes(Warp& warp, const FragmentDetail& detail, const Piece& piece) {
  return warp.frame + detail.registers[piece.register_index] + piece.lane * detail.register_bytes +
         piece.byte;
}

void run_load(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& detail = static_cast<const FragmentDetail&>(*op.detail);
  // The base may be one of the registers that are loaded, so addresses are read before.
  for_each_piece(op, warp, detail, [&](const Piece& piece, std::uint64_t address) {
    const Access access{detail.space, AccessKind::load, false, piece.bytes};
    const std::byte* memory = resolve(warp, op, piece.lane, address, access);
    if (memory == nullptr)
      return false;
    std::memcpy(register_bytes(warp, detail, piece), memory, piece.bytes);
    return true;
  });
  for (std::size_t r = detail.distinct_registers; r < detail.registers.size(); ++r)
    std::memcpy(warp.frame + detail.registers[r],
                warp.frame + detail.registers[r % detail.distinct_registers],
                std::size_t{kWarpSize} * detail.register_bytes);
}

void run_store(const Op& op, Warp& warp, LaneMask active) {
  if (!whole_warp(op, warp, active))
    return;
  const auto& detail = static_cast<const FragmentDetail&>(*op.detail);
  for_each_piece(op, warp, detail, [&](const Piece& piece, std::uint64_t address) {
    const Access access{detail.space, AccessKind::store, false, piece.bytes};
    const std::byte* value = register_bytes(warp, detail, piece);
    std::byte* memory = resolve(warp, op, piece.lane, address, access, value);
    if (memory == nullptr)
      return false;
    std::memcpy(memory, value, piece.bytes);
    return true;
  });
}

enum class Role : std::uint8_t { a, b, accumulator };

// Elements of one register lie along k (A, B) or along a row (C, D): one access when memory does
// too, else one for each element.
std::vector<Piece> pieces_of(const MatrixShape& shape, Role role, bool row_major, int bits,
                             int per_register, int registers) {
  std::vector<Piece> pieces;
  const bool along_row = role != Role::b;
  const bool contiguous = along_row == row_major || per_register == 1;
  const int step_bytes = contiguous ? per_register * bits / 8 : bits / 8;
  const int steps = contiguous ? 1 : per_register;
  for (int lane = 0; lane < kWarpSize; ++lane)
    for (int r = 0; r < registers; ++r) {
      MatrixPosition at;
      if (role == Role::a) {
        at = position_in_a(shape, per_register, lane, r);
      } else if (role == Role::b) {
        at = position_in_b(shape, per_register, lane, r);
      } else {
        const int element = r * per_register;
        at = position_in_c(shape, lane, element / 2);
        at.column += element % 2;
      }
      for (int i = 0; i < steps; ++i)
        pieces.push_back({static_cast<std::uint8_t>(lane), static_cast<std::uint8_t>(r),
                          static_cast<std::uint8_t>(i * step_bytes),
                          static_cast<std::uint8_t>(step_bytes),
                          static_cast<std::uint16_t>(at.row + (along_row ? 0 : i)),
                          static_cast<std::uint16_t>(at.column + (along_row ? i : 0))});
    }
  return pieces;
}

Result<void> lower_fragment(Lowering& lowering, const ptx::Instruction& instruction, bool load) {
  const auto shape = matrix_shape(instruction);
  const Type type = instruction.type();
  const int bits = ptx::bits_of(type);
  const auto& operands = instruction.operands;
  if (!shape || bits == 0 || operands.size() < 2)
    return tl::unexpected<Error>(
        lowering.unsupported(instruction, "shape, type or operands are missing"));
  const Role role = instruction.has(Mod::matrix_a)   ? Role::a
                    : instruction.has(Mod::matrix_b) ? Role::b
                                                     : Role::accumulator;
  const bool row_major = !instruction.has(Mod::col);
  // Sub-byte matrices exist only with k along memory, so a register is one access.
  if (bits < 8 && (role == Role::accumulator || row_major != (role == Role::a)))
    return tl::unexpected<Error>(lowering.unsupported(
        instruction, "matrices of s4, u4 and b1 must be row-major for a and column-major for b"));

  auto detail = std::make_unique<FragmentDetail>();
  detail->space = instruction.space;
  detail->row_major = row_major;
  detail->element_bits = bits;
  detail->register_bytes = bits == 64 ? 8 : 4;
  const int per_register = bits >= 32 ? 1 : 32 / bits;
  const int distinct = role == Role::a   ? registers_of_a(*shape, per_register)
                       : role == Role::b ? registers_of_b(*shape, per_register)
                                         : elements_of_c(*shape) / per_register;
  const int lines[] = {role == Role::b ? shape->k : shape->m,
                       role == Role::a ? shape->k : shape->n};
  detail->packed_stride = static_cast<std::uint32_t>(row_major ? lines[1] : lines[0]);

  const Type register_type = bits == 64 ? Type::f64 : Type::b32;
  const ptx::Operand& fragment = operands[load ? 0 : 1];
  KERNEVO_TRY(registers, load ? matrix_destinations(lowering, instruction, fragment, register_type)
                              : matrix_sources(lowering, instruction, fragment, register_type));
  detail->registers = std::move(registers);
  const bool padded = type == Type::f16 && role != Role::accumulator;
  const std::size_t wanted = padded ? 8 : static_cast<std::size_t>(distinct);
  if (detail->registers.size() != wanted)
    return tl::unexpected<Error>(lowering.unsupported(
        instruction, "the fragment takes " + std::to_string(wanted) + " registers, not " +
                         std::to_string(detail->registers.size())));
  detail->distinct_registers = static_cast<std::size_t>(distinct);
  detail->pieces = pieces_of(*shape, role, row_major, bits, per_register, distinct);
  KERNEVO_TRY(address, lower_address(lowering, instruction, operands[load ? 1 : 0]));
  detail->address = address;
  if (operands.size() > 2) {
    KERNEVO_TRY(stride, lowering.source(instruction, operands[2], Type::u32));
    detail->stride = stride;
  }
  lowering.emit(load ? run_load : run_store, OpKind::warp_sync).detail =
      lowering.keep(std::move(detail));
  return {};
}

} // namespace

Result<void> lower_wmma_load(Lowering& lowering, const ptx::Instruction& instruction) {
  return lower_fragment(lowering, instruction, true);
}

Result<void> lower_wmma_store(Lowering& lowering, const ptx::Instruction& instruction) {
  return lower_fragment(lowering, instruction, false);
}

} // namespace kernevo::vgpu::ops
