// What nvcc's generated code would have registered: a kernel that scales a vector by a constant.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <vector>

// scale(float* data): data[threadIdx.x] *= factor
extern const char* const kScalePtx;

// The addresses by which the program knows its kernels and variables.
struct CudaProgram {
  char scale = 0;
  char factor = 0;
  char compressed = 0; // a kernel whose PTX cannot be read
};
CudaProgram& program();

// One launch of the kernel on this vector.
cudaError_t launch_scale(void* data, unsigned threads, cudaStream_t stream = nullptr);
cudaError_t set_factor(float factor);

// Copies of device memory, with nothing to say about errors.
float* device_vector(const std::vector<float>& values);
std::vector<float> host_vector(const void* device, std::size_t count);
