// Kernels by the address the program calls them by: launches, what is known of them, occupancy.
#pragma once

#include "kernevo/cuda/core/session.h"

#include <cstddef>
#include <cuda_runtime_api.h>

namespace kernevo::cuda {

cudaError_t launch_kernel(const void* host, const LaunchShape& shape, void** arguments,
                          bool cooperative);
cudaError_t launch_kernel(const void* host, const cudaLaunchConfig_t& config, void** arguments);
// `assembled`: with what only the assembler knows (registers, local memory, and how many threads
// follow from them), which takes as long as it does when it is asked for the first time.
cudaError_t kernel_attributes(cudaFuncAttributes* attributes, const void* host,
                              bool assembled = true);
cudaError_t set_kernel_attribute(const void* host, cudaFuncAttribute attribute, int value);
// Blocks that a multiprocessor holds at once.
cudaError_t resident_blocks(int* blocks, const void* host, int threads, std::size_t shared);

} // namespace kernevo::cuda
