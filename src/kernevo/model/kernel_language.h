// What a kernel file is written in.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernevo {

enum class KernelLanguage : std::uint8_t {
  cuda,        // device code with directives
  triton,      // Python with @triton.jit functions
  cuda_inline, // Python that compiles CUDA text when it is loaded
  python,      // any other
};

std::string_view name_of(KernelLanguage value);

} // namespace kernevo
