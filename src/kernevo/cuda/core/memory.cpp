#include "kernevo/cuda/core/memory.h"

#include "kernevo/cuda/common/faults.h"
#include "kernevo/cuda/core/array.h"
#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/recording.h"
#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace kernevo::cuda {
namespace {

constexpr std::size_t kPitch = 512;

// Inside one allocation; memory of the host's own is nobody's to judge.
bool in_range(const void* pointer, std::size_t bytes, bool of_device) {
  if (pointer == nullptr)
    return bytes == 0;
  const auto whole = Session::get().machine().bytes(address_of(pointer));
  if (whole.empty())
    return !of_device || bytes == 0;
  const auto offset = static_cast<const std::byte*>(pointer) - whole.data();
  return bytes <= whole.size() - static_cast<std::size_t>(offset);
}

// Which way a copy goes, by where its ends are.
Transfer transfer_between(const void* to, const void* from) {
  cudaPointerAttributes target{};
  cudaPointerAttributes source{};
  describe_pointer(&target, to);
  describe_pointer(&source, from);
  const auto on_host = [](const cudaPointerAttributes& end) {
    return end.type == cudaMemoryTypeHost || end.type == cudaMemoryTypeUnregistered;
  };
  if (on_host(target) && on_host(source))
    return Transfer::on_host;
  if (on_host(source))
    return source.type == cudaMemoryTypeHost ? Transfer::to_device : Transfer::pageable_in;
  if (on_host(target))
    return target.type == cudaMemoryTypeHost ? Transfer::from_device : Transfer::pageable_out;
  return Transfer::on_device;
}

bool to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}
bool from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

// From the first byte of rows to the last, or nothing when no address space is that large.
std::optional<std::size_t> span_of(std::size_t pitch, std::size_t width, std::size_t height) {
  std::size_t bytes = 0;
  if (height == 0 || width == 0)
    return 0;
  if (__builtin_mul_overflow(pitch, height - 1, &bytes) ||
      __builtin_add_overflow(bytes, width, &bytes))
    return std::nullopt;
  return bytes;
}

// One end of a three-dimensional copy: memory with a pitch, or an array.
struct Box {
  std::byte* first = nullptr;
  std::size_t pitch = 0;
  std::size_t plane = 0; // bytes from plane to plane
};

Box box_of(const cudaPitchedPtr& pointer, cudaArray_const_t handle, const cudaPos& at) {
  if (const cudaArray* array = handle) {
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

// Whether a part of this size lies in the array; anything fits where there is none.
bool fits(const cudaArray* array, const cudaPos& at, const cudaExtent& part) {
  if (array == nullptr)
    return true;
  const auto inside = [](std::size_t first, std::size_t count, std::size_t whole) {
    return first <= whole && count <= whole - first;
  };
  const vgpu::ImageDescription& image = array->image;
  const std::size_t planes = std::max<std::size_t>({1, image.depth, image.layers});
  return inside(at.x, part.width, image.width) && inside(at.y, part.height, array_rows(*array)) &&
         inside(at.z, part.depth, planes);
}

} // namespace

cudaError_t allocate(void** pointer, std::size_t bytes, const char* what, cudaMemoryType type) {
  need_context();
  if (const int fault = Faults::get().allocation(); fault != 0)
    return static_cast<cudaError_t>(fault);
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (pointer == nullptr)
    return set_error(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  const auto made = session.machine().allocate(bytes, what);
  if (!made)
    return set_error(cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void*>(*made); // NOLINT
  if (type != cudaMemoryTypeDevice)
    session.memory_types[*made] = type;
  if (Recording::is_on())
    Recording::get().allocated(*made, bytes, type);
  if (session.any_capture_is_open())
    session.graph_memory.insert(*made);
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  need_context();
  if (pointer == nullptr)
    return cudaSuccess;
  // Nobody may be using it; the work of a queue that frees something cannot wait for itself.
  if (!is_queue_thread())
    wait_for_all_work();
  return release_now(pointer);
}

cudaError_t release_now(void* pointer) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (session.machine().bytes(address_of(pointer)).data() != pointer)
    return set_error(cudaErrorInvalidValue);
  if (session.graph_memory.contains(address_of(pointer)))
    return cudaSuccess; // the graph's next launch has it again
  if (Recording::is_on())
    Recording::get().freed(address_of(pointer));
  session.memory_types.erase(address_of(pointer));
  session.machine().free(address_of(pointer));
  return cudaSuccess;
}

cudaError_t copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (!in_range(to, bytes, to_device(kind)) || !in_range(from, bytes, from_device(kind)))
    return cudaErrorInvalidValue;
  if (Recording::is_on())
    Recording::get().copy({bytes_of(to), bytes}, {bytes_of(from), bytes}, bytes, 1);
  const bool done = Recording::does(bytes) || transfer_between(to, from) != Transfer::on_device;
  if (bytes != 0 && done)
    std::memmove(to, from, bytes);
  if (TimedWork* const timed = TimedWork::current())
    timed->add_bytes(transfer_between(to, from), bytes);
  return cudaSuccess;
}

cudaError_t fill_elements(void* to, unsigned value, std::size_t element, std::size_t count) {
  return fill_rows({bytes_of(to), 0}, value, element, count, 1);
}

cudaError_t fill_rows(Plane to, unsigned value, std::size_t element, std::size_t width,
                      std::size_t height) {
  std::size_t row = 0;
  if ((element != 1 && element != 2 && element != 4) ||
      __builtin_mul_overflow(width, element, &row) || (height > 1 && row > to.pitch))
    return cudaErrorInvalidValue;
  const auto span = span_of(to.pitch, row, height);
  if (!span || !in_range(to.data, *span, true))
    return cudaErrorInvalidValue;
  if (Recording::is_on())
    Recording::get().fill(to, value, element, width, height);
  for (std::size_t y = 0; *span != 0 && y < height && Recording::does(*span); ++y)
    for (std::size_t x = 0; x < width; ++x)
      std::memcpy(to.data + y * to.pitch + x * element, &value, element);
  if (TimedWork* const timed = TimedWork::current())
    timed->add_bytes(Transfer::fill, row * height);
  return cudaSuccess;
}

static cudaError_t check_rows(Plane to, Plane from, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind) {
  if (width == 0)
    return cudaSuccess;
  const auto to_span = span_of(to.pitch, width, height);
  const auto from_span = span_of(from.pitch, width, height);
  if (!to_span || !from_span || !in_range(to.data, *to_span, to_device(kind)) ||
      !in_range(from.data, *from_span, from_device(kind)))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t copy_rows(Plane to, Plane from, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind) {
  if (width == 0)
    return cudaSuccess;
  if (const cudaError_t error = check_rows(to, from, width, height, kind); error != cudaSuccess)
    return error;
  if (Recording::is_on())
    Recording::get().copy(to, from, width, height);
  const Recording::Quiet quiet;
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t error =
            copy_bytes(to.data + row * to.pitch, from.data + row * from.pitch, width, kind);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

// What can be known to be wrong before the work is done.
static cudaError_t check_box(const cudaMemcpy3DParms& p) {
  for (const cudaArray* array : {p.srcArray, p.dstArray})
    if (array != nullptr && !cudaArray::has(array))
      return cudaErrorInvalidResourceHandle;
  if (!fits(p.srcArray, p.srcPos, p.extent) || !fits(p.dstArray, p.dstPos, p.extent))
    return cudaErrorInvalidValue;
  if (p.srcArray != nullptr || p.dstArray != nullptr || p.extent.width == 0 ||
      p.extent.height == 0 || p.extent.depth == 0)
    return cudaSuccess;
  const auto whole = [&](const cudaPitchedPtr& pointer, const cudaPos& at) {
    const Box box = box_of(pointer, nullptr, at);
    std::size_t bytes = 0;
    const auto plane = span_of(box.pitch, p.extent.width, p.extent.height);
    if (!plane || __builtin_mul_overflow(box.plane, p.extent.depth - 1, &bytes) ||
        __builtin_add_overflow(bytes, *plane, &bytes))
      return std::pair(box.first, ~std::size_t{0});
    return std::pair(box.first, bytes);
  };
  const auto [from, from_bytes] = whole(p.srcPtr, p.srcPos);
  const auto [to, to_bytes] = whole(p.dstPtr, p.dstPos);
  if (!in_range(to, to_bytes, to_device(p.kind)) ||
      !in_range(from, from_bytes, from_device(p.kind)))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t copy_box(const cudaMemcpy3DParms& p) {
  if (const cudaError_t error = check_box(p); error != cudaSuccess)
    return error;
  // With an array on either side the width counts its elements.
  const cudaArray* array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  std::size_t width = 0;
  if (__builtin_mul_overflow(p.extent.width, array != nullptr ? array->image.format.bytes() : 1U,
                             &width))
    return cudaErrorInvalidValue;
  if (width == 0 || p.extent.height == 0)
    return cudaSuccess;
  const Box from = box_of(p.srcPtr, p.srcArray, p.srcPos);
  const Box to = box_of(p.dstPtr, p.dstArray, p.dstPos);
  for (std::size_t z = 0; z < p.extent.depth; ++z)
    if (const cudaError_t error =
            copy_rows({to.first + z * to.plane, to.pitch},
                      {from.first + z * from.plane, from.pitch}, width, p.extent.height,
                      p.srcArray == nullptr && p.dstArray == nullptr ? p.kind : cudaMemcpyDefault);
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
  std::size_t bytes = 0;
  if (pitch == nullptr || pitched(width) < width ||
      __builtin_mul_overflow(pitched(width), height, &bytes))
    return set_error(cudaErrorInvalidValue);
  *pitch = pitched(width);
  return allocate(pointer, bytes, "cudaMallocPitch");
}

cudaError_t release_async(void* pointer, cudaStream_t handle) {
  if (!is_stream(handle))
    return set_error(cudaErrorInvalidResourceHandle);
  // A captured graph may run again, and will want the memory again.
  if (stream_of(handle)->capturing())
    return Session::get().submit(handle, nullptr, cudaGraphNodeTypeMemFree);
  if (pointer == nullptr)
    return cudaSuccess;
  {
    Session& session = Session::get();
    const std::lock_guard lock(session.mutex);
    if (session.machine().bytes(address_of(pointer)).data() != pointer)
      return set_error(cudaErrorInvalidValue);
  }
  return Session::get().submit(handle, [pointer] { return release_now(pointer); });
}

cudaError_t register_host(void* pointer, std::size_t bytes) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (pointer == nullptr || bytes == 0)
    return set_error(cudaErrorInvalidValue);
  const auto adopted =
      session.machine().adopt({static_cast<std::byte*>(pointer), bytes}, "cudaHostRegister");
  if (!adopted)
    return set_error(cudaErrorHostMemoryAlreadyRegistered);
  session.memory_types[*adopted] = cudaMemoryTypeHost;
  return cudaSuccess;
}

cudaError_t memory_info(std::size_t* available, std::size_t* total) {
  if (available == nullptr || total == nullptr)
    return set_error(cudaErrorInvalidValue);
  *total = Session::get().machine().gpu().memory.value;
  const std::size_t used = Session::get().machine().used() + *total / 16;
  *available = used < *total ? *total - used : 0;
  return cudaSuccess;
}

cudaError_t describe_pointer(cudaPointerAttributes* attributes, const void* pointer) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (attributes == nullptr)
    return set_error(cudaErrorInvalidValue);
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

namespace {

// Memory that a device reaches by itself: its own, and the host's that was allocated or registered.
bool is_known(const void* pointer) {
  return !Session::get().machine().bytes(address_of(pointer)).empty();
}

cudaError_t check(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (!in_range(to, bytes, to_device(kind)) || !in_range(from, bytes, from_device(kind)))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

} // namespace

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool waits) {
  if (const cudaError_t error = check(to, from, bytes, kind); error != cudaSuccess)
    return set_error(error);
  Session& session = Session::get();
  const Work work = [=] { return copy_bytes(to, from, bytes, kind); };
  if (!is_stream(stream) || stream_of(stream)->capturing())
    return session.submit(stream, work);
  // Pageable memory of the host: what is read is the program's again at once, what is written is
  // there when the call returns.
  if (waits || !is_known(to))
    return session.submit_and_wait(stream, work);
  if (is_known(from))
    return session.submit(stream, work);
  const auto* const start = static_cast<const std::byte*>(from);
  auto staged = std::make_shared<std::vector<std::byte>>(start, start + bytes);
  return session.submit(stream,
                        [=] { return copy_bytes(to, staged->data(), bytes, cudaMemcpyDefault); });
}

cudaError_t copy_planes(Plane to, Plane from, std::size_t width, std::size_t height,
                        cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  if (const cudaError_t error = check_rows(to, from, width, height, kind); error != cudaSuccess)
    return set_error(error);
  const Work work = [=] { return copy_rows(to, from, width, height, kind); };
  return waits || !is_known(to.data) || !is_known(from.data)
             ? Session::get().submit_and_wait(stream, work)
             : Session::get().submit(stream, work);
}

cudaError_t copy(const cudaMemcpy3DParms& parameters, cudaStream_t stream, bool waits) {
  const cudaMemcpy3DParms& p = parameters;
  if (const cudaError_t error = check_box(p); error != cudaSuccess)
    return set_error(error);
  const bool known = (p.srcArray != nullptr || is_known(p.srcPtr.ptr)) &&
                     (p.dstArray != nullptr || is_known(p.dstPtr.ptr));
  const Work work = [p] { return copy_box(p); };
  return waits || !known ? Session::get().submit_and_wait(stream, work)
                         : Session::get().submit(stream, work);
}

cudaError_t fill(Plane to, unsigned value, std::size_t element, std::size_t width,
                 std::size_t height, cudaStream_t stream) {
  std::size_t row = 0;
  if (__builtin_mul_overflow(width, element, &row) || (height > 1 && row > to.pitch))
    return set_error(cudaErrorInvalidValue);
  const auto span = span_of(to.pitch, row, height);
  if (!span || !in_range(to.data, *span, true))
    return set_error(cudaErrorInvalidValue);
  return Session::get().submit(
      stream, [=] { return fill_rows(to, value, element, width, height); },
      cudaGraphNodeTypeMemset);
}

} // namespace kernevo::cuda
