// The PTX inside what nvcc embeds in a program.
#pragma once

#include "kernevo/base/result.h"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace kernevo::cuda {

// Of several PTX texts a GPU's driver takes the newest that its compute capability allows. For none
// in particular (0) it is the newest there is.
inline constexpr int kAnyGpu = 0;

// `wrapper` is what __cudaRegisterFatBinary receives. The PTX of the binary, or of each of those it
// was linked from (nvcc -rdc=true); an error that says how to compile when there is none.
Result<std::vector<std::string>> ptx_of_fat_binary(const void* wrapper, int capability);

// The PTX modules of an image as cuModuleLoadData takes it: PTX text, a fat binary with or without
// its wrapper, or what join_modules() made. `bytes`: of the image, where that is known.
Result<std::vector<std::string>>
ptx_of_image(const void* image, int capability,
             std::size_t bytes = std::numeric_limits<std::size_t>::max());
std::string join_modules(const std::vector<std::string>& texts);

} // namespace kernevo::cuda
