// Kernel launches, what is known of a kernel, occupancy.
#include "kernevo/cudart/runtime.h"
#include "kernevo/model/occupancy.h"

#include <algorithm>
#include <optional>

using kernevo::cudart::Kernel;
using kernevo::cudart::LaunchShape;
using kernevo::cudart::Runtime;

namespace {

cudaError_t launch(const void* host, const LaunchShape& shape, void** arguments, bool cooperative) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  const Kernel* kernel = runtime.kernel(host);
  if (kernel == nullptr)
    return runtime.set_error(cudaErrorInvalidDeviceFunction);
  return runtime.launch(*kernel, shape, arguments, cooperative);
}

std::optional<kernevo::vgpu::KernelInfo> known_kernel(const void* host) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  Kernel* const kernel = runtime.kernel(host);
  const auto* program = kernel == nullptr ? nullptr : runtime.program(*kernel->module);
  if (program == nullptr)
    return std::nullopt;
  auto info = kernevo::vgpu::find_kernel(*program, kernel->name);
  return info ? std::optional(std::move(*info)) : std::nullopt;
}

// Registers are ptxas's secret; PTX alone says nothing of them. A typical number keeps programs
// that size their grids by occupancy in a realistic range.
constexpr int kAssumedRegisters = 32;

} // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     struct CUstream_st* stream) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.pushed.push_back({grid, block, shared, stream, dim3(1, 1, 1)});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  if (runtime.pushed.empty())
    return cudaErrorMissingConfiguration;
  const LaunchShape shape = runtime.pushed.back();
  runtime.pushed.pop_back();
  *grid = shape.grid;
  *block = shape.block;
  *shared = shape.shared;
  *static_cast<cudaStream_t*>(stream) = shape.stream;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return launch(kernel, {grid, block, shared, stream, dim3(1, 1, 1)}, arguments, false);
}

cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return launch(host, {grid, block, shared, stream, dim3(1, 1, 1)}, arguments, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  return launch(host, {grid, block, shared, stream, dim3(1, 1, 1)}, arguments, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host,
                                void** arguments) {
  LaunchShape shape{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
                    dim3(1, 1, 1)};
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      shape.cluster =
          dim3(attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z);
  }
  return launch(host, shape, arguments, cooperative);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host)); // NOLINT
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  Kernel* kernel = runtime.kernel(host);
  if (kernel == nullptr)
    return runtime.set_error(cudaErrorInvalidDeviceFunction);
  const auto* program = runtime.program(*kernel->module);
  if (program == nullptr)
    return runtime.set_error(cudaErrorInvalidKernelImage);
  const auto info = kernevo::vgpu::find_kernel(*program, kernel->name);
  if (!info)
    return runtime.set_error(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  const kernevo::Gpu& gpu = runtime.machine().gpu();
  attributes->sharedSizeBytes = info->static_shared;
  attributes->maxThreadsPerBlock = gpu.max_threads_per_block;
  attributes->numRegs = kAssumedRegisters;
  attributes->ptxVersion = gpu.compute_capability;
  attributes->binaryVersion = gpu.compute_capability;
  attributes->maxDynamicSharedSizeBytes =
      kernel->max_dynamic_shared != 0
          ? kernel->max_dynamic_shared
          : static_cast<int>(gpu.shared_per_block.value - info->static_shared);
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char** name, const void* host) {
  const Kernel* const kernel = Runtime::get().kernel(host);
  if (kernel == nullptr)
    return Runtime::get().set_error(cudaErrorInvalidDeviceFunction);
  *name = kernel->name.c_str();
  return cudaSuccess;
}
cudaError_t cudaFuncGetParamCount(const void* host, std::size_t* count) {
  const auto info = known_kernel(host);
  if (!info)
    return Runtime::get().set_error(cudaErrorInvalidDeviceFunction);
  *count = info->parameters.size();
  return cudaSuccess;
}
cudaError_t cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset,
                                 std::size_t* bytes) {
  const auto info = known_kernel(host);
  if (!info || index >= info->parameters.size())
    return Runtime::get().set_error(cudaErrorInvalidValue);
  *offset = info->parameters[index].offset;
  if (bytes != nullptr)
    *bytes = info->parameters[index].size;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  Kernel* kernel = runtime.kernel(host);
  if (kernel == nullptr)
    return runtime.set_error(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 ||
        static_cast<std::uint64_t>(value) > runtime.machine().gpu().shared_per_block_optin.value)
      return runtime.set_error(cudaErrorInvalidValue);
    kernel->max_dynamic_shared = value;
  }
  return cudaSuccess;
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
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, host); error != cudaSuccess)
    return error;
  const auto occupancy =
      kernevo::compute_occupancy(Runtime::get().machine().gpu(), threads, kAssumedRegisters,
                                 kernevo::Bytes{shared + attributes.sharedSizeBytes});
  *blocks = occupancy ? occupancy->blocks_per_multiprocessor : 0;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host,
                                                          int threads, std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* host,
                                                      int blocks, int /*threads*/) {
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, host); error != cudaSuccess)
    return error;
  const kernevo::Gpu& gpu = Runtime::get().machine().gpu();
  const std::size_t share =
      gpu.shared_per_multiprocessor.value / static_cast<std::size_t>(std::max(blocks, 1));
  const std::size_t used = attributes.sharedSizeBytes + gpu.shared_reserved_per_block.value;
  *bytes = std::min<std::size_t>(share > used ? share - used : 0, gpu.shared_per_block.value);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* /*host*/,
                                                 const cudaLaunchConfig_t* /*config*/) {
  *size = Runtime::get().machine().gpu().compute_capability >= 90 ? 8 : 1;
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
  *clusters = blocks * Runtime::get().machine().gpu().multiprocessors / std::max(size, 1);
  return cudaSuccess;
}

} // extern "C"
