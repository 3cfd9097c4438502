#include "kernevo/cudart/core/errors.h"

extern "C" {

const char* cudaGetErrorString(cudaError_t error) {
  return kernevo::cudart::error_text(error);
}
const char* cudaGetErrorName(cudaError_t error) {
  return kernevo::cudart::error_name(error);
}

} // extern "C"
