// What toolkit 13 changed, for programs built with toolkit 12.
#include "kernevo/cuda/core/toolkit_12.h"

#include "kernevo/cuda/core/device.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"

#include <cstring>
#include <type_traits>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

// cudaDeviceProp of toolkit 12: the fields that toolkit 13 dropped stand among the others.
struct Properties12 {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
};
static_assert(sizeof(Properties12) == 1032);
// That of toolkit 11 ends before what toolkit 12 added.
constexpr std::size_t kBytesOfToolkit11 = 728;

template <class Field> void copy_field(Field& to, const Field& from) {
  static_assert(std::is_trivially_copyable_v<Field>);
  std::memcpy(&to, &from, sizeof to);
}

Properties12 converted(const cudaDeviceProp& from) {
  Properties12 to{};
  copy_field(to.name, from.name);
  copy_field(to.uuid, from.uuid);
  copy_field(to.luid, from.luid);
  copy_field(to.luidDeviceNodeMask, from.luidDeviceNodeMask);
  copy_field(to.totalGlobalMem, from.totalGlobalMem);
  copy_field(to.sharedMemPerBlock, from.sharedMemPerBlock);
  copy_field(to.regsPerBlock, from.regsPerBlock);
  copy_field(to.warpSize, from.warpSize);
  copy_field(to.memPitch, from.memPitch);
  copy_field(to.maxThreadsPerBlock, from.maxThreadsPerBlock);
  copy_field(to.maxThreadsDim, from.maxThreadsDim);
  copy_field(to.maxGridSize, from.maxGridSize);
  copy_field(to.totalConstMem, from.totalConstMem);
  copy_field(to.major, from.major);
  copy_field(to.minor, from.minor);
  copy_field(to.textureAlignment, from.textureAlignment);
  copy_field(to.texturePitchAlignment, from.texturePitchAlignment);
  copy_field(to.multiProcessorCount, from.multiProcessorCount);
  copy_field(to.integrated, from.integrated);
  copy_field(to.canMapHostMemory, from.canMapHostMemory);
  copy_field(to.maxTexture1D, from.maxTexture1D);
  copy_field(to.maxTexture1DMipmap, from.maxTexture1DMipmap);
  copy_field(to.maxTexture2D, from.maxTexture2D);
  copy_field(to.maxTexture2DMipmap, from.maxTexture2DMipmap);
  copy_field(to.maxTexture2DLinear, from.maxTexture2DLinear);
  copy_field(to.maxTexture2DGather, from.maxTexture2DGather);
  copy_field(to.maxTexture3D, from.maxTexture3D);
  copy_field(to.maxTexture3DAlt, from.maxTexture3DAlt);
  copy_field(to.maxTextureCubemap, from.maxTextureCubemap);
  copy_field(to.maxTexture1DLayered, from.maxTexture1DLayered);
  copy_field(to.maxTexture2DLayered, from.maxTexture2DLayered);
  copy_field(to.maxTextureCubemapLayered, from.maxTextureCubemapLayered);
  copy_field(to.maxSurface1D, from.maxSurface1D);
  copy_field(to.maxSurface2D, from.maxSurface2D);
  copy_field(to.maxSurface3D, from.maxSurface3D);
  copy_field(to.maxSurface1DLayered, from.maxSurface1DLayered);
  copy_field(to.maxSurface2DLayered, from.maxSurface2DLayered);
  copy_field(to.maxSurfaceCubemap, from.maxSurfaceCubemap);
  copy_field(to.maxSurfaceCubemapLayered, from.maxSurfaceCubemapLayered);
  copy_field(to.surfaceAlignment, from.surfaceAlignment);
  copy_field(to.concurrentKernels, from.concurrentKernels);
  copy_field(to.ECCEnabled, from.ECCEnabled);
  copy_field(to.pciBusID, from.pciBusID);
  copy_field(to.pciDeviceID, from.pciDeviceID);
  copy_field(to.pciDomainID, from.pciDomainID);
  copy_field(to.tccDriver, from.tccDriver);
  copy_field(to.asyncEngineCount, from.asyncEngineCount);
  copy_field(to.unifiedAddressing, from.unifiedAddressing);
  copy_field(to.memoryBusWidth, from.memoryBusWidth);
  copy_field(to.l2CacheSize, from.l2CacheSize);
  copy_field(to.persistingL2CacheMaxSize, from.persistingL2CacheMaxSize);
  copy_field(to.maxThreadsPerMultiProcessor, from.maxThreadsPerMultiProcessor);
  copy_field(to.streamPrioritiesSupported, from.streamPrioritiesSupported);
  copy_field(to.globalL1CacheSupported, from.globalL1CacheSupported);
  copy_field(to.localL1CacheSupported, from.localL1CacheSupported);
  copy_field(to.sharedMemPerMultiprocessor, from.sharedMemPerMultiprocessor);
  copy_field(to.regsPerMultiprocessor, from.regsPerMultiprocessor);
  copy_field(to.managedMemory, from.managedMemory);
  copy_field(to.isMultiGpuBoard, from.isMultiGpuBoard);
  copy_field(to.multiGpuBoardGroupID, from.multiGpuBoardGroupID);
  copy_field(to.hostNativeAtomicSupported, from.hostNativeAtomicSupported);
  copy_field(to.pageableMemoryAccess, from.pageableMemoryAccess);
  copy_field(to.concurrentManagedAccess, from.concurrentManagedAccess);
  copy_field(to.computePreemptionSupported, from.computePreemptionSupported);
  copy_field(to.canUseHostPointerForRegisteredMem, from.canUseHostPointerForRegisteredMem);
  copy_field(to.cooperativeLaunch, from.cooperativeLaunch);
  copy_field(to.sharedMemPerBlockOptin, from.sharedMemPerBlockOptin);
  copy_field(to.pageableMemoryAccessUsesHostPageTables,
             from.pageableMemoryAccessUsesHostPageTables);
  copy_field(to.directManagedMemAccessFromHost, from.directManagedMemAccessFromHost);
  copy_field(to.maxBlocksPerMultiProcessor, from.maxBlocksPerMultiProcessor);
  copy_field(to.accessPolicyMaxWindowSize, from.accessPolicyMaxWindowSize);
  copy_field(to.reservedSharedMemPerBlock, from.reservedSharedMemPerBlock);
  copy_field(to.hostRegisterSupported, from.hostRegisterSupported);
  copy_field(to.sparseCudaArraySupported, from.sparseCudaArraySupported);
  copy_field(to.hostRegisterReadOnlySupported, from.hostRegisterReadOnlySupported);
  copy_field(to.timelineSemaphoreInteropSupported, from.timelineSemaphoreInteropSupported);
  copy_field(to.memoryPoolsSupported, from.memoryPoolsSupported);
  copy_field(to.gpuDirectRDMASupported, from.gpuDirectRDMASupported);
  copy_field(to.gpuDirectRDMAFlushWritesOptions, from.gpuDirectRDMAFlushWritesOptions);
  copy_field(to.gpuDirectRDMAWritesOrdering, from.gpuDirectRDMAWritesOrdering);
  copy_field(to.memoryPoolSupportedHandleTypes, from.memoryPoolSupportedHandleTypes);
  copy_field(to.deferredMappingCudaArraySupported, from.deferredMappingCudaArraySupported);
  copy_field(to.ipcEventSupported, from.ipcEventSupported);
  copy_field(to.clusterLaunch, from.clusterLaunch);
  copy_field(to.unifiedFunctionPointers, from.unifiedFunctionPointers);
  const kernevo::Gpu& gpu = Session::get().machine().gpu();
  to.clockRate = to.memoryClockRate = static_cast<int>(gpu.clock_ghz * 1e6);
  to.deviceOverlap = 1;
  to.singleToDoublePrecisionPerfRatio = 2;
  return to;
}

cudaMemLocation place_of(int device) {
  cudaMemLocation place{};
  place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  place.id = device == cudaCpuDeviceId ? 0 : device;
  return place;
}

cudaError_t properties(void* to, int device, std::size_t bytes) {
  if (to == nullptr)
    return set_error(cudaErrorInvalidValue);
  cudaDeviceProp now{};
  if (const cudaError_t error = device_properties(&now, device); error != cudaSuccess)
    return error;
  const Properties12 made = converted(now);
  std::memcpy(to, &made, bytes);
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t toolkit12_cudaGetDeviceProperties(void* to, int device) {
  return properties(to, device, kBytesOfToolkit11);
}
cudaError_t toolkit12_cudaGetDeviceProperties_v2(void* to, int device) {
  return properties(to, device, sizeof(Properties12));
}
cudaError_t toolkit12_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
cudaError_t toolkit12_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to, std::size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
cudaError_t toolkit12_cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* needs, std::size_t count,
                                       cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, needs, nullptr, count, parameters);
}
cudaError_t toolkit12_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                        cudaGraphNode_t* to, std::size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
cudaError_t toolkit12_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* needs,
                                                   std::size_t* count) {
  return cudaGraphNodeGetDependencies(node, needs, nullptr, count);
}
cudaError_t toolkit12_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                     std::size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
cudaError_t toolkit12_cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                                    int device) {
  return cudaMemAdvise(pointer, bytes, advice, place_of(device));
}
cudaError_t toolkit12_cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                           cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, place_of(device), 0, stream);
}
cudaError_t toolkit12_cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
cudaError_t toolkit12_cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                                  cudaStreamCaptureStatus* status,
                                                  unsigned long long* id, cudaGraph_t* graph,
                                                  const cudaGraphNode_t** needs,
                                                  std::size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, needs, nullptr, count);
}
cudaError_t toolkit12_cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                          cudaGraphNode_t* needs, std::size_t count,
                                                          unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, needs, nullptr, count, flags);
}
// Old names of functions that are about the device.
cudaError_t toolkit12_cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
cudaError_t toolkit12_cudaThreadExit() {
  return cudaDeviceReset();
}
cudaError_t toolkit12_cudaThreadGetLimit(std::size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
cudaError_t toolkit12_cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
cudaError_t toolkit12_cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
cudaError_t toolkit12_cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}

} // extern "C"
