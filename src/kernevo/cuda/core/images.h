// Arrays, texture objects and surface objects.
#pragma once

#include "kernevo/cuda/core/array.h"
#include "kernevo/vgpu/memory/texture.h"

#include <cstdint>
#include <cuda_runtime_api.h>

namespace kernevo::cuda {

vgpu::ChannelFormat format_of(const cudaChannelFormatDesc& desc);
// Whether an image can have this format and size.
bool is_image(const cudaChannelFormatDesc* desc, const cudaExtent& extent);
cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                       unsigned flags);
cudaError_t free_array(cudaArray_t array);

cudaError_t create_texture(cudaTextureObject_t* object, const cudaResourceDesc& resource,
                           const cudaTextureDesc& texture, const cudaResourceViewDesc* view);
cudaError_t create_surface(cudaSurfaceObject_t* object, const cudaResourceDesc& resource);
// A texture object or a surface object.
cudaError_t destroy_image(std::uint64_t object);

// What such an object was made of, for those who ask; null when there is none.
struct ImageObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};
const ImageObject* image_object(std::uint64_t object);

} // namespace kernevo::cuda
