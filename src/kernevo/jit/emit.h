// A planned function as LLVM IR.
#pragma once

#include "kernevo/jit/host.h"
#include "kernevo/jit/plan.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace kernevo::jit {

inline constexpr const char* kKernelSymbol = "kernel";

// One external function, i32 kernel(ptr context, i32 entry), and declarations of what it uses of
// the runtime library. Registers are stack slots: sroa must run before anything else.
std::unique_ptr<llvm::Module> emit(llvm::LLVMContext& context, const vgpu::CompileJob& job,
                                   const Plan& plan, const Host& host);

} // namespace kernevo::jit
