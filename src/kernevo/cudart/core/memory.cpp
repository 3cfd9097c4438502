#include "kernevo/cudart/core/memory.h"

#include "kernevo/cudart/core/array.h"
#include "kernevo/cudart/core/session.h"

#include <cstring>

namespace kernevo::cudart {
namespace {

constexpr std::size_t kPitch = 512;

// Inside one allocation, or not device memory at all.
bool in_range(const void* pointer, std::size_t bytes) {
  if (pointer == nullptr)
    return bytes == 0;
  const auto whole = Session::get().machine().bytes(address_of(pointer));
  if (whole.empty())
    return true;
  const auto offset = static_cast<const std::byte*>(pointer) - whole.data();
  return bytes <= whole.size() - static_cast<std::size_t>(offset);
}

// One end of a three-dimensional copy: memory with a pitch, or an array.
struct Box {
  std::byte* first = nullptr;
  std::size_t pitch = 0;
  std::size_t plane = 0; // bytes from plane to plane
};

Box box_of(const cudaPitchedPtr& pointer, cudaArray_const_t handle, const cudaPos& at) {
  if (const cudaArray* array = array_of(handle)) {
    Box box{nullptr, array_pitch(*array), 0};
    box.plane = box.pitch * array_rows(*array);
    box.first = array_bytes(*array) + at.z * box.plane + at.y * box.pitch +
                at.x * array->image.format.bytes();
    return box;
  }
  Box box{nullptr, pointer.pitch, pointer.pitch * pointer.ysize};
  box.first = bytes_of(pointer.ptr) + at.z * box.plane + at.y * box.pitch + at.x;
  return box;
}

} // namespace

cudaError_t allocate(void** pointer, std::size_t bytes, const char* what, cudaMemoryType type) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (pointer == nullptr)
    return session.set_error(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  const auto made = session.machine().allocate(bytes, what);
  if (!made)
    return session.set_error(cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void*>(*made); // NOLINT
  if (type != cudaMemoryTypeDevice)
    session.memory_types[*made] = type;
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (pointer == nullptr)
    return cudaSuccess;
  if (session.machine().bytes(address_of(pointer)).data() != pointer)
    return session.set_error(cudaErrorInvalidValue);
  session.memory_types.erase(address_of(pointer));
  session.machine().free(address_of(pointer));
  return cudaSuccess;
}

cudaError_t copy_bytes(void* to, const void* from, std::size_t bytes) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (!in_range(to, bytes) || !in_range(from, bytes))
    return cudaErrorInvalidValue;
  if (bytes != 0)
    std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t fill_bytes(void* to, int value, std::size_t bytes) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (!in_range(to, bytes))
    return cudaErrorInvalidValue;
  if (bytes != 0)
    std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t copy_rows(Plane to, Plane from, std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t error =
            copy_bytes(to.data + row * to.pitch, from.data + row * from.pitch, width);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

cudaError_t copy_box(const cudaMemcpy3DParms& p) {
  // With an array on either side the width counts its elements.
  const cudaArray* array = array_of(p.srcArray);
  if (array == nullptr)
    array = array_of(p.dstArray);
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

std::size_t pitched(std::size_t width) {
  return (width + kPitch - 1) / kPitch * kPitch;
}

std::byte* symbol_bytes(const void* host, std::size_t bytes, std::size_t offset) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  const Symbol* symbol = session.symbol(host);
  if (symbol == nullptr || offset > symbol->bytes || bytes > symbol->bytes - offset)
    return nullptr;
  const auto address = session.address(*symbol);
  return address == 0 ? nullptr : reinterpret_cast<std::byte*>(address) + offset; // NOLINT
}

cudaError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width,
                             std::size_t height) {
  *pitch = pitched(width);
  return allocate(pointer, *pitch * height, "cudaMallocPitch");
}

cudaError_t release_async(void* pointer, cudaStream_t handle) {
  // A captured graph may run again, and will want the memory again.
  if (const CUstream_st* const stream = stream_of(handle); stream != nullptr && stream->capturing())
    return Session::get().submit(handle, nullptr, cudaGraphNodeTypeMemFree);
  return release(pointer);
}

cudaError_t register_host(void* pointer, std::size_t bytes) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  const auto adopted =
      session.machine().adopt({static_cast<std::byte*>(pointer), bytes}, "cudaHostRegister");
  if (!adopted)
    return session.set_error(cudaErrorHostMemoryAlreadyRegistered);
  session.memory_types[*adopted] = cudaMemoryTypeHost;
  return cudaSuccess;
}

cudaError_t memory_info(std::size_t* available, std::size_t* total) {
  *total = Session::get().machine().gpu().memory.value;
  *available = *total - *total / 16;
  return cudaSuccess;
}

cudaError_t describe_pointer(cudaPointerAttributes* attributes, const void* pointer) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  *attributes = {};
  const auto whole = session.machine().bytes(address_of(pointer));
  if (whole.empty()) {
    attributes->type = cudaMemoryTypeUnregistered;
    return cudaSuccess;
  }
  const auto special = session.memory_types.find(address_of(whole.data()));
  attributes->type = special == session.memory_types.end() ? cudaMemoryTypeDevice : special->second;
  attributes->devicePointer = const_cast<void*>(pointer); // NOLINT
  if (attributes->type != cudaMemoryTypeDevice)
    attributes->hostPointer = attributes->devicePointer;
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  return Session::get().submit(stream, [=] { return copy_bytes(to, from, bytes); });
}

cudaError_t copy(const cudaMemcpy3DParms& parameters, cudaStream_t stream) {
  return Session::get().submit(stream, [p = parameters] { return copy_box(p); });
}

} // namespace kernevo::cudart
