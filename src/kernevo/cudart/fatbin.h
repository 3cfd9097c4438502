// The PTX inside what nvcc embeds in a program.
#pragma once

#include "kernevo/base/result.h"

#include <string>

namespace kernevo::cudart {

// `wrapper` is what __cudaRegisterFatBinary receives. The newest uncompressed PTX of the binary; an
// error that says how to compile when there is none.
Result<std::string> ptx_of_fat_binary(const void* wrapper);

} // namespace kernevo::cudart
