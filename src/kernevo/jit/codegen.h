// LLVM IR -> a relocatable object, in memory.
#pragma once

#include "kernevo/jit/pass_log.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <string>

namespace kernevo::jit {

// The stack a compiled function may use: code runs on a fiber.
inline constexpr std::uint32_t kLargestFrame = 192U << 10U;

// An `unsupported` error when the function would not fit the stack.
Result<std::string> make_object(llvm::Module& module, llvm::TargetMachine& machine, PassLog& log);

} // namespace kernevo::jit
