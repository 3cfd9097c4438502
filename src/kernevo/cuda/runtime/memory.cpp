// Allocation, copies and symbols.
#include "kernevo/cuda/core/memory.h"

#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"

#include <cstring>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

// After a copy that the caller may rely on.
cudaError_t settled(cudaStream_t stream) {
  if (is_stream(stream) && stream_of(stream)->capturing())
    return cudaSuccess;
  return set_error(synchronize_stream(stream));
}

} // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, "cudaMalloc");
}
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  return allocate(pointer, bytes, "cudaMallocManaged", cudaMemoryTypeManaged);
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, "cudaMallocHost", cudaMemoryTypeHost);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  return allocate(pointer, bytes, "cudaHostAlloc", cudaMemoryTypeHost);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  if (!is_stream(stream))
    return set_error(cudaErrorInvalidResourceHandle);
  return allocate(pointer, bytes, "cudaMallocAsync");
}
cudaError_t cudaFree(void* pointer) {
  return release(pointer);
}
cudaError_t cudaFreeHost(void* pointer) {
  return release(pointer);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  return release_async(pointer, handle);
}
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  return register_host(pointer, bytes);
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* /*host*/) {
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  return release(pointer);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
  if (device == nullptr || host == nullptr)
    return set_error(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return allocate_pitched(pointer, pitch, width, height);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  const std::size_t pitch = pitched(extent.width);
  std::size_t bytes = 0;
  if (pointer == nullptr || pitch < extent.width ||
      __builtin_mul_overflow(pitch, extent.height, &bytes) ||
      __builtin_mul_overflow(bytes, extent.depth, &bytes))
    return set_error(cudaErrorInvalidValue);
  *pointer = {nullptr, pitch, extent.width, extent.height};
  return allocate(&pointer->ptr, bytes, "cudaMalloc3D");
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  return memory_info(available, total);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return describe_pointer(attributes, pointer);
}
cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t bytes,
                                     cudaMemRangeAttribute /*attribute*/, const void* /*pointer*/,
                                     std::size_t /*count*/) {
  std::memset(data, 0, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* bytes,
                                      cudaMemRangeAttribute* /*attributes*/, std::size_t count,
                                      const void* /*pointer*/, std::size_t /*range*/) {
  for (std::size_t i = 0; i < count; ++i)
    std::memset(data[i], 0, bytes[i]);
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void* /*pointer*/, std::size_t /*bytes*/,
                                 cudaMemLocation /*location*/, unsigned /*flags*/,
                                 cudaStream_t /*stream*/) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void* /*pointer*/, std::size_t /*bytes*/,
                          cudaMemoryAdvise /*advice*/, cudaMemLocation /*location*/) {
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy(to, from, bytes, kind, stream, false);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind, nullptr, true);
}
cudaError_t cudaMemcpyPeer(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                           std::size_t bytes) {
  return copy(to, from, bytes, cudaMemcpyDefault, nullptr, true);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                                std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch)
    return set_error(cudaErrorInvalidPitchValue);
  return copy_planes({bytes_of(to), to_pitch}, {bytes_of(from), from_pitch}, width, height, kind,
                     stream, false);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch)
    return set_error(cudaErrorInvalidPitchValue);
  return copy_planes({bytes_of(to), to_pitch}, {bytes_of(from), from_pitch}, width, height, kind,
                     nullptr, true);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (parameters == nullptr)
    return set_error(cudaErrorInvalidValue);
  return copy(*parameters, stream, false);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr)
    return set_error(cudaErrorInvalidValue);
  return copy(*parameters, nullptr, true);
}

static cudaMemcpy3DParms without_devices(const cudaMemcpy3DPeerParms* p) {
  cudaMemcpy3DParms same{};
  same.srcArray = p->srcArray;
  same.srcPos = p->srcPos;
  same.srcPtr = p->srcPtr;
  same.dstArray = p->dstArray;
  same.dstPos = p->dstPos;
  same.dstPtr = p->dstPtr;
  same.extent = p->extent;
  same.kind = cudaMemcpyDefault;
  return same;
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return p == nullptr ? set_error(cudaErrorInvalidValue) : copy(without_devices(p), stream, false);
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return p == nullptr ? set_error(cudaErrorInvalidValue) : copy(without_devices(p), nullptr, true);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return fill({bytes_of(to), 0}, static_cast<unsigned>(value), 1, bytes, 1, stream);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return fill({bytes_of(to), pitch}, static_cast<unsigned>(value), 1, width, height, stream);
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z)
    if (const cudaError_t error =
            cudaMemset2DAsync(bytes_of(pointer.ptr) + z * pointer.ysize * pointer.pitch,
                              pointer.pitch, value, extent.width, extent.height, stream);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return cudaMemset3DAsync(pointer, value, extent, nullptr);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (pointer == nullptr)
    return set_error(cudaErrorInvalidValue);
  *pointer = symbol_bytes(symbol, 0, 0);
  return *pointer != nullptr ? cudaSuccess : set_error(cudaErrorInvalidSymbol);
}
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  const Symbol* found = Session::get().symbol(symbol);
  if (found == nullptr)
    return set_error(cudaErrorInvalidSymbol);
  if (bytes == nullptr)
    return set_error(cudaErrorInvalidValue);
  *bytes = found->bytes;
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind /*kind*/,
                                    cudaStream_t stream) {
  std::byte* to = symbol_bytes(symbol, bytes, offset);
  if (to == nullptr)
    return set_error(cudaErrorInvalidSymbol);
  return copy(to, from, bytes, cudaMemcpyDefault, stream, false);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
  return error == cudaSuccess ? settled(nullptr) : error;
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind /*kind*/,
                                      cudaStream_t stream) {
  const std::byte* from = symbol_bytes(symbol, bytes, offset);
  if (from == nullptr)
    return set_error(cudaErrorInvalidSymbol);
  return copy(to, from, bytes, cudaMemcpyDefault, stream, false);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
  return error == cudaSuccess ? settled(nullptr) : error;
}

} // extern "C"
