#include "kernevo/cuda/core/images.h"

#include "kernevo/cuda/core/recording.h"
#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <map>
#include <memory>

namespace kernevo::cuda {
namespace {

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

bool is_format(const cudaChannelFormatDesc& desc) {
  return desc.x == 8 || desc.x == 16 || desc.x == 32;
}

// Whether what the resource is said to be made of is there.
bool is_whole(const cudaResourceDesc& resource) {
  switch (resource.resType) {
  case cudaResourceTypeArray: return cudaArray::has(resource.res.array.array);
  case cudaResourceTypeMipmappedArray: return cudaMipmappedArray::has(resource.res.mipmap.mipmap);
  case cudaResourceTypeLinear:
    return resource.res.linear.devPtr != nullptr && is_format(resource.res.linear.desc);
  case cudaResourceTypePitch2D:
    return resource.res.pitch2D.devPtr != nullptr && is_format(resource.res.pitch2D.desc);
  default: return true;
  }
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

std::map<std::uint64_t, ImageObject>& described() {
  static std::map<std::uint64_t, ImageObject> all;
  return all;
}

} // namespace

vgpu::ChannelFormat format_of(const cudaChannelFormatDesc& desc) {
  vgpu::ChannelFormat format;
  format.channels = desc.w != 0 ? 4U : desc.y != 0 ? 2U : 1U;
  format.bits = static_cast<std::uint32_t>(desc.x);
  format.kind = desc.f == cudaChannelFormatKindFloat    ? vgpu::ChannelKind::floating
                : desc.f == cudaChannelFormatKindSigned ? vgpu::ChannelKind::signed_integer
                                                        : vgpu::ChannelKind::unsigned_integer;
  return format;
}

bool is_image(const cudaChannelFormatDesc* desc, const cudaExtent& extent) {
  constexpr std::size_t kMost = 1U << 27U;
  std::size_t elements = 0;
  return desc != nullptr && is_format(*desc) && extent.width > 0 && extent.width <= kMost &&
         extent.height <= kMost && extent.depth <= kMost &&
         !__builtin_mul_overflow(extent.width, std::max<std::size_t>(1, extent.height),
                                 &elements) &&
         !__builtin_mul_overflow(elements, std::max<std::size_t>(1, extent.depth), &elements) &&
         elements <= std::size_t{1} << 48U;
}

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                       unsigned flags) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (array == nullptr || !is_image(desc, extent))
    return set_error(cudaErrorInvalidValue);
  Recording::get().refuse("an array");
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
  const auto storage = session.machine().allocate(vgpu::image_bytes(image), "cudaArray");
  if (!storage)
    return set_error(cudaErrorMemoryAllocation);
  image.memory = *storage;
  *array = made.release();
  return cudaSuccess;
}

cudaError_t free_array(cudaArray_t array) {
  if (array == nullptr)
    return cudaSuccess;
  if (!cudaArray::has(array) || array->is_level)
    return set_error(cudaErrorInvalidValue);
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  session.machine().free(array->image.memory);
  delete array;
  return cudaSuccess;
}

cudaError_t create_texture(cudaTextureObject_t* object, const cudaResourceDesc& resource,
                           const cudaTextureDesc& texture, const cudaResourceViewDesc* view) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (object == nullptr || !is_whole(resource))
    return set_error(cudaErrorInvalidValue);
  vgpu::TextureDescription description;
  if (!image_of(resource, description.image) ||
      (view != nullptr && !shows_all(*view, description.image)))
    return set_error(cudaErrorNotSupported);
  description.sampler = sampler_of(texture);
  description.read = texture.readMode == cudaReadModeNormalizedFloat
                         ? vgpu::ReadMode::normalized_float
                         : vgpu::ReadMode::element;
  const auto made = session.machine().create_texture(description);
  if (!made)
    return set_error(cudaErrorInvalidValue);
  *object = *made;
  described()[*made] = {resource, texture};
  Recording::get().refuse("a texture");
  return cudaSuccess;
}

cudaError_t create_surface(cudaSurfaceObject_t* object, const cudaResourceDesc& resource) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  if (object == nullptr || !is_whole(resource))
    return set_error(cudaErrorInvalidValue);
  vgpu::ImageDescription image;
  if (!image_of(resource, image))
    return set_error(cudaErrorNotSupported);
  const auto made = session.machine().create_surface(image);
  if (!made)
    return set_error(cudaErrorInvalidValue);
  *object = *made;
  described()[*made] = {resource, {}};
  Recording::get().refuse("a surface");
  return cudaSuccess;
}

cudaError_t destroy_image(std::uint64_t object) {
  described().erase(object);
  return Session::get().machine().destroy_texture(object) ? cudaSuccess
                                                          : set_error(cudaErrorInvalidValue);
}

const ImageObject* image_object(std::uint64_t object) {
  const auto found = described().find(object);
  return found == described().end() ? nullptr : &found->second;
}

} // namespace kernevo::cuda
