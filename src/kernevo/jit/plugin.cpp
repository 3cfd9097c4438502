// The one name this library exports; vgpu/plugin.cpp looks it up.
#include "kernevo/jit/compiler.h"

// Null when the library was built for another interface, or code cannot be made for this machine.
extern "C" __attribute__((visibility("default"))) kernevo::vgpu::Compiler*
kernevo_create_compiler(std::uint32_t abi) {
  if (abi != kernevo::vgpu::kCompiledAbi)
    return nullptr;
  auto compiler = kernevo::jit::create_compiler();
  return compiler ? compiler->release() : nullptr;
}
