// The compiler as an object: PTX of one function -> machine code, through the passes in
// compile.cpp.
#pragma once

#include "kernevo/vgpu/tier/compiled.h"

#include <memory>

namespace kernevo::jit {

struct Host;

Result<std::unique_ptr<vgpu::Compiler>> create_compiler();
// Code for less than this machine can do.
Result<std::unique_ptr<vgpu::Compiler>> create_compiler(Host host);

} // namespace kernevo::jit
