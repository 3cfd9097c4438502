// Instructions that exchange values between lanes.
#include "kernevo/jit/emit/handler_writer.h"

#include "kernevo/vgpu/semantics/warp_exchange.h"

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void HandlerWriter::emit_exchange(const Instruction& at, std::uint32_t instruction) {
  if (at.opcode == Opcode::bar_warp_sync)
    return;
  if (at.opcode == Opcode::shfl) {
    if (!shuffles_here()) {
      emit_handler(instruction);
      return;
    }
    emit_shuffle(at);
    return;
  }
  Value* votes = b_.CreateAnd(mask(at.operands[1]), mask_);
  if (at.has(Mod::ballot)) {
    const ptx::RegisterId reg = at.operands[0].reg;
    if (plan_.home[reg] == Home::scalar)
      write_scalar(reg, 0, votes);
    else
      write_to_all(reg, votes);
    return;
  }
  write_predicate(at.operands[0], at.has(Mod::any) ? b_.CreateICmpNE(votes, i32(0))
                                                   : b_.CreateICmpEQ(votes, mask_));
}

void HandlerWriter::emit_shuffle(const Instruction& at) {
  using vgpu::ShuffleMode;
  const ShuffleMode mode = at.has(Mod::up)     ? ShuffleMode::up
                           : at.has(Mod::down) ? ShuffleMode::down
                           : at.has(Mod::bfly) ? ShuffleMode::butterfly
                                               : ShuffleMode::index;
  const auto distance = static_cast<std::uint32_t>(at.operands[2].bits);
  const auto clamp = static_cast<std::uint32_t>(at.operands[3].bits);
  std::vector<int> pick;
  std::uint32_t in_range = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto source = vgpu::shuffle_source(mode, static_cast<int>(lane), distance, clamp);
    pick.push_back(source.lane);
    if (source.in_range)
      in_range |= 1U << lane;
  }
  const Operand& destination = at.operands[0];
  const bool pair = destination.kind == Operand::Kind::pair;
  const Operand& result = pair ? destination.elements[0] : destination;
  if (result.kind == Operand::Kind::reg) {
    if (plan_.home[result.reg] == Home::scalar) {
      write_scalar(result.reg, 0, scalar(at.operands[1], Type::b32));
    } else {
      shuffle_lanes(at, result.reg, pick);
    }
  }
  if (pair)
    write_predicate(destination.elements[1], i32(in_range));
}

} // namespace kernevo::jit
