#include "kernevo/jit/emit/emitter.h"

namespace kernevo::jit {

std::unique_ptr<llvm::Module> Emitter::run() {
  begin_function();
  load_context();
  prepare();
  const auto count = static_cast<std::uint32_t>(source_.instructions.size());
  for (const auto& block : plan_.flow.blocks)
    if (block.first < count)
      segment_at(block.first);
  for (std::uint32_t i = 0; i < count; ++i)
    if (plan_.entry[i] != kNone || starts_segment(i))
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
    emit_inlined(at, instruction);
    break;
  }
  if (reachable_)
    note_result(instruction);
  count_instruction(instruction);
}

void Emitter::emit_inlined(const ptx::Instruction& at, std::uint32_t instruction) {
  if (at.opcode == ptx::Opcode::ld || at.opcode == ptx::Opcode::st)
    emit_memory(at, instruction);
  else
    emit_arithmetic(at, instruction);
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
    dispatch->addCase(b_.getInt32(number), entry_block(i));
  }
}

} // namespace kernevo::jit
