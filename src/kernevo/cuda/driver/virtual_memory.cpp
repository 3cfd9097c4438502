// The driver's interface: addresses reserved first and given memory later. Memory comes with the
// address here, so a piece of physical memory can be mapped in one place at a time.
#include "kernevo/cuda/core/memory.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/driver/driver.h"

#include <iterator>
#include <map>

using kernevo::cuda::driver_result;
using kernevo::cuda::pointer_of;
using kernevo::cuda::Session;

namespace {

constexpr std::size_t kGranularity = 2U << 20U;

struct Physical {
  std::size_t bytes = 0;
  CUdeviceptr mapped = 0;
  bool released = false;
};

struct Memory {
  std::map<CUmemGenericAllocationHandle, Physical> physical;
  CUmemGenericAllocationHandle next = 1;
};
Memory& memory() {
  static Memory all;
  return all;
}

bool is_reserved(CUdeviceptr address, std::size_t bytes) {
  const auto whole = Session::get().machine().bytes(address);
  const CUdeviceptr base = kernevo::cuda::address_of(whole.data());
  return !whole.empty() && bytes <= whole.size() - (address - base);
}

} // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes,
                                       const CUmemAllocationProp* /*properties*/,
                                       CUmemAllocationGranularity_flags /*option*/) {
  *bytes = kGranularity;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t /*alignment*/,
                             CUdeviceptr /*wanted*/, unsigned long long /*flags*/) {
  if (bytes == 0 || bytes % kGranularity != 0)
    return CUDA_ERROR_INVALID_VALUE;
  void* pointer = nullptr;
  const cudaError_t error = kernevo::cuda::allocate(&pointer, bytes, "cudaMalloc");
  *address = kernevo::cuda::address_of(pointer);
  return driver_result(error);
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t /*bytes*/) {
  return driver_result(kernevo::cuda::release(pointer_of(address)));
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* /*properties*/, unsigned long long /*flags*/) {
  const std::lock_guard lock(Session::get().mutex);
  if (bytes == 0 || bytes % kGranularity != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = memory().next++;
  memory().physical[*handle].bytes = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(Session::get().mutex);
  const auto found = memory().physical.find(handle);
  if (found == memory().physical.end())
    return CUDA_ERROR_INVALID_VALUE;
  // Mapped memory lives until it is unmapped.
  found->second.released = true;
  if (found->second.mapped == 0)
    memory().physical.erase(found);
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long /*flags*/) {
  const std::lock_guard lock(Session::get().mutex);
  const auto found = memory().physical.find(handle);
  if (found == memory().physical.end() || offset != 0 || bytes != found->second.bytes ||
      !is_reserved(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (found->second.mapped != 0)
    return CUDA_ERROR_NOT_SUPPORTED;
  found->second.mapped = address;
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  const std::lock_guard lock(Session::get().mutex);
  auto& all = memory().physical;
  for (auto at = all.begin(); at != all.end();) {
    Physical& physical = at->second;
    const bool inside = physical.mapped >= address && physical.mapped < address + bytes;
    if (inside)
      physical.mapped = 0;
    at = inside && physical.released ? all.erase(at) : std::next(at);
  }
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* /*list*/,
                        std::size_t /*count*/) {
  const std::lock_guard lock(Session::get().mutex);
  return is_reserved(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* /*location*/,
                        CUdeviceptr /*address*/) {
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

} // extern "C"
