#include "kernevo/jit/emit/handler_writer.h"

#include <cstddef>

namespace kernevo::jit {

void HandlerWriter::emit_handler(std::uint32_t instruction) {
  llvm::BasicBlock* done = nullptr;
  if (guard_mask_ != nullptr) {
    done = new_block("done");
    llvm::BasicBlock* some = new_block("some");
    b_.CreateCondBr(b_.CreateICmpEQ(active(), i32(0)), done, some);
    b_.SetInsertPoint(some);
  }
  set_certain(done == nullptr);
  call_handlers(instruction);
  set_certain(true);
  if (done != nullptr) {
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
}

// Runs every op of the instruction on the frame, as the interpreter would.
void HandlerWriter::call_handlers(std::uint32_t instruction) {
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
  if (!may_fault(instruction)) {
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

llvm::BasicBlock* HandlerWriter::fault_block() {
  if (fault_ == nullptr) {
    fault_ = new_block("fault");
    llvm::IRBuilder<> end(fault_);
    end.CreateRet(end.getInt32(vgpu::kCompiledFault));
  }
  return fault_;
}

} // namespace kernevo::jit
