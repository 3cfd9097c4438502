// The compiler plug-in (src/kernevo/jit), loaded when something is first compiled.
#pragma once

#include "kernevo/vgpu/tier/compiled.h"

#include <filesystem>

namespace kernevo::vgpu {

// $KERNEVO_JIT_PLUGIN, beside the program, in ../lib/kernevo, or where it was built.
Result<std::filesystem::path> find_plugin();

// Loads it once per process and keeps it; `path` (empty = find_plugin()) counts only the first
// time.
Result<Compiler*> load_compiler(const std::filesystem::path& path = {});

// Use this one instead from now on (a test's); null = the plug-in again.
void set_compiler(Compiler* compiler);

} // namespace kernevo::vgpu
