#include "kernevo/cuda/core/device.h"

#include "kernevo/cuda/common/identity.h"
#include "kernevo/cuda/core/session.h"

#include <cstring>
#include <map>
#include <string_view>

namespace kernevo::cuda {
namespace {

const Gpu& gpu() {
  return Session::get().machine().gpu();
}

std::map<cudaLimit, std::size_t>& limits() {
  static std::map<cudaLimit, std::size_t> values = {
      {cudaLimitStackSize, 1024},
      {cudaLimitPrintfFifoSize, std::size_t{1} << 20U},
      {cudaLimitMallocHeapSize, std::size_t{8} << 20U},
      {cudaLimitDevRuntimeSyncDepth, 2},
      {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64},
      {cudaLimitPersistingL2CacheSize, 0}};
  return values;
}

int kilohertz() {
  return static_cast<int>(gpu().clock_ghz * 1e6);
}

} // namespace

cudaError_t device_properties(cudaDeviceProp* p, int device) {
  if (device != 0)
    return set_error(cudaErrorInvalidDevice);
  if (p == nullptr)
    return set_error(cudaErrorInvalidValue);
  const Gpu& g = gpu();
  *p = {};
  std::strncpy(p->name, ("virtual " + g.name).c_str(), sizeof p->name - 1);
  p->totalGlobalMem = g.memory.value;
  const auto uuid = played_uuid(g);
  std::memcpy(&p->uuid, uuid.data(), sizeof p->uuid);
  p->sharedMemPerBlock = g.shared_per_block.value;
  p->regsPerBlock = g.registers_per_block;
  p->warpSize = 32;
  p->memPitch = 0x7FFFFFFF;
  p->maxThreadsPerBlock = g.max_threads_per_block;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7FFFFFFF;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 65536;
  p->major = g.compute_capability / 10;
  p->minor = g.compute_capability % 10;
  p->textureAlignment = 512;
  p->texturePitchAlignment = 32;
  p->multiProcessorCount = g.multiprocessors;
  p->canMapHostMemory = 1;
  p->maxTexture1D = 131072;
  p->maxTexture2D[0] = 131072;
  p->maxTexture2D[1] = 65536;
  p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = 16384;
  p->surfaceAlignment = 512;
  p->concurrentKernels = 1;
  p->asyncEngineCount = 1;
  p->unifiedAddressing = 1;
  p->memoryBusWidth = 5120;
  p->l2CacheSize = static_cast<int>(g.l2_cache.value);
  p->maxThreadsPerMultiProcessor = g.max_threads_per_multiprocessor;
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->sharedMemPerMultiprocessor = g.shared_per_multiprocessor.value;
  p->regsPerMultiprocessor = g.registers_per_multiprocessor;
  p->managedMemory = 1;
  p->concurrentManagedAccess = 1;
  p->cooperativeLaunch = 1;
  p->sharedMemPerBlockOptin = g.shared_per_block_optin.value;
  p->maxBlocksPerMultiProcessor = g.max_blocks_per_multiprocessor;
  p->reservedSharedMemPerBlock = g.shared_reserved_per_block.value;
  p->hostRegisterSupported = 1;
  p->memoryPoolsSupported = 1;
  p->pageableMemoryAccess = 0;
  p->canUseHostPointerForRegisteredMem = 1;
  p->hostNativeAtomicSupported = 1;
  p->computePreemptionSupported = 1;
  if (g.compute_capability >= 80) {
    // As much of the level-2 cache may be set aside; hints about it change nothing here.
    p->persistingL2CacheMaxSize = static_cast<int>(g.l2_cache.value / 4 * 3);
    p->accessPolicyMaxWindowSize = 128 << 20U;
  }
  p->clusterLaunch = g.compute_capability >= 90 ? 1 : 0;
  p->maxSurface1D = 32768;
  p->maxSurface2D[0] = 131072;
  p->maxSurface2D[1] = 65536;
  p->maxTexture1DMipmap = 32768;
  p->maxTexture1DLayered[0] = p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = 32768;
  p->maxTexture1DLayered[1] = p->maxTexture2DLayered[2] = 2048;
  p->maxTexture2DLinear[0] = 131072;
  p->maxTexture2DLinear[1] = 65000;
  p->maxTexture2DLinear[2] = 2097120;
  p->maxTextureCubemap = 32768;
  return cudaSuccess;
}

cudaError_t device_attribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p{};
  if (value == nullptr)
    return set_error(cudaErrorInvalidValue);
  if (const cudaError_t error = device_properties(&p, device); error != cudaSuccess)
    return error;
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
  case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
  case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
  case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
  case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
  case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
  case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
  case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(p.sharedMemPerBlock); break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = static_cast<int>(p.sharedMemPerBlockOptin);
    break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = static_cast<int>(p.sharedMemPerMultiprocessor);
    break;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    *value = static_cast<int>(p.reservedSharedMemPerBlock);
    break;
  case cudaDevAttrTotalConstantMemory: *value = static_cast<int>(p.totalConstMem); break;
  case cudaDevAttrWarpSize: *value = p.warpSize; break;
  case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
  case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
  case cudaDevAttrClockRate:
  case cudaDevAttrMemoryClockRate: *value = kilohertz(); break;
  case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
  case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
  case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
  case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
  case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
  case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
  case cudaDevAttrTextureAlignment: *value = static_cast<int>(p.textureAlignment); break;
  case cudaDevAttrUnifiedAddressing:
  case cudaDevAttrConcurrentKernels:
  case cudaDevAttrCanMapHostMemory:
  case cudaDevAttrManagedMemory:
  case cudaDevAttrConcurrentManagedAccess:
  case cudaDevAttrCooperativeLaunch:
  case cudaDevAttrStreamPrioritiesSupported:
  case cudaDevAttrMemoryPoolsSupported:
  case cudaDevAttrHostRegisterSupported:
  case cudaDevAttrHostNativeAtomicSupported:
  case cudaDevAttrCanUseHostPointerForRegisteredMem:
  case cudaDevAttrComputePreemptionSupported:
  case cudaDevAttrGlobalL1CacheSupported:
  case cudaDevAttrLocalL1CacheSupported:
  case cudaDevAttrAsyncEngineCount: *value = 1; break;
  case cudaDevAttrMaxPersistingL2CacheSize: *value = p.persistingL2CacheMaxSize; break;
  case cudaDevAttrMaxAccessPolicyWindowSize: *value = p.accessPolicyMaxWindowSize; break;
  case cudaDevAttrClusterLaunch: *value = p.clusterLaunch; break;
  case cudaDevAttrMaxPitch: *value = static_cast<int>(p.memPitch); break;
  case cudaDevAttrTexturePitchAlignment: *value = static_cast<int>(p.texturePitchAlignment); break;
  case cudaDevAttrSurfaceAlignment: *value = static_cast<int>(p.surfaceAlignment); break;
  case cudaDevAttrMaxTexture1DWidth: *value = p.maxTexture1D; break;
  case cudaDevAttrMaxTexture2DWidth: *value = p.maxTexture2D[0]; break;
  case cudaDevAttrMaxTexture2DHeight: *value = p.maxTexture2D[1]; break;
  case cudaDevAttrMaxTexture3DWidth: *value = p.maxTexture3D[0]; break;
  case cudaDevAttrMaxTexture3DHeight: *value = p.maxTexture3D[1]; break;
  case cudaDevAttrMaxTexture3DDepth: *value = p.maxTexture3D[2]; break;
  case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = 2; break;
  default: *value = 0; break;
  }
  return cudaSuccess;
}

cudaError_t set_limit(cudaLimit limit, std::size_t value) {
  limits()[limit] = value;
  return cudaSuccess;
}

cudaError_t get_limit(std::size_t* value, cudaLimit limit) {
  const auto found = limits().find(limit);
  if (value == nullptr)
    return set_error(cudaErrorInvalidValue);
  if (found == limits().end())
    return set_error(cudaErrorUnsupportedLimit);
  *value = found->second;
  return cudaSuccess;
}

cudaError_t pci_bus_id(char* text, int length) {
  constexpr std::string_view kText = "0000:00:00.0";
  if (text == nullptr || length <= static_cast<int>(kText.size()))
    return set_error(cudaErrorInvalidValue);
  std::memcpy(text, kText.data(), kText.size() + 1);
  return cudaSuccess;
}

// With or without the last part, as people write it.
cudaError_t device_by_pci_bus_id(int* device, const char* text) {
  if (device == nullptr || text == nullptr)
    return set_error(cudaErrorInvalidValue);
  const std::string_view given = text;
  if (given != "0000:00:00.0" && given != "0000:00:00" && given != "00:00.0" && given != "00:00")
    return set_error(cudaErrorInvalidDevice);
  *device = 0;
  return cudaSuccess;
}

} // namespace kernevo::cuda
