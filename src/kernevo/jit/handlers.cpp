// Instructions left to the interpreter's handlers, and those that exchange values between lanes.
#include "kernevo/jit/emitter.h"
#include "kernevo/vgpu/semantics/warp_exchange.h"

#include <algorithm>
#include <cstddef>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

llvm::AllocaInst* Emitter::stack(llvm::Type* type, const char* name) {
  auto* slot = prologue_.CreateAlloca(type, nullptr, name);
  slot->setAlignment(std::max(llvm::Align(64), slot->getAlign())); // as loads of it assume
  return slot;
}

void Emitter::emit_handler(std::uint32_t instruction) {
  llvm::BasicBlock* done = nullptr;
  if (guard_mask_ != nullptr) {
    done = new_block("done");
    llvm::BasicBlock* some = new_block("some");
    b_.CreateCondBr(b_.CreateICmpEQ(active(), i32(0)), done, some);
    b_.SetInsertPoint(some);
  }
  certain_ = done == nullptr;
  call_handlers(instruction);
  certain_ = true;
  if (done != nullptr) {
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
}

// Runs every op of the instruction on the frame, as the interpreter would.
void Emitter::call_handlers(std::uint32_t instruction) {
  const auto& effects = plan_.liveness.effects[instruction];
  for (const ptx::RegisterId reg : effects.reads)
    store_for_handler(reg);
  // Lanes that a guard keeps from being written are read back as they were. Without one the old
  // value must not be mentioned: it would live on from the start of the function.
  if (guard_mask_ != nullptr || effects.partial)
    for (const ptx::RegisterId reg : effects.writes)
      store_for_handler(reg);
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()}, false);
  Value* lanes = active();
  for (std::uint32_t op = code_.first_op[instruction]; op < code_.first_op[instruction + 1]; ++op) {
    Value* place = b_.CreateConstGEP1_64(b_.getInt8Ty(), ops_, op * sizeof(vgpu::Op));
    Value* handler = b_.CreateLoad(
        b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getInt8Ty(), place, offsetof(vgpu::Op, handler)));
    b_.CreateCall(type, handler, {place, warp_, lanes});
  }
  if (plan_.light && plan_.treatment[instruction] == Treatment::inlined &&
      first_op(instruction).kind == vgpu::OpKind::compute) {
    for (const ptx::RegisterId reg : effects.writes)
      reload_from_handler(reg);
    return;
  }
  Value* faulted = b_.CreateLoad(
      b_.getInt8Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), warp_, offsetof(vgpu::Warp, faulted)));
  llvm::BasicBlock* fault = fault_block();
  llvm::BasicBlock* fine = new_block("fine");
  auto* branch = b_.CreateCondBr(b_.CreateICmpEQ(faulted, b_.getInt8(0)), fine, fault);
  branch->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(context_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(fine);
  for (const ptx::RegisterId reg : effects.writes)
    reload_from_handler(reg);
}

llvm::BasicBlock* Emitter::fault_block() {
  if (fault_ == nullptr) {
    fault_ = new_block("fault");
    llvm::IRBuilder<> end(fault_);
    end.CreateRet(end.getInt32(vgpu::kCompiledFault));
  }
  return fault_;
}

void Emitter::emit_exchange(const Instruction& at, std::uint32_t instruction) {
  if (at.opcode == Opcode::bar_warp_sync)
    return;
  if (at.opcode == Opcode::shfl) {
    if (plan_.light && !job_.full) {
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
    else if (plan_.light)
      write_lanes(reg, votes);
    else
      write_vector(reg, b_.CreateVectorSplat(kLanes, votes));
    return;
  }
  write_predicate(at.operands[0], at.has(Mod::any) ? b_.CreateICmpNE(votes, i32(0))
                                                   : b_.CreateICmpEQ(votes, mask_));
}

void Emitter::emit_shuffle(const Instruction& at) {
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
    } else if (plan_.light) {
      emit_light_shuffle(at, pick);
    } else {
      Value* values = vector(at.operands[1], Type::b32);
      Value* moved = b_.CreateShuffleVector(values, pick);
      if (!job_.full) {
        // A source lane that does not run: the reading lane keeps its own value.
        Value* runs = b_.CreateShuffleVector(lanes_of_mask(mask_), pick);
        moved = b_.CreateSelect(runs, moved, values);
      }
      write_vector(result.reg, moved);
    }
  }
  if (pair)
    write_predicate(destination.elements[1], i32(in_range));
}

} // namespace kernevo::jit
