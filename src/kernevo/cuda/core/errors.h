// Names and texts of the runtime's errors, as programs print them.
#pragma once

#include <cuda_runtime_api.h>

namespace kernevo::cuda {

const char* error_text(cudaError_t error);
const char* error_name(cudaError_t error);

} // namespace kernevo::cuda
