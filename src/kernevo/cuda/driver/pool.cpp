// The driver's interface: pools of memory and advice about it, which have the runtime's layout.
#define __CUDA_API_VERSION_INTERNAL // names as they are, no macros that give them versions
#include "kernevo/cuda/core/toolkit_12.h"
#include "kernevo/cuda/driver/driver.h"

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

extern "C" {

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, std::size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) {
  return same(cudaMallocFromPoolAsync, dptr, bytesize, pool, hStream);
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  return same(cudaMemPoolCreate, pool, poolProps);
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return same(cudaMemPoolDestroy, pool);
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool memPool,
                            CUmemLocation* location) {
  return same(cudaMemPoolGetAccess, flags, memPool, location);
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, std::size_t count) {
  return same(cudaMemPoolSetAccess, pool, map, count);
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return same(cudaMemPoolGetAttribute, pool, attr, value);
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return same(cudaMemPoolSetAttribute, pool, attr, value);
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t minBytesToKeep) {
  return same(cudaMemPoolTrimTo, pool, minBytesToKeep);
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  return same(cudaDeviceGetDefaultMemPool, pool_out, dev);
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  return same(cudaDeviceGetMemPool, pool, dev);
}
CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  return same(cudaDeviceSetMemPool, dev, pool);
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return same(cudaDeviceGetGraphMemAttribute, device, attr, value);
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return same(cudaDeviceSetGraphMemAttribute, device, attr, value);
}
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return same(cudaDeviceGraphMemTrim, device);
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location,
                                CUmemAllocationType type) {
  return same(cudaMemGetDefaultMemPool, pool_out, location, type);
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return same(cudaMemGetMemPool, pool, location, type);
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return same(cudaMemSetMemPool, location, type, pool);
}
CUresult cuMemRangeGetAttribute(void* data, std::size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, std::size_t count) {
  return same(cudaMemRangeGetAttribute, data, dataSize, attribute, devPtr, count);
}
CUresult cuMemRangeGetAttributes(void** data, std::size_t* dataSizes,
                                 CUmem_range_attribute* attributes, std::size_t numAttributes,
                                 CUdeviceptr devPtr, std::size_t count) {
  return same(cudaMemRangeGetAttributes, data, dataSizes, attributes, numAttributes, devPtr, count);
}
CUresult cuMemAdvise(CUdeviceptr devPtr, std::size_t count, CUmem_advise advice, CUdevice device) {
  return same(toolkit12_cudaMemAdvise, devPtr, count, advice, device);
}
CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, std::size_t count, CUdevice dstDevice,
                            CUstream hStream) {
  return same(toolkit12_cudaMemPrefetchAsync, devPtr, count, dstDevice, hStream);
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, std::size_t count, CUmem_advise advice,
                        CUmemLocation location) {
  cudaMemLocation place{};
  place.type = static_cast<cudaMemLocationType>(location.type);
  place.id = location.id;
  return same(cudaMemAdvise, devPtr, count, advice, place);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, std::size_t count, CUmemLocation location,
                               unsigned flags, CUstream hStream) {
  cudaMemLocation place{};
  place.type = static_cast<cudaMemLocationType>(location.type);
  place.id = location.id;
  return same(cudaMemPrefetchAsync, devPtr, count, place, flags, hStream);
}

} // extern "C"
