// Blocks, entries and exits.
#include "kernevo/jit/emitter.h"

#include <cstddef>

namespace kernevo::jit {

using vgpu::CompiledContext;

namespace {

// Light code starts a new block after so many instructions: one that the fast instruction selector
// cannot do leaves everything before it in the block to the slow one.
constexpr std::uint32_t kStretch = 64;

} // namespace

Emitter::Emitter(llvm::LLVMContext& context, const vgpu::CompileJob& job, const Plan& plan)
    : job_(job), plan_(plan), code_(job.program->codes[job.function]), source_(*code_.function),
      context_(context), module_(std::make_unique<llvm::Module>(source_.name, context)),
      b_(context), prologue_(context) {}

std::unique_ptr<llvm::Module> Emitter::run() {
  begin_function();
  load_context();
  make_homes();
  find_canonical_registers();
  find_eager_registers();
  const auto count = static_cast<std::uint32_t>(source_.instructions.size());
  for (const auto& block : plan_.flow.blocks)
    if (block.first < count)
      segment_at(block.first);
  for (std::uint32_t i = 0; i < count; ++i)
    if (plan_.entry[i] != kNone || (plan_.light && i % kStretch == 0))
      segment_at(i);
  reachable_ = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (segments_.contains(i))
      begin_segment(i);
    if (reachable_)
      emit_instruction(i);
  }
  begin_segment(count);
  flush_count();
  b_.CreateBr(exit_block(count));
  emit_entries();
  for (std::uint32_t number = 0; number < plan_.exits.size(); ++number)
    if (exits_.contains(number))
      emit_exit(number);
  return std::move(module_);
}

void Emitter::begin_function() {
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getInt32Ty()}, false);
  function_ =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, kKernelSymbol, *module_);
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  context_pointer_ = function_->getArg(0);
  prologue_block_ = llvm::BasicBlock::Create(context_, "prologue", function_);
  prologue_.SetInsertPoint(prologue_block_);
}

Value* Emitter::field(std::size_t offset, llvm::Type* type, const char* name) {
  return prologue_.CreateLoad(
      type, prologue_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_, offset), name);
}

void Emitter::load_context() {
  auto* pointer = b_.getPtrTy();
  auto* word = b_.getInt64Ty();
  frame_ = field(offsetof(CompiledContext, frame), pointer, "frame");
  warp_ = field(offsetof(CompiledContext, warp), pointer, "warp");
  ops_ = field(offsetof(CompiledContext, ops), pointer, "ops");
  shared_ = field(offsetof(CompiledContext, shared), pointer, "shared");
  shared_bytes_ = field(offsetof(CompiledContext, shared_bytes), word, "shared_bytes");
  parameters_ = field(offsetof(CompiledContext, parameters), pointer, "parameters");
  hits_ = field(offsetof(CompiledContext, hits), pointer, "hits");
  scalars_ = field(offsetof(CompiledContext, scalars), pointer, "scalars");
  services_ = field(offsetof(CompiledContext, services), pointer, "services");
  counters_ = field(offsetof(CompiledContext, counters), pointer, "counters");
  if (job_.full) {
    mask_ = b_.getInt32(vgpu::kAllLanes);
    width_ = b_.getInt64(kLanes);
  } else {
    mask_ = field(offsetof(CompiledContext, mask), b_.getInt32Ty(), "mask");
    limit_ = field(offsetof(CompiledContext, limit), b_.getInt32Ty(), "limit");
    width_ = prologue_.CreateZExt(prologue_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask_),
                                  word, "width");
  }
  if (plan_.light)
    return;
  executed_ = prologue_.CreateAlloca(word, nullptr, "executed");
  idle_ = prologue_.CreateAlloca(word, nullptr, "idle");
  prologue_.CreateStore(field(offsetof(CompiledContext, executed), word, "executed_before"),
                        executed_);
  prologue_.CreateStore(prologue_.getInt64(0), idle_);
}

llvm::BasicBlock* Emitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, function_);
}

llvm::BasicBlock* Emitter::segment_at(std::uint32_t instruction) {
  auto& block = segments_[instruction];
  if (block == nullptr)
    block = llvm::BasicBlock::Create(context_, "at" + std::to_string(instruction), function_);
  return block;
}

llvm::BasicBlock* Emitter::exit_block(std::uint32_t instruction) {
  const std::uint32_t number = plan_.exit[instruction];
  auto& block = exits_[number];
  if (block == nullptr)
    block = llvm::BasicBlock::Create(context_, "exit" + std::to_string(number), function_);
  return block;
}

std::uint32_t Emitter::ops_of(std::uint32_t instruction) const {
  return code_.first_op[instruction + 1] - code_.first_op[instruction];
}

std::uint32_t Emitter::target_of(std::uint32_t instruction) const {
  const std::uint32_t op = code_.ops[code_.first_op[instruction + 1] - 1].target;
  const auto count = static_cast<std::uint32_t>(source_.instructions.size());
  return op >= code_.first_op[count] ? count : code_.ops[op].instruction;
}

// Light code counts where the caller looks.
Value* Emitter::executed() {
  return plan_.light ? b_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_,
                                             offsetof(CompiledContext, executed))
                     : static_cast<Value*>(executed_);
}

Value* Emitter::idle() {
  return plan_.light ? b_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_,
                                             offsetof(CompiledContext, idle))
                     : static_cast<Value*>(idle_);
}

void Emitter::flush_count() {
  if (pending_ == 0)
    return;
  Value* place = executed();
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place), i64(pending_)), place);
  pending_ = 0;
}

void Emitter::begin_segment(std::uint32_t instruction) {
  llvm::BasicBlock* block = segment_at(instruction);
  if (reachable_) {
    flush_count();
    b_.CreateBr(block);
  }
  pending_ = 0;
  expanded_.clear();
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
void Emitter::respect_limit(std::uint32_t instruction) {
  if (job_.full || ops_of(instruction) == 0)
    return;
  leave_unless(
      b_.CreateICmpUGT(limit_, i32(code_.order[code_.first_op[instruction]] + ops_of(instruction))),
      instruction);
}

// Where a taken branch leads: by way of a look at the deadline when it goes back.
llvm::BasicBlock* Emitter::way_to_target(std::uint32_t instruction) {
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

// The count so far must be in executed_ when an exit is taken.
void Emitter::leave_unless(Value* condition, std::uint32_t instruction) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition); known && known->isOne())
    return;
  flush_count();
  llvm::BasicBlock* stay = new_block("stay");
  auto* branch = b_.CreateCondBr(condition, stay, exit_block(instruction));
  branch->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(context_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(stay);
}

Value* Emitter::active() {
  return guard_mask_ == nullptr ? mask_ : b_.CreateAnd(guard_mask_, mask_);
}

void Emitter::count_instruction(std::uint32_t instruction) {
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

void Emitter::emit_instruction(std::uint32_t instruction) {
  const ptx::Instruction& at = source_.instructions[instruction];
  guard_mask_ = nullptr;
  guard_flag_ = nullptr;
  if (at.guard) {
    ptx::Operand guard;
    guard.kind = ptx::Operand::Kind::reg;
    guard.reg = at.guard->reg;
    guard.negated = at.guard->negated;
    if (is_flag(guard))
      guard_flag_ = flag(guard);
    guard_mask_ = guard_flag_ != nullptr ? mask_of_flag(guard_flag_) : mask(guard);
  }
  if (may_stand_at(plan_.treatment[instruction]))
    respect_limit(instruction);
  switch (plan_.treatment[instruction]) {
  case Treatment::branch: emit_branch(instruction); return;
  case Treatment::leave: emit_leave(instruction); return;
  case Treatment::barrier: emit_barrier(instruction); return;
  case Treatment::warp:
    require_lanes(instruction);
    if (reachable_)
      emit_handler(instruction);
    break;
  case Treatment::exchange:
    require_lanes(instruction);
    if (reachable_)
      emit_exchange(at, instruction);
    break;
  case Treatment::handler: emit_handler(instruction); break;
  case Treatment::inlined:
    if (ops_of(instruction) == 0)
      return;
    if (plan_.light && is_called(instruction))
      emit_called(at, instruction);
    else if (at.opcode == ptx::Opcode::ld || at.opcode == ptx::Opcode::st)
      emit_memory(at, instruction);
    else
      emit_arithmetic(at, instruction);
    break;
  }
  if (plan_.light && reachable_)
    expand_eager(instruction);
  count_instruction(instruction);
}

void Emitter::expand_eager(std::uint32_t instruction) {
  defining_ = true;
  for (const ptx::RegisterId reg : plan_.liveness.effects[instruction].writes)
    if (eager_[reg])
      expand_into_frame(reg);
  defining_ = false;
}

void Emitter::emit_branch(std::uint32_t instruction) {
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

void Emitter::emit_leave(std::uint32_t instruction) {
  flush_count();
  if (guard_mask_ == nullptr) {
    b_.CreateBr(exit_block(instruction));
    reachable_ = false;
    return;
  }
  leave_unless(b_.CreateICmpEQ(active(), i32(0)), instruction);
  count_instruction(instruction);
}

void Emitter::emit_barrier(std::uint32_t instruction) {
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
void Emitter::require_lanes(std::uint32_t instruction) {
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

void Emitter::emit_entries() {
  llvm::BasicBlock* nowhere = new_block("nowhere");
  llvm::IRBuilder<> bad(nowhere);
  bad.CreateUnreachable();
  auto* dispatch = prologue_.CreateSwitch(function_->getArg(1), nowhere,
                                          static_cast<unsigned>(plan_.entries.size()));
  for (std::uint32_t i = 0; i < source_.instructions.size(); ++i) {
    const std::uint32_t number = plan_.entry[i];
    if (number == kNone)
      continue;
    if (plan_.light) {
      dispatch->addCase(b_.getInt32(number), segment_at(i));
      continue;
    }
    llvm::BasicBlock* stub = new_block("entry");
    b_.SetInsertPoint(stub);
    for (const vgpu::CompiledRegister& item : plan_.entries[number].live)
      load_at_entry(item);
    b_.CreateBr(segment_at(i));
    dispatch->addCase(b_.getInt32(number), stub);
  }
}

void Emitter::emit_exit(std::uint32_t number) {
  b_.SetInsertPoint(exits_[number]);
  if (plan_.light) {
    if (left_ == nullptr) {
      llvm::IRBuilder<> end(new_block("left"));
      left_ = end.CreatePHI(b_.getInt32Ty(), static_cast<unsigned>(plan_.exits.size()));
      end.CreateRet(left_);
    }
    left_->addIncoming(b_.getInt32(number), exits_[number]);
    b_.CreateBr(left_->getParent());
    return;
  }
  for (const vgpu::CompiledRegister& item : plan_.exits[number].live)
    store_at_exit(item);
  publish_counts();
  b_.CreateRet(b_.getInt32(number));
}

void Emitter::publish_counts() {
  if (plan_.light)
    return;
  auto put = [&](std::size_t offset, llvm::AllocaInst* from) {
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), from),
                   b_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_, offset));
  };
  put(offsetof(CompiledContext, executed), executed_);
  put(offsetof(CompiledContext, idle), idle_);
}

std::unique_ptr<llvm::Module> emit(llvm::LLVMContext& context, const vgpu::CompileJob& job,
                                   const Plan& plan) {
  return Emitter(context, job, plan).run();
}

} // namespace kernevo::jit
