// Arrays, texture objects and surface objects.
#include "kernevo/cuda/core/images.h"
#include "kernevo/cuda/core/memory.h"
#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)
namespace vgpu = kernevo::vgpu;

namespace {

bool holds(const cudaArray& array, std::size_t x, std::size_t y, std::size_t width,
           std::size_t height) {
  return x <= array_pitch(array) && width <= array_pitch(array) - x &&
         y <= kernevo::cuda::array_rows(array) && height <= kernevo::cuda::array_rows(array) - y;
}

cudaError_t refuse(cudaError_t error = cudaErrorInvalidValue) {
  return kernevo::cuda::set_error(error);
}

// Rows between an array and memory; `write` is towards the array. Offsets and widths in bytes.
cudaError_t copy_rows(const cudaArray* handle, std::size_t x, std::size_t y, void* memory,
                      std::size_t pitch, std::size_t width, std::size_t height, bool write) {
  if (!cudaArray::has(handle))
    return cudaErrorInvalidResourceHandle;
  if (memory == nullptr || (height > 1 && pitch < width))
    return cudaErrorInvalidValue;
  const cudaArray& array = *handle;
  if (!holds(array, x, y, width, height))
    return cudaErrorInvalidValue;
  const Plane inside{array_bytes(array) + y * array_pitch(array) + x, array_pitch(array)};
  const Plane outside{static_cast<std::byte*>(memory), pitch};
  return kernevo::cuda::copy_rows(write ? inside : outside, write ? outside : inside, width,
                                  height);
}

} // namespace

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                            std::size_t width, std::size_t height, unsigned flags) {
  return make_array(array, desc, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned flags) {
  return make_array(array, desc, extent, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  return free_array(array);
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (array == nullptr || !is_image(desc, extent))
    return refuse();
  auto made = std::make_unique<cudaMipmappedArray>();
  vgpu::ImageDescription& image = made->image;
  image.format = format_of(*desc);
  image.width = static_cast<std::uint32_t>(extent.width);
  image.height = static_cast<std::uint32_t>(extent.height);
  image.cubemap = (flags & cudaArrayCubemap) != 0;
  const auto depth = static_cast<std::uint32_t>(extent.depth);
  (image.cubemap || (flags & cudaArrayLayered) != 0 ? image.layers : image.depth) = depth;
  std::uint32_t most = 1;
  while ((std::max({image.width, image.height, image.depth}) >> most) != 0)
    ++most;
  image.levels = std::clamp(levels, 1U, most);
  const auto storage = session.machine().allocate(vgpu::image_bytes(image), "cudaMipmappedArray");
  if (!storage)
    return set_error(cudaErrorMemoryAllocation);
  image.memory = *storage;
  for (std::uint32_t level = 0; level < image.levels; ++level) {
    cudaArray one;
    one.format = *desc;
    one.extent = extent;
    one.flags = flags;
    one.image = image;
    one.is_level = true;
    auto shrink = [&](std::uint32_t& now, std::size_t& asked) {
      if (now != 0)
        now = vgpu::level_extent(now, level);
      asked = now;
    };
    shrink(one.image.width, one.extent.width);
    shrink(one.image.height, one.extent.height);
    if (image.layers == 0)
      shrink(one.image.depth, one.extent.depth);
    one.image.levels = 1;
    one.image.memory = image.memory + vgpu::level_offset(image, level);
    made->levels.push_back(one);
  }
  *array = made.release();
  return cudaSuccess;
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                       unsigned number) {
  if (level == nullptr || !cudaMipmappedArray::has(array) || number >= array->levels.size())
    return refuse();
  *level = const_cast<cudaArray_t>(&array->levels[number]); // NOLINT
  return cudaSuccess;
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  if (array == nullptr)
    return cudaSuccess;
  if (!cudaMipmappedArray::has(array))
    return refuse();
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  session.machine().free(array->image.memory);
  delete array;
  return cudaSuccess;
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (!cudaArray::has(array))
    return refuse(cudaErrorInvalidResourceHandle);
  if (desc != nullptr)
    *desc = array->format;
  if (extent != nullptr)
    *extent = array->extent;
  if (flags != nullptr)
    *flags = array->flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  if (desc == nullptr || !cudaArray::has(array))
    return refuse();
  *desc = array->format;
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind /*kind*/, cudaStream_t stream) {
  return Session::get().submit_and_wait(stream, [=] {
    return copy_rows(to, x, y, const_cast<void*>(from), pitch, width, height, true); // NOLINT
  });
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  if (!cudaArray::has(to))
    return refuse(cudaErrorInvalidResourceHandle);
  const std::size_t row = array_pitch(*to);
  return cudaMemcpy2DToArray(to, x, y, from, row, bytes < row ? bytes : row,
                             bytes < row ? 1 : bytes / row, kind);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind /*kind*/) {
  return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, cudaMemcpyDefault,
                                    nullptr);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind /*kind*/,
                                       cudaStream_t stream) {
  return Session::get().submit_and_wait(
      stream, [=] { return copy_rows(from, x, y, to, pitch, width, height, false); });
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t width, std::size_t height,
                                     cudaMemcpyKind /*kind*/) {
  if (!cudaArray::has(from))
    return refuse(cudaErrorInvalidResourceHandle);
  if (!holds(*from, x, y, width, height))
    return refuse();
  return Session::get().submit_and_wait(nullptr, [=] {
    return copy_rows(to, to_x, to_y, array_bytes(*from) + y * array_pitch(*from) + x,
                     array_pitch(*from), width, height, true);
  });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  if (!cudaArray::has(from))
    return refuse(cudaErrorInvalidResourceHandle);
  const std::size_t row = array_pitch(*from);
  return cudaMemcpy2DFromArray(to, row, from, x, y, bytes < row ? bytes : row,
                               bytes < row ? 1 : bytes / row, kind);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  if (resource == nullptr || texture == nullptr)
    return refuse();
  return create_texture(object, *resource, *texture, view);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  const ImageObject* const found = image_object(object);
  if (found == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *resource = found->resource;
  return cudaSuccess;
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  const ImageObject* const found = image_object(object);
  if (found == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  *texture = found->texture;
  return cudaSuccess;
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return cudaGetTextureObjectResourceDesc(resource, object);
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return resource == nullptr ? refuse() : create_surface(object, *resource);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return destroy_image(object);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return destroy_image(object);
}

} // extern "C"
