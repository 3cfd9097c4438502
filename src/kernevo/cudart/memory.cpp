// Allocation, copies and symbols. A device pointer is a host address, so a copy is a copy; ranges
// inside device allocations are checked.
#include "kernevo/cudart/array.h"
#include "kernevo/cudart/runtime.h"

#include <cstring>

using kernevo::cudart::Runtime;
using kernevo::cudart::Symbol;

namespace {

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer); // NOLINT
}

cudaError_t allocate(void** pointer, std::size_t bytes, const char* what,
                     cudaMemoryType type = cudaMemoryTypeDevice) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  if (pointer == nullptr)
    return runtime.set_error(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  const auto made = runtime.machine().allocate(bytes, what);
  if (!made)
    return runtime.set_error(cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void*>(*made); // NOLINT
  if (type != cudaMemoryTypeDevice)
    runtime.memory_types[*made] = type;
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  if (pointer == nullptr)
    return cudaSuccess;
  if (runtime.machine().bytes(address_of(pointer)).data() != pointer)
    return runtime.set_error(cudaErrorInvalidValue);
  runtime.memory_types.erase(address_of(pointer));
  runtime.machine().free(address_of(pointer));
  return cudaSuccess;
}

// Inside one allocation, or not device memory at all.
bool in_range(const void* pointer, std::size_t bytes) {
  if (pointer == nullptr)
    return bytes == 0;
  const auto whole = Runtime::get().machine().bytes(address_of(pointer));
  if (whole.empty())
    return true;
  const auto offset = static_cast<const std::byte*>(pointer) - whole.data();
  return bytes <= whole.size() - static_cast<std::size_t>(offset);
}

cudaError_t copy_bytes(void* to, const void* from, std::size_t bytes) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  if (!in_range(to, bytes) || !in_range(from, bytes))
    return cudaErrorInvalidValue;
  if (bytes != 0)
    std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t fill_bytes(void* to, int value, std::size_t bytes) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  if (!in_range(to, bytes))
    return cudaErrorInvalidValue;
  if (bytes != 0)
    std::memset(to, value, bytes);
  return cudaSuccess;
}

struct Plane {
  std::byte* data;
  std::size_t pitch;
};

cudaError_t copy_rows(Plane to, Plane from, std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t error =
            copy_bytes(to.data + row * to.pitch, from.data + row * from.pitch, width);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

std::byte* bytes_of(const void* pointer) {
  return static_cast<std::byte*>(const_cast<void*>(pointer)); // NOLINT
}

// One end of a three-dimensional copy: memory with a pitch, or an array.
struct Box {
  std::byte* first = nullptr;
  std::size_t pitch = 0;
  std::size_t plane = 0; // bytes from plane to plane
};

Box box_of(const cudaPitchedPtr& pointer, cudaArray_const_t handle, const cudaPos& at) {
  if (const cudaArray* array = kernevo::cudart::array_of(handle)) {
    Box box{nullptr, kernevo::cudart::array_pitch(*array), 0};
    box.plane = box.pitch * kernevo::cudart::array_rows(*array);
    box.first = kernevo::cudart::array_bytes(*array) + at.z * box.plane + at.y * box.pitch +
                at.x * array->image.format.bytes();
    return box;
  }
  Box box{nullptr, pointer.pitch, pointer.pitch * pointer.ysize};
  box.first = bytes_of(pointer.ptr) + at.z * box.plane + at.y * box.pitch + at.x;
  return box;
}

cudaError_t copy_box(const cudaMemcpy3DParms& p) {
  // With an array on either side the width counts its elements.
  const cudaArray* array = kernevo::cudart::array_of(p.srcArray);
  if (array == nullptr)
    array = kernevo::cudart::array_of(p.dstArray);
  const std::size_t width = p.extent.width * (array != nullptr ? array->image.format.bytes() : 1);
  const Box from = box_of(p.srcPtr, p.srcArray, p.srcPos);
  const Box to = box_of(p.dstPtr, p.dstArray, p.dstPos);
  for (std::size_t z = 0; z < p.extent.depth; ++z)
    if (const cudaError_t error =
            copy_rows({to.first + z * to.plane, to.pitch},
                      {from.first + z * from.plane, from.pitch}, width, p.extent.height);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

constexpr std::size_t kPitch = 512;

std::size_t pitched(std::size_t width) {
  return (width + kPitch - 1) / kPitch * kPitch;
}

// The symbol's memory from `offset` on, or null when there are not `bytes` of it.
std::byte* symbol_bytes(const void* host, std::size_t bytes, std::size_t offset) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  const Symbol* symbol = runtime.symbol(host);
  if (symbol == nullptr || offset > symbol->bytes || bytes > symbol->bytes - offset)
    return nullptr;
  const auto address = runtime.address(*symbol);
  return address == 0 ? nullptr : reinterpret_cast<std::byte*>(address) + offset; // NOLINT
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
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t /*stream*/) {
  return allocate(pointer, bytes, "cudaMallocAsync");
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t /*pool*/,
                                    cudaStream_t /*stream*/) {
  return allocate(pointer, bytes, "cudaMallocAsync");
}
cudaError_t cudaFree(void* pointer) {
  return release(pointer);
}
cudaError_t cudaFreeHost(void* pointer) {
  return release(pointer);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  // A captured graph may run again, and will want the memory again.
  if (const CUstream_st* const stream = kernevo::cudart::stream_of(handle);
      stream != nullptr && stream->capturing())
    return Runtime::get().submit(handle, nullptr, cudaGraphNodeTypeMemFree);
  return release(pointer);
}
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  const auto adopted =
      runtime.machine().adopt({static_cast<std::byte*>(pointer), bytes}, "cudaHostRegister");
  if (!adopted)
    return runtime.set_error(cudaErrorHostMemoryAlreadyRegistered);
  runtime.memory_types[*adopted] = cudaMemoryTypeHost;
  return cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* /*host*/) {
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  return release(pointer);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  *pitch = pitched(width);
  return allocate(pointer, *pitch * height, "cudaMallocPitch");
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  *pointer = {nullptr, pitched(extent.width), extent.width, extent.height};
  return allocate(&pointer->ptr, pointer->pitch * extent.height * extent.depth, "cudaMalloc3D");
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *total = Runtime::get().machine().gpu().memory.value;
  *available = *total - *total / 16;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  *attributes = {};
  const auto whole = runtime.machine().bytes(address_of(pointer));
  if (whole.empty()) {
    attributes->type = cudaMemoryTypeUnregistered;
    return cudaSuccess;
  }
  const auto special = runtime.memory_types.find(address_of(whole.data()));
  attributes->type = special == runtime.memory_types.end() ? cudaMemoryTypeDevice : special->second;
  attributes->devicePointer = const_cast<void*>(pointer); // NOLINT
  if (attributes->type != cudaMemoryTypeDevice)
    attributes->hostPointer = attributes->devicePointer;
  return cudaSuccess;
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

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
  return Runtime::get().submit(stream, [=] { return copy_bytes(to, from, bytes); });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpyPeer(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                           std::size_t bytes) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                                std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind /*kind*/, cudaStream_t stream) {
  return Runtime::get().submit(stream, [=] {
    return copy_rows({bytes_of(to), to_pitch}, {bytes_of(from), from_pitch}, width, height);
  });
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return Runtime::get().submit(stream, [p = *parameters] { return copy_box(p); });
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return cudaMemcpy3DAsync(parameters, nullptr);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  cudaMemcpy3DParms same{};
  same.srcArray = p->srcArray;
  same.srcPos = p->srcPos;
  same.srcPtr = p->srcPtr;
  same.dstArray = p->dstArray;
  same.dstPos = p->dstPos;
  same.dstPtr = p->dstPtr;
  same.extent = p->extent;
  same.kind = cudaMemcpyDefault;
  return cudaMemcpy3DAsync(&same, stream);
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return cudaMemcpy3DPeerAsync(parameters, nullptr);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return Runtime::get().submit(
      stream, [=] { return fill_bytes(to, value, bytes); }, cudaGraphNodeTypeMemset);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return Runtime::get().submit(stream, [=] {
    for (std::size_t row = 0; row < height; ++row)
      if (const cudaError_t error = fill_bytes(bytes_of(to) + row * pitch, value, width);
          error != cudaSuccess)
        return error;
    return cudaSuccess;
  });
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
  *pointer = symbol_bytes(symbol, 0, 0);
  return *pointer != nullptr ? cudaSuccess : Runtime::get().set_error(cudaErrorInvalidSymbol);
}
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  const Symbol* found = Runtime::get().symbol(symbol);
  if (found == nullptr)
    return Runtime::get().set_error(cudaErrorInvalidSymbol);
  *bytes = found->bytes;
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind /*kind*/,
                                    cudaStream_t stream) {
  std::byte* to = symbol_bytes(symbol, bytes, offset);
  if (to == nullptr)
    return Runtime::get().set_error(cudaErrorInvalidSymbol);
  return Runtime::get().submit(stream, [=] { return copy_bytes(to, from, bytes); });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind /*kind*/,
                                      cudaStream_t stream) {
  const std::byte* from = symbol_bytes(symbol, bytes, offset);
  if (from == nullptr)
    return Runtime::get().set_error(cudaErrorInvalidSymbol);
  return Runtime::get().submit(stream, [=] { return copy_bytes(to, from, bytes); });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
}

} // extern "C"
