#pragma once
#include <cuda_runtime.h>
namespace at::cuda {
inline cudaStream_t getCurrentCUDAStream() {
  return nullptr;
}
} // namespace at::cuda
