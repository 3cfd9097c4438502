// Pools of memory: allocations are made when asked for, so a pool is a name with settings.
#include "kernevo/cuda/core/live.h"
#include "kernevo/cuda/core/session.h"

#include <cstring>
#include <map>

using kernevo::cuda::Session;

struct CUmemPoolHandle_st : kernevo::cuda::Live<CUmemPoolHandle_st> {
  std::map<cudaMemPoolAttr, std::uint64_t> attributes = {
      {cudaMemPoolReuseFollowEventDependencies, 1},
      {cudaMemPoolReuseAllowOpportunistic, 1},
      {cudaMemPoolReuseAllowInternalDependencies, 1}};
};

namespace {

CUmemPoolHandle_st& default_pool() {
  static auto* const pool = new CUmemPoolHandle_st(); // asked for until the very end
  return *pool;
}

cudaMemPool_t& current_pool() {
  static cudaMemPool_t pool = &default_pool();
  return pool;
}

// The first three are flags of 32 bits, the rest are sizes.
std::size_t bytes_of(cudaMemPoolAttr attribute) {
  return attribute <= cudaMemPoolReuseAllowInternalDependencies ? sizeof(int)
                                                                : sizeof(std::uint64_t);
}

cudaError_t refuse() {
  return kernevo::cuda::set_error(cudaErrorInvalidValue);
}

} // namespace

extern "C" {

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return CUmemPoolHandle_st::has(pool) ? cudaMallocAsync(pointer, bytes, stream) : refuse();
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr || device != 0)
    return refuse();
  *pool = &default_pool();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr || device != 0)
    return refuse();
  *pool = current_pool();
  return cudaSuccess;
}
cudaError_t cudaDeviceSetMemPool(int /*device*/, cudaMemPool_t pool) {
  if (!CUmemPoolHandle_st::has(pool))
    return refuse();
  current_pool() = pool;
  return cudaSuccess;
}
// There is one device and one kind of memory: the place decides nothing.
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* place,
                                     cudaMemAllocationType /*type*/) {
  if (pool == nullptr || place == nullptr)
    return refuse();
  *pool = &default_pool();
  return cudaSuccess;
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* place,
                              cudaMemAllocationType /*type*/) {
  if (pool == nullptr || place == nullptr)
    return refuse();
  *pool = current_pool();
  return cudaSuccess;
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* place, cudaMemAllocationType /*type*/,
                              cudaMemPool_t pool) {
  if (place == nullptr || !CUmemPoolHandle_st::has(pool))
    return refuse();
  current_pool() = pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* /*properties*/) {
  if (pool == nullptr)
    return refuse();
  *pool = new CUmemPoolHandle_st();
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (!CUmemPoolHandle_st::has(pool) || pool == &default_pool())
    return refuse();
  if (current_pool() == pool)
    current_pool() = &default_pool();
  delete pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t /*bytes*/) {
  return CUmemPoolHandle_st::has(pool) ? cudaSuccess : refuse();
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!CUmemPoolHandle_st::has(pool) || value == nullptr)
    return refuse();
  std::uint64_t stored = 0;
  std::memcpy(&stored, value, bytes_of(attribute));
  // High-water marks can only be set back.
  if (attribute == cudaMemPoolAttrReservedMemCurrent || attribute == cudaMemPoolAttrUsedMemCurrent)
    return refuse();
  pool->attributes[attribute] = stored;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!CUmemPoolHandle_st::has(pool) || value == nullptr)
    return refuse();
  const std::uint64_t stored = pool->attributes[attribute];
  std::memcpy(value, &stored, bytes_of(attribute));
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t /*pool*/, const cudaMemAccessDesc* /*list*/,
                                 std::size_t /*count*/) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t /*pool*/,
                                 cudaMemLocation* /*location*/) {
  if (flags == nullptr)
    return refuse();
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}
cudaError_t cudaDeviceGraphMemTrim(int /*device*/) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetGraphMemAttribute(int /*device*/, cudaGraphMemAttributeType /*attribute*/,
                                           void* value) {
  std::memset(value, 0, sizeof(std::uint64_t));
  return cudaSuccess;
}
cudaError_t cudaDeviceSetGraphMemAttribute(int /*device*/, cudaGraphMemAttributeType /*attribute*/,
                                           void* /*value*/) {
  return cudaSuccess;
}

} // extern "C"
