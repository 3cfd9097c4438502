// Arrays, texture objects and surface objects.
#include "kernevo/vgpu/texture.h"
#include "kernevo/cudart/array.h"
#include "kernevo/cudart/runtime.h"

#include <algorithm>
#include <cstring>
#include <map>

using kernevo::cudart::array_bytes;
using kernevo::cudart::array_pitch;
using kernevo::cudart::Runtime;
namespace vgpu = kernevo::vgpu;

namespace {

vgpu::ChannelFormat format_of(const cudaChannelFormatDesc& desc) {
  vgpu::ChannelFormat format;
  format.channels = desc.w != 0 ? 4U : desc.y != 0 ? 2U : 1U;
  format.bits = static_cast<std::uint32_t>(desc.x);
  format.kind = desc.f == cudaChannelFormatKindFloat    ? vgpu::ChannelKind::floating
                : desc.f == cudaChannelFormatKindSigned ? vgpu::ChannelKind::signed_integer
                                                        : vgpu::ChannelKind::unsigned_integer;
  return format;
}

vgpu::AddressMode address_mode(cudaTextureAddressMode mode) {
  switch (mode) {
  case cudaAddressModeWrap: return vgpu::AddressMode::wrap;
  case cudaAddressModeMirror: return vgpu::AddressMode::mirror;
  case cudaAddressModeBorder: return vgpu::AddressMode::border;
  default: return vgpu::AddressMode::clamp;
  }
}

vgpu::SamplerDescription sampler_of(const cudaTextureDesc& desc) {
  vgpu::SamplerDescription sampler;
  for (std::size_t i = 0; i < 3; ++i)
    sampler.address.at(i) = address_mode(desc.addressMode[i]);
  sampler.filter =
      desc.filterMode == cudaFilterModeLinear ? vgpu::FilterMode::linear : vgpu::FilterMode::point;
  sampler.mip_filter = desc.mipmapFilterMode == cudaFilterModeLinear ? vgpu::FilterMode::linear
                                                                     : vgpu::FilterMode::point;
  sampler.level_bias = desc.mipmapLevelBias;
  sampler.least_level = desc.minMipmapLevelClamp;
  sampler.greatest_level = desc.maxMipmapLevelClamp;
  sampler.normalized = desc.normalizedCoords != 0;
  for (std::size_t i = 0; i < 4; ++i)
    sampler.border.at(i) = desc.borderColor[i];
  return sampler;
}

// False when the resource is of a kind there is no image for.
bool image_of(const cudaResourceDesc& resource, vgpu::ImageDescription& image) {
  if (resource.resType == cudaResourceTypeArray) {
    image = resource.res.array.array->image;
    return true;
  }
  if (resource.resType == cudaResourceTypeMipmappedArray) {
    image = resource.res.mipmap.mipmap->image;
    return true;
  }
  if (resource.resType == cudaResourceTypeLinear) {
    const auto& linear = resource.res.linear;
    image.layout = vgpu::ImageDescription::Layout::linear;
    image.memory = reinterpret_cast<std::uint64_t>(linear.devPtr); // NOLINT
    image.format = format_of(linear.desc);
    image.width = static_cast<std::uint32_t>(linear.sizeInBytes / image.format.bytes());
    return true;
  }
  if (resource.resType == cudaResourceTypePitch2D) {
    const auto& plane = resource.res.pitch2D;
    image.layout = vgpu::ImageDescription::Layout::pitch;
    image.memory = reinterpret_cast<std::uint64_t>(plane.devPtr); // NOLINT
    image.format = format_of(plane.desc);
    image.width = static_cast<std::uint32_t>(plane.width);
    image.height = static_cast<std::uint32_t>(plane.height);
    image.pitch = plane.pitchInBytes;
    return true;
  }
  return false;
}

// A view that shows the whole resource as it is.
bool shows_all(const cudaResourceViewDesc& view, const vgpu::ImageDescription& image) {
  const bool size = view.width == image.width && view.height == image.height;
  const bool parts = view.firstMipmapLevel == 0 && view.firstLayer == 0 &&
                     view.lastMipmapLevel + 1 >= image.levels;
  return size && parts;
}

// What texture objects were made of, for those who ask.
struct Described {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};
std::map<std::uint64_t, Described>& described() {
  static std::map<std::uint64_t, Described> all;
  return all;
}

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                       unsigned flags) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  auto made = std::make_unique<cudaArray>();
  made->format = *desc;
  made->extent = extent;
  made->flags = flags;
  vgpu::ImageDescription& image = made->image;
  image.format = format_of(*desc);
  image.width = static_cast<std::uint32_t>(extent.width);
  image.height = static_cast<std::uint32_t>(extent.height);
  image.cubemap = (flags & cudaArrayCubemap) != 0;
  const auto depth = static_cast<std::uint32_t>(extent.depth);
  if (image.cubemap || (flags & cudaArrayLayered) != 0)
    image.layers = depth;
  else
    image.depth = depth;
  const auto storage = runtime.machine().allocate(vgpu::image_bytes(image), "cudaArray");
  if (!storage)
    return runtime.set_error(cudaErrorMemoryAllocation);
  image.memory = *storage;
  *array = made.release();
  return cudaSuccess;
}

// Rows between an array and memory; `write` is towards the array. Offsets and widths in bytes.
cudaError_t copy_rows(const cudaArray& array, std::size_t x, std::size_t y, void* memory,
                      std::size_t pitch, std::size_t width, std::size_t height, bool write) {
  if (x + width > array_pitch(array) || y + height > kernevo::cudart::array_rows(array))
    return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row) {
    std::byte* inside = array_bytes(array) + (y + row) * array_pitch(array) + x;
    std::byte* outside = static_cast<std::byte*>(memory) + row * pitch;
    std::memcpy(write ? inside : outside, write ? outside : inside, width);
  }
  return cudaSuccess;
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
  if (array == nullptr)
    return cudaSuccess;
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.machine().free(array->image.memory);
  delete array;
  return cudaSuccess;
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
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
  const auto storage = runtime.machine().allocate(vgpu::image_bytes(image), "cudaMipmappedArray");
  if (!storage)
    return runtime.set_error(cudaErrorMemoryAllocation);
  image.memory = *storage;
  for (std::uint32_t level = 0; level < image.levels; ++level) {
    cudaArray one{*desc, extent, flags, image};
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
  if (number >= array->levels.size())
    return Runtime::get().set_error(cudaErrorInvalidValue);
  *level = const_cast<cudaArray_t>(&array->levels[number]); // NOLINT
  return cudaSuccess;
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  if (array == nullptr)
    return cudaSuccess;
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.machine().free(array->image.memory);
  delete array;
  return cudaSuccess;
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (desc != nullptr)
    *desc = array->format;
  if (extent != nullptr)
    *extent = array->extent;
  if (flags != nullptr)
    *flags = array->flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  *desc = array->format;
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind /*kind*/, cudaStream_t stream) {
  return Runtime::get().submit(stream, [=] {
    return copy_rows(*to, x, y, const_cast<void*>(from), pitch, width, height, true); // NOLINT
  });
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  const std::size_t row = array_pitch(*to);
  return cudaMemcpy2DToArray(to, x, y, from, row, bytes < row ? bytes : row,
                             bytes < row ? 1 : bytes / row, kind);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind /*kind*/) {
  return Runtime::get().set_error(copy_rows(*from, x, y, to, pitch, width, height, false));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind /*kind*/,
                                       cudaStream_t stream) {
  return Runtime::get().submit(
      stream, [=] { return copy_rows(*from, x, y, to, pitch, width, height, false); });
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t width, std::size_t height,
                                     cudaMemcpyKind /*kind*/) {
  if (x + width > array_pitch(*from) || y + height > kernevo::cudart::array_rows(*from))
    return Runtime::get().set_error(cudaErrorInvalidValue);
  return Runtime::get().set_error(copy_rows(*to, to_x, to_y,
                                            array_bytes(*from) + y * array_pitch(*from) + x,
                                            array_pitch(*from), width, height, true));
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  const std::size_t row = array_pitch(*from);
  return cudaMemcpy2DFromArray(to, row, from, x, y, bytes < row ? bytes : row,
                               bytes < row ? 1 : bytes / row, kind);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  vgpu::TextureDescription description;
  if (!image_of(*resource, description.image) ||
      (view != nullptr && !shows_all(*view, description.image)))
    return runtime.set_error(cudaErrorNotSupported);
  description.sampler = sampler_of(*texture);
  description.read = texture->readMode == cudaReadModeNormalizedFloat
                         ? vgpu::ReadMode::normalized_float
                         : vgpu::ReadMode::element;
  const auto made = runtime.machine().create_texture(description);
  if (!made)
    return runtime.set_error(cudaErrorInvalidValue);
  *object = *made;
  described()[*made] = {*resource, *texture};
  return cudaSuccess;
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  const auto found = described().find(object);
  if (found == described().end())
    return Runtime::get().set_error(cudaErrorInvalidValue);
  *resource = found->second.resource;
  return cudaSuccess;
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  const auto found = described().find(object);
  if (found == described().end())
    return Runtime::get().set_error(cudaErrorInvalidValue);
  *texture = found->second.texture;
  return cudaSuccess;
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return cudaGetTextureObjectResourceDesc(resource, object);
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  vgpu::ImageDescription image;
  if (!image_of(*resource, image))
    return runtime.set_error(cudaErrorNotSupported);
  const auto made = runtime.machine().create_surface(image);
  if (!made)
    return runtime.set_error(cudaErrorInvalidValue);
  *object = *made;
  described()[*made] = {*resource, {}};
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  described().erase(object);
  return Runtime::get().machine().destroy_texture(object)
             ? cudaSuccess
             : Runtime::get().set_error(cudaErrorInvalidValue);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return cudaDestroyTextureObject(object);
}

} // extern "C"
