// The runtime library: C++ compiled to bitcode by the build, once per processor level, and carried
// inside this library.
#pragma once

#include "kernevo/base/result.h"

#include <llvm/IR/Module.h>
#include <string_view>

namespace kernevo::jit {

// Bitcode for a level ("x86-64-v3", "generic"); empty when the build made none.
std::string_view runtime_bitcode(std::string_view level);

// Adds the bodies of the library functions that the module declares. Everything but `kernel`
// becomes private to the module; small functions are marked for inlining.
Result<void> link_runtime(llvm::Module& module, std::string_view level);

} // namespace kernevo::jit
