#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#define C10_CUDA_CHECK(call)                                                                       \
  do {                                                                                             \
    const cudaError_t status = (call);                                                             \
    if (status != cudaSuccess) {                                                                   \
      std::printf("CUDA error: %s\n", cudaGetErrorString(status));                                 \
      std::exit(4);                                                                                \
    }                                                                                              \
  } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
