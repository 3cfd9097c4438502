// What the files of the driver's interface share.
#pragma once

#include "kernevo/cuda/core/memory.h" // IWYU pragma: export

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace kernevo::cuda {

inline CUresult driver_result(cudaError_t error) {
  return static_cast<CUresult>(error);
}

// A device pointer is a host address.
inline void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address); // NOLINT
}

// A kernel's handle in the driver is the key it has in the session.
inline const void* key_of(CUfunction function) {
  return function;
}

} // namespace kernevo::cuda
