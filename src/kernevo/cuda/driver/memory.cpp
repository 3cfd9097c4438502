// The driver's interface: memory and what is known of it.
#include "kernevo/cuda/core/memory.h"

#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/driver/driver.h"

#include <cstring>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

CUresult allocate_at(CUdeviceptr* address, std::size_t bytes, const char* what,
                     cudaMemoryType type = cudaMemoryTypeDevice) {
  KERNEVO_READY();
  if (address == nullptr || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const KeepsLastError keeps;
  void* pointer = nullptr;
  const cudaError_t error = allocate(&pointer, bytes, what, type);
  if (error == cudaSuccess)
    *address = address_of(pointer);
  return driver_result(error);
}

CUresult allocate_host(void** pointer, std::size_t bytes, const char* what) {
  KERNEVO_READY();
  if (pointer == nullptr || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const KeepsLastError keeps;
  return driver_result(allocate(pointer, bytes, what, cudaMemoryTypeHost));
}

CUresult give_back(void* pointer) {
  if (const CUresult no = device_of(0); no != CUDA_SUCCESS)
    return no;
  const KeepsLastError keeps;
  return driver_result(release(pointer));
}

template <class T> CUresult answer(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  cudaPointerAttributes known{};
  describe_pointer(&known, pointer_of(address));
  const auto whole = Session::get().machine().bytes(address);
  const bool found = known.type != cudaMemoryTypeUnregistered;
  const bool is_host = known.type == cudaMemoryTypeHost;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return answer<int>(data, known.type == cudaMemoryTypeManaged ? 1 : 0);
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return answer<int>(data, 0);
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return answer<int>(data, 0);
  case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return answer<int>(data, 0);
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return answer<unsigned long long>(data, 0);
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return answer<void*>(data, nullptr);
  case CU_POINTER_ATTRIBUTE_MAPPED: return answer<int>(data, found ? 1 : 0);
  default: break;
  }
  if (!found)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: return answer<CUcontext>(data, current_context());
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return answer<unsigned>(data, is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(data, address);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (known.type == cudaMemoryTypeDevice)
      return CUDA_ERROR_INVALID_VALUE;
    return answer(data, address);
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return answer<int>(data, 0);
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    return answer<unsigned long long>(data, address_of(whole.data()));
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer<int>(data, 0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(data, address_of(whole.data()));
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(data, whole.size());
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return answer<unsigned>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
  default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

} // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return allocate_at(address, bytes, "cuMemAlloc");
}
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  if (!is_stream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  return allocate_at(address, bytes, "cuMemAllocAsync");
}
CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned element) {
  KERNEVO_READY();
  if (address == nullptr || pitch == nullptr || width == 0 || height == 0 ||
      (element != 4 && element != 8 && element != 16))
    return CUDA_ERROR_INVALID_VALUE;
  const KeepsLastError keeps;
  void* pointer = nullptr;
  const cudaError_t error = allocate_pitched(&pointer, pitch, width, height);
  *address = address_of(pointer);
  return driver_result(error);
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  return allocate_at(address, bytes, "cuMemAllocManaged", cudaMemoryTypeManaged);
}
CUresult cuMemFree(CUdeviceptr address) {
  return give_back(pointer_of(address));
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(release_async(pointer_of(address), stream));
}
CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return allocate_host(pointer, bytes, "cuMemAllocHost");
}
CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  return allocate_host(pointer, bytes, "cuMemHostAlloc");
}
CUresult cuMemFreeHost(void* pointer) {
  return pointer == nullptr ? CUDA_ERROR_INVALID_VALUE : give_back(pointer);
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* pointer, unsigned flags) {
  KERNEVO_NEED(address);
  KERNEVO_NEED(pointer);
  KERNEVO_READY();
  if (flags != 0 || Session::get().machine().bytes(address_of(pointer)).empty())
    return CUDA_ERROR_INVALID_VALUE;
  *address = address_of(pointer);
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  KERNEVO_NEED(flags);
  KERNEVO_READY();
  if (Session::get().machine().bytes(address_of(pointer)).empty())
    return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(register_host(pointer, bytes));
}
CUresult cuMemHostUnregister(void* pointer) {
  KERNEVO_NEED(pointer);
  const CUresult result = give_back(pointer);
  return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : result;
}
CUresult cuMemGetInfo(std::size_t* available, std::size_t* total) {
  KERNEVO_NEED(available);
  KERNEVO_NEED(total);
  KERNEVO_READY();
  return driver_result(memory_info(available, total));
}
CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  KERNEVO_READY();
  const auto whole = Session::get().machine().bytes(address);
  if (whole.empty())
    return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr)
    *base = address_of(whole.data());
  if (bytes != nullptr)
    *bytes = whole.size();
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  KERNEVO_NEED(data);
  KERNEVO_READY();
  const KeepsLastError keeps;
  return pointer_attribute(data, attribute, address);
}
// Of a pointer nobody knows everything is zero.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  KERNEVO_NEED(attributes);
  KERNEVO_NEED(data);
  KERNEVO_READY();
  const KeepsLastError keeps;
  for (unsigned i = 0; i < count; ++i) {
    KERNEVO_NEED(data[i]);
    const CUresult result = pointer_attribute(data[i], attributes[i], address);
    if (result == CUDA_ERROR_NOT_SUPPORTED)
      return result;
    if (result == CUDA_SUCCESS)
      continue;
    const bool is_int = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                        attributes[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                        attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ||
                        attributes[i] == CU_POINTER_ATTRIBUTE_ACCESS_FLAGS;
    std::memset(data[i], 0, is_int ? sizeof(int) : sizeof(void*));
    if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      answer<int>(data[i], -2);
  }
  return CUDA_SUCCESS;
}
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  KERNEVO_NEED(value);
  KERNEVO_READY();
  return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                 !Session::get().machine().bytes(address).empty()
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

} // extern "C"
