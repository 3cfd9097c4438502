#include "kernevo/jit/emit/control_writer.h"

#include <cstddef>
#include <string>

namespace kernevo::jit {

using vgpu::CompiledContext;

llvm::BasicBlock* ControlWriter::segment_at(std::uint32_t instruction) {
  auto& block = segments_[instruction];
  if (block == nullptr)
    block = llvm::BasicBlock::Create(context_, "at" + std::to_string(instruction), function_);
  return block;
}

llvm::BasicBlock* ControlWriter::exit_block(std::uint32_t instruction) {
  const std::uint32_t number = plan_.exit[instruction];
  auto& block = exits_[number];
  if (block == nullptr)
    block = llvm::BasicBlock::Create(context_, "exit" + std::to_string(number), function_);
  return block;
}

void ControlWriter::flush_count() {
  if (pending_ == 0)
    return;
  Value* place = executed();
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place), i64(pending_)), place);
  pending_ = 0;
}

void ControlWriter::begin_segment(std::uint32_t instruction) {
  llvm::BasicBlock* block = segment_at(instruction);
  if (reachable_) {
    flush_count();
    b_.CreateBr(block);
  }
  pending_ = 0;
  note_segment();
  b_.SetInsertPoint(block);
  reachable_ = true;
  const auto count = static_cast<std::uint32_t>(source_.instructions.size());
  if (instruction >= count)
    return;
  const std::uint32_t owner = plan_.flow.block_of[instruction];
  if (plan_.flow.blocks[owner].first != instruction)
    return;
  if (!job_.full)
    leave_unless(b_.CreateICmpUGT(limit_, i32(code_.order[code_.first_op[instruction]])),
                 instruction);
}

// Part of a warp may stand before or after an instruction that waits for others, so those are
// places where it meets the lanes that run.
void ControlWriter::respect_limit(std::uint32_t instruction) {
  if (job_.full || ops_of(instruction) == 0)
    return;
  leave_unless(
      b_.CreateICmpUGT(limit_, i32(code_.order[code_.first_op[instruction]] + ops_of(instruction))),
      instruction);
}

// Where a taken branch leads: by way of a look at the deadline when it goes back.
llvm::BasicBlock* ControlWriter::way_to_target(std::uint32_t instruction) {
  const std::uint32_t target = target_of(instruction);
  if (!goes_back(code_, instruction))
    return segment_at(target);
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  llvm::BasicBlock* back = new_block("back");
  llvm::BasicBlock* due = new_block("due");
  b_.SetInsertPoint(due);
  b_.CreateStore(i32(1), b_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_,
                                               offsetof(CompiledContext, look_due)));
  b_.CreateBr(exit_block(target));
  b_.SetInsertPoint(back);
  Value* deadline =
      b_.CreateLoad(b_.getInt64Ty(),
                    b_.CreateConstGEP1_64(b_.getInt8Ty(), warp_, offsetof(vgpu::Warp, deadline)));
  auto* branch =
      b_.CreateCondBr(b_.CreateICmpULT(b_.CreateLoad(b_.getInt64Ty(), executed()), deadline),
                      segment_at(target), due);
  branch->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(context_).createBranchWeights(1000, 1));
  return back;
}

// The count so far must be in executed() when an exit is taken.
void ControlWriter::leave_unless(Value* condition, std::uint32_t instruction) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known && known->isOne())
    return;
  flush_count();
  llvm::BasicBlock* stay = new_block("stay");
  auto* branch = b_.CreateCondBr(condition, stay, exit_block(instruction));
  branch->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(context_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(stay);
}

void ControlWriter::count_instruction(std::uint32_t instruction) {
  const std::uint32_t ops = ops_of(instruction);
  pending_ += ops;
  if (guard_mask_ == nullptr || ops == 0)
    return;
  Value* missing = nullptr;
  if (guard_flag_ != nullptr)
    missing = b_.CreateSelect(guard_flag_, i64(0), width_);
  else
    missing = b_.CreateSub(
        width_,
        b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, active()), b_.getInt64Ty()));
  if (ops > 1)
    missing = b_.CreateMul(missing, i64(ops));
  Value* place = idle();
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place), missing), place);
}

void ControlWriter::emit_branch(std::uint32_t instruction) {
  if (guard_mask_ == nullptr) {
    count_instruction(instruction);
    flush_count();
    b_.CreateBr(way_to_target(instruction));
    reachable_ = false;
    return;
  }
  if (guard_flag_ != nullptr) {
    count_instruction(instruction);
    flush_count();
    llvm::BasicBlock* next = segment_at(instruction + 1);
    b_.CreateCondBr(guard_flag_, way_to_target(instruction), next);
    reachable_ = false;
    return;
  }
  flush_count();
  Value* taken = active();
  llvm::BasicBlock* all = new_block("all");
  llvm::BasicBlock* some = new_block("some");
  llvm::BasicBlock* none = new_block("none");
  b_.CreateCondBr(b_.CreateICmpEQ(taken, mask_), all, some);
  b_.SetInsertPoint(some);
  b_.CreateCondBr(b_.CreateICmpEQ(taken, i32(0)), none, exit_block(instruction));
  b_.SetInsertPoint(all);
  pending_ = ops_of(instruction);
  flush_count();
  b_.CreateBr(way_to_target(instruction));
  b_.SetInsertPoint(none);
  pending_ = ops_of(instruction);
  Value* place = idle();
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place), width_), place);
  flush_count();
  b_.CreateBr(segment_at(instruction + 1));
  reachable_ = false;
}

void ControlWriter::emit_leave(std::uint32_t instruction) {
  flush_count();
  if (guard_mask_ == nullptr) {
    b_.CreateBr(exit_block(instruction));
    reachable_ = false;
    return;
  }
  leave_unless(b_.CreateICmpEQ(active(), i32(0)), instruction);
  count_instruction(instruction);
}

void ControlWriter::emit_barrier(std::uint32_t instruction) {
  flush_count();
  if (!job_.full) {
    b_.CreateBr(exit_block(instruction));
    reachable_ = false;
    return;
  }
  count_instruction(instruction);
  flush_count();
  publish_counts();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty()}, false);
  Value* function = b_.CreateLoad(
      b_.getPtrTy(),
      b_.CreateConstGEP1_64(b_.getInt8Ty(), services_, offsetof(vgpu::CompiledServices, barrier)));
  b_.CreateCall(type, function, {context_pointer_, i32(code_.first_op[instruction])});
}

// A warp-level instruction acts once the lanes it names have met; if they have not, the
// interpreter sorts it out.
void ControlWriter::require_lanes(std::uint32_t instruction) {
  const ptx::Operand* members = member_mask(code_, instruction);
  if (members != nullptr && !is_uniform(*members)) {
    emit_leave(instruction);
    reachable_ = false;
    return;
  }
  if (guard_mask_ != nullptr)
    leave_unless(b_.CreateICmpEQ(active(), mask_), instruction);
  if (job_.full) {
    if (members == nullptr)
      return;
    Value* named = scalar(*members, ptx::Type::u32);
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(named); known && known->isMinusOne())
      return;
    leave_unless(b_.CreateICmpEQ(named, mask_), instruction);
    return;
  }
  Value* live = b_.CreateLoad(
      b_.getInt32Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), warp_, offsetof(vgpu::Warp, live)));
  Value* wanted = members == nullptr ? live : b_.CreateAnd(scalar(*members, ptx::Type::u32), live);
  leave_unless(b_.CreateICmpEQ(wanted, mask_), instruction);
}

} // namespace kernevo::jit
