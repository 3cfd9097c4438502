// The PTX inside what nvcc embeds in a program.
#pragma once

#include "kernevo/base/result.h"

#include <string>
#include <vector>

namespace kernevo::cuda {

// `wrapper` is what __cudaRegisterFatBinary receives. The newest uncompressed PTX of the binary; an
// error that says how to compile when there is none.
Result<std::string> ptx_of_fat_binary(const void* wrapper);

// The PTX modules of an image as cuModuleLoadData takes it: PTX text, a fat binary with or without
// its wrapper, or what join_modules() made.
Result<std::vector<std::string>> ptx_of_image(const void* image);
std::string join_modules(const std::vector<std::string>& texts);

} // namespace kernevo::cuda
