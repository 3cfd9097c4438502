// The passes between emission and code generation: few, each worth its time on the shape of code
// the emitter writes.
#pragma once

#include "kernevo/jit/pass_log.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace kernevo::jit {

void optimise(llvm::Module& module, llvm::TargetMachine& machine, PassLog& log);

} // namespace kernevo::jit
