// One function being written: the builder, what holds for the whole activation, and the guard of
// the instruction at hand.
#pragma once

#include "kernevo/jit/emit.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string>
#include <vector>

namespace kernevo::jit {

using llvm::Value;

inline constexpr unsigned kLanes = vgpu::kWarpSize;

inline bool is_real(ptx::Type type) {
  return type == ptx::Type::f32 || type == ptx::Type::f64;
}

class FunctionWriter {
public:
  FunctionWriter(llvm::LLVMContext& context, const vgpu::CompileJob& job, const Plan& plan,
                 const Host& host);
  FunctionWriter(const FunctionWriter&) = delete;
  FunctionWriter& operator=(const FunctionWriter&) = delete;
  virtual ~FunctionWriter() = default;

protected:
  using Builder = llvm::IRBuilder<>;
  using Operands = std::vector<Value*>;

  void begin_function();
  void load_context();

  llvm::BasicBlock* new_block(const char* name);
  llvm::AllocaInst* stack(llvm::Type* type, const char* name);
  Value* field(std::size_t offset, llvm::Type* type, const char* name);
  Value* service(std::size_t offset); // of CompiledServices
  Value* in_frame(std::uint32_t slot);
  // A function of the runtime library, by its name.
  void call_native(const std::string& name, const Operands& arguments);
  Value* active(); // lanes for which the current instruction acts

  llvm::Type* element(ptx::Type type) const;
  llvm::VectorType* lanes_of(llvm::Type* type) const;
  Value* as(Value* value, llvm::Type* element);
  // The 16 bits of each f16 or bf16; two of them in a row where the type is a pair.
  Value* halves_of(Value* value, ptx::Type type);
  llvm::Constant* i32(std::uint32_t value) { return b_.getInt32(value); }
  llvm::Constant* i64(std::uint64_t value) { return b_.getInt64(value); }

  std::uint32_t ops_of(std::uint32_t instruction) const;
  std::uint32_t target_of(std::uint32_t instruction) const;
  const vgpu::Op& first_op(std::uint32_t instruction) const {
    return code_.ops[code_.first_op[instruction]];
  }

  const vgpu::CompileJob& job_;
  const Plan& plan_;
  const Host& host_;
  const vgpu::Code& code_;
  const ptx::Function& source_;
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::Module> module_;
  llvm::Function* function_ = nullptr;
  Builder b_;
  Builder prologue_; // values that hold for the whole activation
  llvm::BasicBlock* prologue_block_ = nullptr;

  Value* context_pointer_ = nullptr;
  Value* frame_ = nullptr;
  Value* warp_ = nullptr;
  Value* ops_ = nullptr;
  Value* shared_ = nullptr;
  Value* shared_bytes_ = nullptr;
  Value* parameters_ = nullptr;
  Value* hits_ = nullptr;
  Value* scalars_ = nullptr;
  Value* services_ = nullptr;
  Value* counters_ = nullptr;
  Value* mask_ = nullptr;
  Value* limit_ = nullptr;
  Value* width_ = nullptr; // lanes that run

  Value* guard_mask_ = nullptr; // of the instruction being written; null = none
  Value* guard_flag_ = nullptr;
};

} // namespace kernevo::jit
