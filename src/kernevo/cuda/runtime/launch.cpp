// Kernel launches, what is known of a kernel, occupancy.
#include "kernevo/cuda/core/kernels.h"

#include <algorithm>
#include <optional>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

std::optional<kernevo::vgpu::KernelInfo> known_kernel(const void* host) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Kernel* const kernel = session.kernel(host);
  const auto* program = kernel == nullptr ? nullptr : session.program(*kernel->module);
  if (program == nullptr)
    return std::nullopt;
  auto info = kernevo::vgpu::find_kernel(*program, kernel->name);
  return info ? std::optional(std::move(*info)) : std::nullopt;
}

// By <<<...>>>, taken by the stub it calls.
std::vector<LaunchShape>& pushed() {
  static thread_local std::vector<LaunchShape> shapes;
  return shapes;
}

} // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     struct CUstream_st* stream) {
  pushed().push_back({grid, block, shared, stream, dim3(1, 1, 1)});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (pushed().empty())
    return cudaErrorMissingConfiguration;
  const LaunchShape shape = pushed().back();
  pushed().pop_back();
  *grid = shape.grid;
  *block = shape.block;
  *shared = shape.shared;
  *static_cast<cudaStream_t*>(stream) = shape.stream;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return launch_kernel(kernel, {grid, block, shared, stream, dim3(1, 1, 1)}, arguments, false);
}

cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return launch_kernel(host, {grid, block, shared, stream, dim3(1, 1, 1)}, arguments, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  return launch_kernel(host, {grid, block, shared, stream, dim3(1, 1, 1)}, arguments, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host,
                                void** arguments) {
  return launch_kernel(host, *config, arguments);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host)); // NOLINT
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  return kernel_attributes(attributes, host);
}

cudaError_t cudaFuncGetName(const char** name, const void* host) {
  const Kernel* const kernel = Session::get().kernel(host);
  if (kernel == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidDeviceFunction);
  if (name == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *name = kernel->name.c_str();
  return cudaSuccess;
}
cudaError_t cudaFuncGetParamCount(const void* host, std::size_t* count) {
  const auto info = known_kernel(host);
  if (!info)
    return kernevo::cuda::set_error(cudaErrorInvalidDeviceFunction);
  *count = info->parameters.size();
  return cudaSuccess;
}
cudaError_t cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset,
                                 std::size_t* bytes) {
  const auto info = known_kernel(host);
  if (!info || index >= info->parameters.size())
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *offset = info->parameters[index].offset;
  if (bytes != nullptr)
    *bytes = info->parameters[index].size;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  return set_kernel_attribute(host, attribute, value);
}

cudaError_t cudaFuncSetCacheConfig(const void* /*host*/, cudaFuncCache /*config*/) {
  return cudaSuccess;
}

cudaError_t cudaFuncSetSharedMemConfig(const void* /*host*/, cudaSharedMemConfig /*config*/) {
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host,
                                                                   int threads, std::size_t shared,
                                                                   unsigned /*flags*/) {
  return resident_blocks(blocks, host, threads, shared);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host,
                                                          int threads, std::size_t shared) {
  return resident_blocks(blocks, host, threads, shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* host,
                                                      int blocks, int /*threads*/) {
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, host); error != cudaSuccess)
    return error;
  const kernevo::Gpu& gpu = Session::get().machine().gpu();
  const std::size_t share =
      gpu.shared_per_multiprocessor.value / static_cast<std::size_t>(std::max(blocks, 1));
  const std::size_t used = attributes.sharedSizeBytes + gpu.shared_reserved_per_block.value;
  *bytes = std::min<std::size_t>(share > used ? share - used : 0, gpu.shared_per_block.value);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* /*host*/,
                                                 const cudaLaunchConfig_t* /*config*/) {
  *size = Session::get().machine().gpu().compute_capability >= 90 ? 8 : 1;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* host,
                                           const cudaLaunchConfig_t* config) {
  const dim3 block = config->blockDim;
  int blocks = 0;
  if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, host, static_cast<int>(block.x * block.y * block.z), config->dynamicSmemBytes);
      error != cudaSuccess)
    return error;
  int size = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = config->attrs[i].val.clusterDim;
      size = static_cast<int>(cluster.x * cluster.y * cluster.z);
    }
  *clusters = blocks * Session::get().machine().gpu().multiprocessors / std::max(size, 1);
  return cudaSuccess;
}

} // extern "C"
