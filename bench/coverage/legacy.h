// What CUDA programs older than toolkit 13 use and toolkit 13 no longer declares. Included before
// every source by ./nvcc.
#pragma once

#ifdef __cplusplus
#include <cuda_runtime.h>

#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset

// Fields the structure has lost.
struct LegacyDeviceProp : cudaDeviceProp {
  int clockRate;
  int memoryClockRate;
  int deviceOverlap;
  int kernelExecTimeoutEnabled;
  int computeMode;
  int singleToDoublePrecisionPerfRatio;
  int cooperativeMultiDeviceLaunch;
};

static inline cudaError_t cudaGetDeviceProperties(LegacyDeviceProp* properties, int device) {
  *properties = LegacyDeviceProp();
  cudaDeviceProp* known = properties;
  const cudaError_t error = cudaGetDeviceProperties(known, device);
  cudaDeviceGetAttribute(&properties->clockRate, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&properties->memoryClockRate, cudaDevAttrMemoryClockRate, device);
  properties->deviceOverlap = 1;
  return error;
}
#define cudaDeviceProp LegacyDeviceProp

// Warp functions without a mask: the lanes that are here.
#ifdef __CUDACC__
template <class T> static __device__ T __shfl(T value, int lane, int width = 32) {
  return __shfl_sync(__activemask(), value, lane, width);
}
template <class T> static __device__ T __shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(__activemask(), value, delta, width);
}
template <class T> static __device__ T __shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(__activemask(), value, delta, width);
}
template <class T> static __device__ T __shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}
static __device__ inline int __any(int predicate) {
  return __any_sync(__activemask(), predicate);
}
static __device__ inline int __all(int predicate) {
  return __all_sync(__activemask(), predicate);
}
static __device__ inline unsigned __ballot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}
#endif

// A device used to be named by a number.
static inline cudaMemLocation legacy_location(int device) {
  cudaMemLocation location = {};
  location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device < 0 ? 0 : device;
  return location;
}
static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                               cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, bytes, legacy_location(device), 0, stream);
}
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                        int device) {
  return cudaMemAdvise(pointer, bytes, advice, legacy_location(device));
}
#endif
