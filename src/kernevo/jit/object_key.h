// What machine code depends on, as a name for the object store.
#pragma once

#include "kernevo/vgpu/tier/compiled.h"

#include <string_view>

namespace kernevo::jit {

// `target` describes the processor and LLVM's version.
vgpu::ObjectKey object_key(const vgpu::CompileJob& job, std::string_view target);

} // namespace kernevo::jit
