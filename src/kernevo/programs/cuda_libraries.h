// Where the CUDA libraries of the virtual GPU are.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>

namespace kernevo {

// build/cuda beside the program, or where it is installed.
Result<std::filesystem::path> find_cuda_libraries();

} // namespace kernevo
