// The driver's interface: memory, streams and events.
#include "kernevo/cuda/core/memory.h"

#include "kernevo/cuda/core/array.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"
#include "kernevo/cuda/driver/driver.h"

#include <cstring>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

template <class T>
CUresult fill(CUdeviceptr to, std::size_t pitch, T value, std::size_t width, std::size_t height,
              CUstream stream) {
  return driver_result(Session::get().submit(
      stream,
      [=] {
        return fill_rows({bytes_of(pointer_of(to)), pitch}, value, sizeof value, width, height);
      },
      cudaGraphNodeTypeMemset));
}

CUresult copy_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                     CUstream stream) {
  return driver_result(kernevo::cuda::copy(to, from, bytes, kind, stream));
}

// One end of a copy in several dimensions.
struct End {
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch;
  std::size_t height;
};

cudaPitchedPtr pitched_end(const End& end) {
  void* const start = end.type == CU_MEMORYTYPE_HOST ? end.host : pointer_of(end.device);
  return {start, end.pitch, end.pitch, end.height};
}

CUresult copy_ends(End from, End to, cudaPos at, cudaPos to_at, cudaExtent extent,
                   CUstream stream) {
  cudaMemcpy3DParms p{};
  // Positions and widths are bytes here, elements of the array there.
  std::size_t element = 1;
  bool known = true;
  auto end = [&](End& side, cudaPos& position, cudaArray_t& array, cudaPitchedPtr& pointer) {
    if (side.type == CU_MEMORYTYPE_ARRAY) {
      array = reinterpret_cast<cudaArray_t>(side.array); // NOLINT
      if (!cudaArray::has(array)) {
        known = false;
        return;
      }
      element = array->image.format.bytes();
      position.x /= element;
    } else {
      if (side.pitch == 0)
        side.pitch = extent.width;
      if (side.height == 0)
        side.height = extent.height;
      pointer = pitched_end(side);
    }
  };
  end(from, at, p.srcArray, p.srcPtr);
  end(to, to_at, p.dstArray, p.dstPtr);
  if (!known)
    return CUDA_ERROR_INVALID_HANDLE;
  p.srcPos = at;
  p.dstPos = to_at;
  p.extent = {extent.width / element, extent.height, extent.depth};
  p.kind = cudaMemcpyDefault;
  return driver_result(kernevo::cuda::copy(p, stream));
}

CUresult copy_plane(const CUDA_MEMCPY2D& p, CUstream stream) {
  return copy_ends({p.srcMemoryType, const_cast<void*>(p.srcHost), p.srcDevice,
                    p.srcArray, // NOLINT
                    p.srcPitch, 0},
                   {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, 0},
                   {p.srcXInBytes, p.srcY, 0}, {p.dstXInBytes, p.dstY, 0},
                   {p.WidthInBytes, p.Height, 1}, stream);
}

CUresult copy_volume(const CUDA_MEMCPY3D& p, CUstream stream) {
  return copy_ends({p.srcMemoryType, const_cast<void*>(p.srcHost), p.srcDevice,
                    p.srcArray, // NOLINT
                    p.srcPitch, p.srcHeight},
                   {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, p.dstHeight},
                   {p.srcXInBytes, p.srcY, p.srcZ}, {p.dstXInBytes, p.dstY, p.dstZ},
                   {p.WidthInBytes, p.Height, p.Depth}, stream);
}

} // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  void* pointer = nullptr;
  const cudaError_t error = bytes == 0 || address == nullptr
                                ? cudaErrorInvalidValue
                                : allocate(&pointer, bytes, "cudaMalloc");
  if (error == cudaSuccess)
    *address = address_of(pointer);
  return driver_result(error);
}
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream /*stream*/) {
  return cuMemAlloc(address, bytes);
}
CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned /*element*/) {
  void* pointer = nullptr;
  const cudaError_t error = allocate_pitched(&pointer, pitch, width, height);
  *address = address_of(pointer);
  return driver_result(error);
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned /*flags*/) {
  void* pointer = nullptr;
  const cudaError_t error = allocate(&pointer, bytes, "cudaMallocManaged", cudaMemoryTypeManaged);
  *address = address_of(pointer);
  return driver_result(error);
}
CUresult cuMemFree(CUdeviceptr address) {
  return driver_result(release(pointer_of(address)));
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return driver_result(release_async(pointer_of(address), stream));
}
CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return driver_result(allocate(pointer, bytes, "cudaMallocHost", cudaMemoryTypeHost));
}
CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  return driver_result(allocate(pointer, bytes, "cudaHostAlloc", cudaMemoryTypeHost));
}
CUresult cuMemFreeHost(void* pointer) {
  return driver_result(release(pointer));
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* pointer, unsigned /*flags*/) {
  *address = address_of(pointer);
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  return driver_result(register_host(pointer, bytes));
}
CUresult cuMemHostUnregister(void* pointer) {
  return driver_result(release(pointer));
}
CUresult cuMemGetInfo(std::size_t* available, std::size_t* total) {
  return driver_result(memory_info(available, total));
}
CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
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
  cudaPointerAttributes attributes{};
  describe_pointer(&attributes, pointer_of(address));
  if (attributes.type == cudaMemoryTypeUnregistered)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<unsigned*>(data) =
        attributes.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    std::memcpy(data, &address, sizeof address);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned*>(data) = attributes.type == cudaMemoryTypeManaged ? 1 : 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(data) = 0; return CUDA_SUCCESS;
  default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, nullptr);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_linear(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, nullptr);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_linear(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_linear(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, nullptr);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_linear(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, nullptr);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* parameters) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_plane(*parameters, nullptr);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* parameters) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_plane(*parameters, nullptr);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* parameters, CUstream stream) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_plane(*parameters, stream);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* parameters) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_volume(*parameters, nullptr);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* parameters, CUstream stream) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_volume(*parameters, stream);
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(to, 0, value, count, 1, nullptr);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(to, 0, value, count, 1, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(to, 0, value, count, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill(to, 0, value, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill(to, 0, value, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill(to, 0, value, count, 1, stream);
}
CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return fill(to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  return fill(to, pitch, value, width, height, nullptr);
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return driver_result(create_stream(stream, flags, 0));
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return driver_result(create_stream(stream, flags, priority));
}
CUresult cuStreamDestroy(CUstream stream) {
  return driver_result(destroy_stream(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  return driver_result(stream_state(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  return driver_result(stream_state(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned /*flags*/) {
  return driver_result(wait_for_event(stream, event));
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return driver_result(run_on_host(stream, function, data));
}
CUresult cuStreamGetCtx(CUstream /*stream*/, CUcontext* context) {
  return cuCtxGetCurrent(context);
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  cudaStreamCaptureStatus found = cudaStreamCaptureStatusNone;
  const cudaError_t error = capture_status(stream, &found);
  *status = static_cast<CUstreamCaptureStatus>(found);
  return driver_result(error);
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return driver_result(create_event(event, flags));
}
CUresult cuEventDestroy(CUevent event) {
  return driver_result(destroy_event(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return driver_result(record_event(event, stream));
}
CUresult cuEventSynchronize(CUevent event) {
  return driver_result(event_state(event));
}
CUresult cuEventQuery(CUevent event) {
  return driver_result(event_state(event));
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return driver_result(elapsed_time(milliseconds, begin, end));
}

} // extern "C"
