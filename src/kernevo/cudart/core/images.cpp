#include "kernevo/cudart/core/images.h"

#include "kernevo/cudart/core/session.h"

#include <map>
#include <memory>

namespace kernevo::cudart {
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

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                       unsigned flags) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
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
    return session.set_error(cudaErrorMemoryAllocation);
  image.memory = *storage;
  *array = made.release();
  return cudaSuccess;
}

cudaError_t free_array(cudaArray_t array) {
  if (array == nullptr)
    return cudaSuccess;
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
  vgpu::TextureDescription description;
  if (!image_of(resource, description.image) ||
      (view != nullptr && !shows_all(*view, description.image)))
    return session.set_error(cudaErrorNotSupported);
  description.sampler = sampler_of(texture);
  description.read = texture.readMode == cudaReadModeNormalizedFloat
                         ? vgpu::ReadMode::normalized_float
                         : vgpu::ReadMode::element;
  const auto made = session.machine().create_texture(description);
  if (!made)
    return session.set_error(cudaErrorInvalidValue);
  *object = *made;
  described()[*made] = {resource, texture};
  return cudaSuccess;
}

cudaError_t create_surface(cudaSurfaceObject_t* object, const cudaResourceDesc& resource) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  vgpu::ImageDescription image;
  if (!image_of(resource, image))
    return session.set_error(cudaErrorNotSupported);
  const auto made = session.machine().create_surface(image);
  if (!made)
    return session.set_error(cudaErrorInvalidValue);
  *object = *made;
  described()[*made] = {resource, {}};
  return cudaSuccess;
}

cudaError_t destroy_image(std::uint64_t object) {
  described().erase(object);
  return Session::get().machine().destroy_texture(object)
             ? cudaSuccess
             : Session::get().set_error(cudaErrorInvalidValue);
}

const ImageObject* image_object(std::uint64_t object) {
  const auto found = described().find(object);
  return found == described().end() ? nullptr : &found->second;
}

} // namespace kernevo::cudart
