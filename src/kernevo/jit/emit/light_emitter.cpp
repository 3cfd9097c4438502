#include "kernevo/jit/emit/light_emitter.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using vgpu::CompiledContext;

namespace {

// A new block after so many instructions: one that the fast instruction selector cannot do leaves
// everything before it in the block to the slow one.
constexpr std::uint32_t kStretch = 64;

} // namespace

void LightEmitter::prepare() {
  find_eager_registers();
}

bool LightEmitter::starts_segment(std::uint32_t instruction) const {
  return instruction % kStretch == 0;
}

// An address that lives on costs more than its addition: it is made anew at every use.
Value* LightEmitter::home(ptx::RegisterId reg, unsigned index) {
  if (plan_.home[reg] == Home::mask)
    return in_frame(code_.register_slots[reg]);
  return b_.CreateConstGEP1_64(b_.getInt64Ty(), scalars_, plan_.scalar_of[reg] + index);
}

Value* LightEmitter::varying_lane(ptx::RegisterId reg, unsigned lane) {
  const ptx::Type type = source_.registers[reg].type;
  return b_.CreateLoad(
      element(type),
      in_frame(code_.register_slots[reg] + lane * static_cast<std::uint32_t>(ptx::bytes_of(type))));
}

void LightEmitter::put_lanes_in_frame(const Operand& operand, Value* /*slot*/) {
  expand_into_frame(operand.reg);
}

Value* LightEmitter::executed() {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_,
                               offsetof(CompiledContext, executed));
}

Value* LightEmitter::idle() {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_, offsetof(CompiledContext, idle));
}

void LightEmitter::emit_inlined(const Instruction& at, std::uint32_t instruction) {
  if (is_called(instruction))
    emit_called(at, instruction);
  else
    Emitter::emit_inlined(at, instruction);
}

void LightEmitter::note_result(std::uint32_t instruction) {
  defining_ = true;
  for (const ptx::RegisterId reg : plan_.liveness.effects[instruction].writes)
    if (eager_[reg])
      expand_into_frame(reg);
  defining_ = false;
}

void LightEmitter::emit_exit(std::uint32_t number) {
  b_.SetInsertPoint(exits_[number]);
  if (left_ == nullptr) {
    llvm::IRBuilder<> end(new_block("left"));
    left_ = end.CreatePHI(b_.getInt32Ty(), static_cast<unsigned>(plan_.exits.size()));
    end.CreateRet(left_);
  }
  left_->addIncoming(b_.getInt32(number), exits_[number]);
  b_.CreateBr(left_->getParent());
}

bool LightEmitter::may_fault(std::uint32_t instruction) const {
  return plan_.treatment[instruction] != Treatment::inlined ||
         first_op(instruction).kind != vgpu::OpKind::compute;
}

// Light code calls what a C++ compiler made: it expects 8 and 16 bits extended.
void LightEmitter::finish_call(llvm::CallInst& call, const LaneFunction& function) {
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (const llvm::Type* type = call.getArgOperand(i)->getType();
        type->isIntegerTy() && type->getIntegerBitWidth() < 32)
      call.addParamAttr(i, ptx::is_signed(function.operands[i]) ? llvm::Attribute::SExt
                                                                : llvm::Attribute::ZExt);
}

// A straight register whose lanes are wanted more often than it is written is put into the frame
// when it is written; at entries the frame holds it already.
void LightEmitter::find_eager_registers() {
  eager_.assign(source_.registers.size(), false);
  const auto& blocks = plan_.flow.blocks;
  std::vector<unsigned> depth(blocks.size(), 0);
  constexpr unsigned deepest = 4;
  for (std::uint32_t block = 0; block < blocks.size(); ++block)
    if (plan_.flow.loop_header[block]) {
      std::uint32_t last = block;
      for (const std::uint32_t from : blocks[block].predecessors)
        last = std::max(last, from);
      for (std::uint32_t inside = block; inside <= last; ++inside)
        depth[inside] = std::min(depth[inside] + 1, deepest);
    }
  std::vector<std::uint64_t> wanted(source_.registers.size(), 0);
  std::vector<std::uint64_t> written(source_.registers.size(), 0);
  for (std::uint32_t i = 0; i < source_.instructions.size(); ++i) {
    const std::uint64_t weight = std::uint64_t{1} << (3 * depth[plan_.flow.block_of[i]]);
    const Instruction& at = source_.instructions[i];
    const auto& effects = plan_.liveness.effects[i];
    for (const ptx::RegisterId reg : effects.writes)
      written[reg] += weight;
    const Treatment treatment = plan_.treatment[i];
    const bool compares = at.opcode == Opcode::setp && is_line(at.operands[1]) &&
                          is_line(at.operands[2]) && job_.full;
    if ((treatment == Treatment::inlined && is_called(i) && !compares) ||
        treatment == Treatment::handler || treatment == Treatment::warp)
      for (const ptx::RegisterId reg : effects.reads)
        wanted[reg] += weight;
  }
  for (ptx::RegisterId reg = 0; reg < eager_.size(); ++reg)
    eager_[reg] = plan_.home[reg] == Home::scalar && written[reg] < wanted[reg];
}

// Puts the lanes of a straight register where handlers look for them.
void LightEmitter::expand_into_frame(ptx::RegisterId reg) {
  if (expanded_.contains(reg) || (eager_[reg] && !defining_))
    return;
  const int bits = 8 * ptx::bytes_of(source_.registers[reg].type);
  const bool unset = shape(reg).kind == vgpu::analysis::Shape::Kind::unset;
  call_native(fmt::format("kv_expand_{}", bits),
              {in_frame(code_.register_slots[reg]), home(reg),
               i64(unset ? 0 : static_cast<std::uint64_t>(shape(reg).stride)),
               i32(unset ? kLanes : shape(reg).group), mask_});
  if (certain_)
    expanded_.insert(reg);
}

// One value to all 32 places of an array.
void LightEmitter::splat(Value* place, Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  Value* word = b_.CreateZExt(as(value, b_.getIntNTy(bits)), b_.getInt64Ty());
  call_native(fmt::format("kv_splat_{}", bits), {place, word, i32(vgpu::kAllLanes)});
}

void LightEmitter::write_to_all(ptx::RegisterId reg, Value* value) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  Value* word = b_.CreateZExt(as(value, b_.getIntNTy(bits)), b_.getInt64Ty());
  call_native(fmt::format("kv_splat_{}", bits),
              {in_frame(code_.register_slots[reg]), word, active()});
}

void LightEmitter::shuffle_lanes(const Instruction& at, ptx::RegisterId result,
                                 const std::vector<int>& pick) {
  const ptx::RegisterId from = at.operands[1].reg;
  store_for_handler(from);
  std::vector<std::uint32_t> lanes(pick.begin(), pick.end());
  auto* table = llvm::ConstantDataArray::get(context_, lanes);
  auto* global = new llvm::GlobalVariable(*module_, table->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, table, "lanes");
  global->setAlignment(llvm::Align(64));
  call_native("kv_shuffle_32", {in_frame(code_.register_slots[result]),
                                in_frame(code_.register_slots[from]), global});
}

} // namespace kernevo::jit
