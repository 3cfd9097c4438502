#include "kernevo/cuda/core/errors.h"

extern "C" {

const char* cudaGetErrorString(cudaError_t error) {
  return kernevo::cuda::error_text(error);
}
const char* cudaGetErrorName(cudaError_t error) {
  return kernevo::cuda::error_name(error);
}

} // extern "C"
