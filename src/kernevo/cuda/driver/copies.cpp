// The driver's interface: copies and fills.
#include "kernevo/cuda/core/memory.h"

#include "kernevo/cuda/core/array.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"
#include "kernevo/cuda/driver/driver.h"

#include <cstring>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

// Which of a pair of functions was called: the one that is done when it returns, or the other.
struct Order {
  CUstream stream;
  bool waits;
};
constexpr Order kAtOnce = {nullptr, true};

Order in(CUstream stream) {
  return {stream, false};
}

template <class T>
CUresult fill(CUdeviceptr to, std::size_t pitch, T value, std::size_t width, std::size_t height,
              CUstream stream) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(kernevo::cuda::fill({bytes_of(pointer_of(to)), pitch}, value, sizeof value,
                                           width, height, stream));
}

CUresult copy_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                     Order order) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(copy(to, from, bytes, kind, order.stream, order.waits));
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

End host_end(const void* pointer) {
  return {CU_MEMORYTYPE_HOST, const_cast<void*>(pointer), 0, nullptr, 0, 0}; // NOLINT
}
End device_end(CUdeviceptr address) {
  return {CU_MEMORYTYPE_DEVICE, nullptr, address, nullptr, 0, 0};
}
End array_end(CUarray array) {
  return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, 0, 0};
}

cudaPitchedPtr pitched_end(const End& end) {
  void* const start = end.type == CU_MEMORYTYPE_HOST ? end.host : pointer_of(end.device);
  return {start, end.pitch, end.pitch, end.height};
}

CUresult copy_ends(End from, End to, cudaPos at, cudaPos to_at, cudaExtent extent, Order order) {
  KERNEVO_READY();
  const KeepsLastError keeps;
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
  return driver_result(copy(p, order.stream, order.waits));
}

CUresult copy_plane(const CUDA_MEMCPY2D& p, Order order) {
  return copy_ends({p.srcMemoryType, const_cast<void*>(p.srcHost), p.srcDevice,
                    p.srcArray, // NOLINT
                    p.srcPitch, 0},
                   {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, 0},
                   {p.srcXInBytes, p.srcY, 0}, {p.dstXInBytes, p.dstY, 0},
                   {p.WidthInBytes, p.Height, 1}, order);
}

CUresult copy_volume(const CUDA_MEMCPY3D& p, Order order) {
  return copy_ends({p.srcMemoryType, const_cast<void*>(p.srcHost), p.srcDevice,
                    p.srcArray, // NOLINT
                    p.srcPitch, p.srcHeight},
                   {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, p.dstHeight},
                   {p.srcXInBytes, p.srcY, p.srcZ}, {p.dstXInBytes, p.dstY, p.dstZ},
                   {p.WidthInBytes, p.Height, p.Depth}, order);
}

CUresult known_pieces(const CUdeviceptr* pieces, const std::size_t* bytes, std::size_t count,
                      unsigned long long flags, CUstream stream) {
  KERNEVO_READY();
  if (pieces == nullptr || bytes == nullptr || count == 0 || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_stream(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  for (std::size_t i = 0; i < count; ++i) {
    const auto whole = Session::get().machine().bytes(pieces[i]);
    if (whole.empty() || bytes[i] > whole.size() - (pieces[i] - address_of(whole.data())))
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, kAtOnce);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, in(stream));
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_linear(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, kAtOnce);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_linear(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, in(stream));
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_linear(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, kAtOnce);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_linear(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, in(stream));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, kAtOnce);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, in(stream));
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* parameters) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_plane(*parameters, kAtOnce);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* parameters) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_plane(*parameters, kAtOnce);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* parameters, CUstream stream) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_plane(*parameters, in(stream));
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* parameters) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_volume(*parameters, kAtOnce);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* parameters, CUstream stream) {
  return parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_volume(*parameters, in(stream));
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

CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
  return fill(to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return fill(to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill(to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return fill(to, pitch, value, width, height, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext /*to_context*/, CUdeviceptr from,
                      CUcontext /*from_context*/, std::size_t bytes) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, kAtOnce);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext /*to_context*/, CUdeviceptr from,
                           CUcontext /*from_context*/, std::size_t bytes, CUstream stream) {
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, in(stream));
}

// One row of an array, counted in bytes.
CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  return copy_ends(host_end(from), array_end(to), {}, {offset, 0, 0}, {bytes, 1, 1}, kAtOnce);
}
CUresult cuMemcpyHtoAAsync(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                           CUstream stream) {
  return copy_ends(host_end(from), array_end(to), {}, {offset, 0, 0}, {bytes, 1, 1}, in(stream));
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy_ends(array_end(from), host_end(to), {offset, 0, 0}, {}, {bytes, 1, 1}, kAtOnce);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                           CUstream stream) {
  return copy_ends(array_end(from), host_end(to), {offset, 0, 0}, {}, {bytes, 1, 1}, in(stream));
}
CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return copy_ends(device_end(from), array_end(to), {}, {offset, 0, 0}, {bytes, 1, 1}, kAtOnce);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy_ends(array_end(from), device_end(to), {offset, 0, 0}, {}, {bytes, 1, 1}, kAtOnce);
}
CUresult cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t offset,
                      std::size_t bytes) {
  return copy_ends(array_end(from), array_end(to), {offset, 0, 0}, {to_offset, 0, 0}, {bytes, 1, 1},
                   kAtOnce);
}

// Several copies: they may be done in any order, so in that of the list. Where their ends lie and
// when they are read need not be told.
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                            std::size_t count, CUmemcpyAttributes* attributes,
                            std::size_t* /*first*/, std::size_t attribute_count, CUstream stream) {
  KERNEVO_READY();
  if (count == 0 || to == nullptr || from == nullptr || bytes == nullptr || attributes == nullptr ||
      attribute_count == 0 || attribute_count > count)
    return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    if (const CUresult error = copy_linear(pointer_of(to[i]), pointer_of(from[i]), bytes[i],
                                           cudaMemcpyDefault, in(stream));
        error != CUDA_SUCCESS)
      return error;
  return CUDA_SUCCESS;
}
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                     CUmemcpyAttributes* attributes, CUstream stream) {
  KERNEVO_NEED(attributes);
  return copy_linear(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, in(stream));
}
// Memory is in one place, whatever is wanted of it.
CUresult cuMemPrefetchBatchAsync(CUdeviceptr* pieces, std::size_t* bytes, std::size_t count,
                                 CUmemLocation* places, std::size_t* /*first*/,
                                 std::size_t place_count, unsigned long long flags,
                                 CUstream stream) {
  if (places == nullptr || place_count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return known_pieces(pieces, bytes, count, flags, stream);
}
CUresult cuMemDiscardBatchAsync(CUdeviceptr* pieces, std::size_t* bytes, std::size_t count,
                                unsigned long long flags, CUstream stream) {
  return known_pieces(pieces, bytes, count, flags, stream);
}
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* pieces, std::size_t* bytes,
                                           std::size_t count, CUmemLocation* places,
                                           std::size_t* first, std::size_t place_count,
                                           unsigned long long flags, CUstream stream) {
  return cuMemPrefetchBatchAsync(pieces, bytes, count, places, first, place_count, flags, stream);
}

} // extern "C"
