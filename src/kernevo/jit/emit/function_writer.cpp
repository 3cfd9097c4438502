#include "kernevo/jit/emit/function_writer.h"

#include <algorithm>
#include <cstddef>

namespace kernevo::jit {

using vgpu::CompiledContext;

FunctionWriter::FunctionWriter(llvm::LLVMContext& context, const vgpu::CompileJob& job,
                               const Plan& plan, const Host& host)
    : job_(job), plan_(plan), host_(host), code_(job.program->codes[job.function]),
      source_(*code_.function), context_(context),
      module_(std::make_unique<llvm::Module>(source_.name, context)), b_(context),
      prologue_(context) {}

void FunctionWriter::begin_function() {
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getInt32Ty()}, false);
  function_ =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, kKernelSymbol, *module_);
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  context_pointer_ = function_->getArg(0);
  prologue_block_ = llvm::BasicBlock::Create(context_, "prologue", function_);
  prologue_.SetInsertPoint(prologue_block_);
}

Value* FunctionWriter::field(std::size_t offset, llvm::Type* type, const char* name) {
  return prologue_.CreateLoad(
      type, prologue_.CreateConstGEP1_64(b_.getInt8Ty(), context_pointer_, offset), name);
}

void FunctionWriter::load_context() {
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
}

llvm::BasicBlock* FunctionWriter::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, function_);
}

std::uint32_t FunctionWriter::ops_of(std::uint32_t instruction) const {
  return code_.first_op[instruction + 1] - code_.first_op[instruction];
}

std::uint32_t FunctionWriter::target_of(std::uint32_t instruction) const {
  const std::uint32_t op = code_.ops[code_.first_op[instruction + 1] - 1].target;
  const auto count = static_cast<std::uint32_t>(source_.instructions.size());
  return op >= code_.first_op[count] ? count : code_.ops[op].instruction;
}

Value* FunctionWriter::active() {
  return guard_mask_ == nullptr ? mask_ : b_.CreateAnd(guard_mask_, mask_);
}

Value* FunctionWriter::service(std::size_t offset) {
  return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getInt8Ty(), services_, offset));
}

llvm::AllocaInst* FunctionWriter::stack(llvm::Type* type, const char* name) {
  auto* slot = prologue_.CreateAlloca(type, nullptr, name);
  slot->setAlignment(std::max(llvm::Align(64), slot->getAlign())); // as loads of it assume
  return slot;
}

Value* FunctionWriter::in_frame(std::uint32_t slot) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_, slot);
}

void FunctionWriter::call_native(const std::string& name, const Operands& arguments) {
  std::vector<llvm::Type*> types;
  for (const Value* argument : arguments)
    types.push_back(argument->getType());
  b_.CreateCall(
      module_->getOrInsertFunction(name, llvm::FunctionType::get(b_.getVoidTy(), types, false)),
      arguments);
}

llvm::Type* FunctionWriter::element(ptx::Type type) const {
  auto& context = context_;
  switch (type) {
  case ptx::Type::f32: return llvm::Type::getFloatTy(context);
  case ptx::Type::f64: return llvm::Type::getDoubleTy(context);
  case ptx::Type::pred: return llvm::Type::getInt1Ty(context);
  default:
    return llvm::Type::getIntNTy(context, static_cast<unsigned>(std::max(8, ptx::bits_of(type))));
  }
}

llvm::VectorType* FunctionWriter::lanes_of(llvm::Type* type) const {
  return llvm::FixedVectorType::get(type, kLanes);
}

// Same size, other type: float and its bits.
Value* FunctionWriter::as(Value* value, llvm::Type* type) {
  llvm::Type* wanted =
      value->getType()->isVectorTy()
          ? llvm::FixedVectorType::get(
                type, llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements())
          : type;
  return value->getType() == wanted ? value : b_.CreateBitCast(value, wanted);
}

Value* FunctionWriter::halves_of(Value* value, ptx::Type type) {
  if (ptx::bits_of(type) == 16)
    return as(value, b_.getInt16Ty());
  const unsigned lanes = value->getType()->isVectorTy() ? kLanes : 1;
  return b_.CreateBitCast(value, llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * lanes));
}

} // namespace kernevo::jit
