#include "kernevo/cuda/core/kernels.h"

#include "kernevo/cuda/common/faults.h"
#include "kernevo/model/occupancy.h"

namespace kernevo::cuda {
namespace {

// Registers are ptxas's secret; PTX alone says nothing of them. A typical number keeps programs
// that size their grids by occupancy in a realistic range.
constexpr int kAssumedRegisters = 32;

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

cudaError_t kernel_attributes(cudaFuncAttributes* attributes, const void* host) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Kernel* kernel = session.kernel(host);
  if (kernel == nullptr)
    return set_error(cudaErrorInvalidDeviceFunction);
  const auto* program = session.program(*kernel->module);
  if (program == nullptr)
    return set_error(cudaErrorInvalidKernelImage);
  const auto info = vgpu::find_kernel(*program, kernel->name);
  if (!info)
    return set_error(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  const Gpu& gpu = session.machine().gpu();
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
      compute_occupancy(Session::get().machine().gpu(), threads, kAssumedRegisters,
                        Bytes{shared + attributes.sharedSizeBytes});
  *blocks = occupancy ? occupancy->blocks_per_multiprocessor : 0;
  return cudaSuccess;
}

} // namespace kernevo::cuda
