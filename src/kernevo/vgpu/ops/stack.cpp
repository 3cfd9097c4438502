// alloca, stacksave, stackrestore. The lanes of a frame share one height of the stack: an
// allocation is as large as the largest any of them asks for.
#include "kernevo/vgpu/execute/block.h"
#include "kernevo/vgpu/execute/frames.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/ops/emit.h"

#include <algorithm>
#include <array>
#include <bit>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

std::uint64_t read(const Op& op, Warp& warp, int lane) {
  return op.b == 8 ? warp.lanes<std::uint64_t>(op.a)[lane] : warp.lanes<std::uint32_t>(op.a)[lane];
}

void write(const Op& op, Warp& warp, LaneMask active, std::uint64_t value) {
  for_each_lane(active, [&](int lane) {
    if (op.b == 8)
      warp.lanes<std::uint64_t>(op.d)[lane] = value;
    else
      warp.lanes<std::uint32_t>(op.d)[lane] = static_cast<std::uint32_t>(value);
  });
}

void run_alloca(const Op& op, Warp& warp, LaneMask active) {
  std::uint64_t bytes = 0;
  int largest = std::countr_zero(active);
  for_each_lane(active, [&](int lane) {
    if (read(op, warp, lane) > bytes) {
      bytes = read(op, warp, lane);
      largest = lane;
    }
  });
  const std::uint32_t start =
      extend_frame(state_of(warp), op, largest, bytes, static_cast<std::uint64_t>(op.immediate));
  if (start != kNone)
    write(op, warp, active, start);
}

void run_save(const Op& op, Warp& warp, LaneMask active) {
  write(op, warp, active, state_of(warp).current->dynamic_bytes);
}

void run_restore(const Op& op, Warp& warp, LaneMask active) {
  Frame& frame = *state_of(warp).current;
  // What others of the frame may still use stays until they are here too.
  if ((frame.lanes & ~active) != 0)
    return;
  std::uint64_t height = 0;
  for_each_lane(active, [&](int lane) { height = std::max(height, read(op, warp, lane)); });
  if (height <= frame.dynamic_bytes)
    frame.dynamic_bytes = static_cast<std::uint32_t>(height);
}

Result<void> lower_alloca(Lowering& lowering, const Instruction& instruction) {
  constexpr std::uint64_t usual_alignment = 8;
  constexpr std::uint64_t most_alignment = 128;
  std::uint64_t alignment = usual_alignment;
  if (instruction.operands.size() > 2)
    alignment = instruction.operands[2].bits;
  if (!std::has_single_bit(alignment) || alignment > most_alignment)
    return tl::unexpected(
        lowering.unsupported(instruction, "the alignment must be a power of two of at most 128"));
  KERNEVO_TRY(size, lowering.source(instruction, instruction.operands.at(1), instruction.type()));
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], instruction.type()));
  Op& op = lowering.emit(run_alloca, OpKind::memory);
  op.d = d;
  op.a = size;
  op.b = static_cast<std::uint32_t>(ptx::bytes_of(instruction.type()));
  op.immediate = static_cast<std::int64_t>(alignment);
  return {};
}

Result<void> lower_save(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands.at(0), instruction.type()));
  Op& op = lowering.emit(run_save, OpKind::memory);
  op.d = d;
  op.b = static_cast<std::uint32_t>(ptx::bytes_of(instruction.type()));
  return {};
}

Result<void> lower_restore(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands.at(0), instruction.type()));
  Op& op = lowering.emit(run_restore, OpKind::memory);
  op.a = a;
  op.b = static_cast<std::uint32_t>(ptx::bytes_of(instruction.type()));
  return {};
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::alloca_, lower_alloca},
    FamilyEntry{Opcode::stacksave, lower_save},
    FamilyEntry{Opcode::stackrestore, lower_restore},
};

} // namespace

std::span<const FamilyEntry> stack_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
