#include "kernevo/cuda/core/kernels.h"

#include "kernevo/cuda/common/faults.h"
#include "kernevo/cuda/core/pricing.h"
#include "kernevo/model/occupancy.h"

#include <algorithm>
#include <mutex>

namespace kernevo::cuda {
namespace {

// PTX alone says nothing of registers. Where the assembler cannot be asked, a typical number keeps
// programs that size their grids by occupancy in a realistic range.
constexpr int kAssumedRegisters = 32;
constexpr int kWarpSize = 32;

// The largest block whose registers fit, at most `most` threads.
int threads_that_fit(const Gpu& gpu, int most, int registers) {
  for (int threads = most; threads > kWarpSize; threads = (threads - 1) / kWarpSize * kWarpSize)
    if (compute_occupancy(gpu, threads, registers, Bytes{0}))
      return threads;
  return std::min(most, kWarpSize);
}

} // namespace

cudaError_t launch_kernel(const void* host, const LaunchShape& shape, void** arguments,
                          bool cooperative) {
  if (const int fault = Faults::get().launch(); fault != 0)
    return static_cast<cudaError_t>(fault);
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  const Kernel* kernel = session.kernel(host);
  if (kernel == nullptr)
    return set_error(cudaErrorInvalidDeviceFunction);
  return session.launch(*kernel, shape, arguments, cooperative);
}

cudaError_t launch_kernel(const void* host, const cudaLaunchConfig_t& config, void** arguments) {
  LaunchShape shape{config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream,
                    dim3(1, 1, 1)};
  bool cooperative = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      shape.cluster =
          dim3(attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z);
  }
  return launch_kernel(host, shape, arguments, cooperative);
}

cudaError_t kernel_attributes(cudaFuncAttributes* attributes, const void* host, bool assembled) {
  Session& session = Session::get();
  std::unique_lock lock(session.mutex);
  Kernel* kernel = session.kernel(host);
  if (kernel == nullptr)
    return set_error(cudaErrorInvalidDeviceFunction);
  if (session.program(*kernel->module) == nullptr)
    return set_error(cudaErrorInvalidKernelImage);
  const auto program = kernel->module->program;
  const auto source = kernel->module->source;
  const int most_shared = kernel->max_dynamic_shared;
  lock.unlock(); // the assembler takes its time
  const auto info = vgpu::find_kernel(*program, kernel->name);
  if (!info)
    return set_error(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  const Gpu& gpu = session.machine().gpu();
  attributes->sharedSizeBytes = info->static_shared;
  attributes->constSizeBytes = info->constants;
  attributes->maxThreadsPerBlock = static_cast<int>(std::min<std::uint64_t>(
      info->most_threads.value_or(~std::uint64_t{0}), gpu.max_threads_per_block));
  attributes->numRegs = kAssumedRegisters;
  attributes->ptxVersion = gpu.compute_capability;
  attributes->binaryVersion = gpu.compute_capability;
  attributes->maxDynamicSharedSizeBytes =
      most_shared != 0 ? most_shared
                       : static_cast<int>(gpu.shared_per_block.value - info->static_shared);
  if (!assembled)
    return cudaSuccess;
  if (const auto made = pricing().assembled(*program, source, info->name)) {
    attributes->numRegs = made->registers;
    attributes->localSizeBytes = made->stack.value;
    attributes->maxThreadsPerBlock =
        threads_that_fit(gpu, attributes->maxThreadsPerBlock, made->registers);
  }
  return cudaSuccess;
}

cudaError_t set_kernel_attribute(const void* host, cudaFuncAttribute attribute, int value) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Kernel* kernel = session.kernel(host);
  if (kernel == nullptr)
    return set_error(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 ||
        static_cast<std::uint64_t>(value) > session.machine().gpu().shared_per_block_optin.value)
      return set_error(cudaErrorInvalidValue);
    kernel->max_dynamic_shared = value;
  }
  return cudaSuccess;
}

cudaError_t resident_blocks(int* blocks, const void* host, int threads, std::size_t shared) {
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = kernel_attributes(&attributes, host); error != cudaSuccess)
    return error;
  const auto occupancy =
      compute_occupancy(Session::get().machine().gpu(), threads, attributes.numRegs,
                        Bytes{shared + attributes.sharedSizeBytes});
  *blocks = occupancy ? occupancy->blocks_per_multiprocessor : 0;
  return cudaSuccess;
}

} // namespace kernevo::cuda
