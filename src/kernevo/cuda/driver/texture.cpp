// The driver's interface: arrays, texture objects, surface objects.
#include "kernevo/cuda/core/images.h"
#include "kernevo/cuda/driver/driver.h"

#include <algorithm>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

cudaChannelFormatDesc driver_format(CUarray_format format, unsigned channels) {
  cudaChannelFormatDesc made{};
  int bits = 32;
  switch (format) {
  case CU_AD_FORMAT_UNSIGNED_INT8:
  case CU_AD_FORMAT_SIGNED_INT8: bits = 8; break;
  case CU_AD_FORMAT_UNSIGNED_INT16:
  case CU_AD_FORMAT_SIGNED_INT16:
  case CU_AD_FORMAT_HALF: bits = 16; break;
  default: break;
  }
  made.x = bits;
  made.y = channels > 1 ? bits : 0;
  made.z = made.w = channels > 2 ? bits : 0;
  made.f = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT ? cudaChannelFormatKindFloat
           : format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 ||
                   format == CU_AD_FORMAT_SIGNED_INT32
               ? cudaChannelFormatKindSigned
               : cudaChannelFormatKindUnsigned;
  return made;
}

CUarray_format driver_format(const cudaChannelFormatDesc& format) {
  const bool is_signed = format.f == cudaChannelFormatKindSigned;
  if (format.f == cudaChannelFormatKindFloat)
    return format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  if (format.x == 8)
    return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
  if (format.x == 16)
    return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
  return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
}

// False for a kind of resource the runtime does not know.
bool resource_of(const CUDA_RESOURCE_DESC& from, cudaResourceDesc& to) {
  to = {};
  switch (from.resType) {
  case CU_RESOURCE_TYPE_ARRAY:
    to.resType = cudaResourceTypeArray;
    to.res.array.array = reinterpret_cast<cudaArray_t>(from.res.array.hArray); // NOLINT
    return true;
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
    to.resType = cudaResourceTypeMipmappedArray;
    to.res.mipmap.mipmap =
        reinterpret_cast<cudaMipmappedArray_t>(from.res.mipmap.hMipmappedArray); // NOLINT
    return true;
  case CU_RESOURCE_TYPE_LINEAR:
    to.resType = cudaResourceTypeLinear;
    to.res.linear.devPtr = pointer_of(from.res.linear.devPtr);
    to.res.linear.desc = driver_format(from.res.linear.format, from.res.linear.numChannels);
    to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
    return true;
  case CU_RESOURCE_TYPE_PITCH2D:
    to.resType = cudaResourceTypePitch2D;
    to.res.pitch2D.devPtr = pointer_of(from.res.pitch2D.devPtr);
    to.res.pitch2D.desc = driver_format(from.res.pitch2D.format, from.res.pitch2D.numChannels);
    to.res.pitch2D.width = from.res.pitch2D.width;
    to.res.pitch2D.height = from.res.pitch2D.height;
    to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
    return true;
  default: return false;
  }
}

bool is_integer(const cudaResourceDesc& resource) {
  cudaChannelFormatDesc format{};
  if (resource.resType == cudaResourceTypeArray)
    format = cudaArray::has(resource.res.array.array) ? resource.res.array.array->format : format;
  else if (resource.resType == cudaResourceTypeLinear)
    format = resource.res.linear.desc;
  else if (resource.resType == cudaResourceTypePitch2D)
    format = resource.res.pitch2D.desc;
  return format.f != cudaChannelFormatKindFloat && format.x > 0 && format.x < 32;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& from, bool integer) {
  cudaTextureDesc to{};
  for (std::size_t i = 0; i < 3; ++i)
    to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]); // same numbers
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  to.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  // Small integers are read as numbers from 0 to 1 unless the program says otherwise.
  to.readMode = integer && (from.flags & CU_TRSF_READ_AS_INTEGER) == 0 ? cudaReadModeNormalizedFloat
                                                                       : cudaReadModeElementType;
  std::copy_n(from.borderColor, 4, to.borderColor);
  return to;
}

} // namespace

extern "C" {

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* description) {
  if (description == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  const cudaChannelFormatDesc format = driver_format(description->Format, description->NumChannels);
  return driver_result(make_array(reinterpret_cast<cudaArray_t*>(array), &format, // NOLINT
                                  {description->Width, description->Height, 0}, 0));
}
CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  if (description == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  const cudaChannelFormatDesc format = driver_format(description->Format, description->NumChannels);
  return driver_result(make_array(reinterpret_cast<cudaArray_t*>(array), &format, // NOLINT
                                  {description->Width, description->Height, description->Depth},
                                  description->Flags));
}
CUresult cuArrayDestroy(CUarray array) {
  return driver_result(free_array(reinterpret_cast<cudaArray_t>(array))); // NOLINT
}
CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  if (object == nullptr || resource == nullptr || texture == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  cudaResourceDesc same{};
  if (view != nullptr || !resource_of(*resource, same))
    return CUDA_ERROR_NOT_SUPPORTED;
  const cudaTextureDesc description = texture_of(*texture, is_integer(same));
  cudaTextureObject_t made = 0;
  const cudaError_t error = create_texture(&made, same, description, nullptr);
  *object = made;
  return driver_result(error);
}
CUresult cuTexObjectDestroy(CUtexObject object) {
  return driver_result(destroy_image(object));
}
CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  if (object == nullptr || resource == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  cudaResourceDesc same{};
  if (!resource_of(*resource, same))
    return CUDA_ERROR_NOT_SUPPORTED;
  cudaSurfaceObject_t made = 0;
  const cudaError_t error = create_surface(&made, same);
  *object = made;
  return driver_result(error);
}
CUresult cuSurfObjectDestroy(CUsurfObject object) {
  return driver_result(destroy_image(object));
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned levels) {
  KERNEVO_NEED(array);
  KERNEVO_NEED(description);
  const cudaChannelFormatDesc format = driver_format(description->Format, description->NumChannels);
  return same(cudaMallocMipmappedArray, array, &format,
              cudaExtent{description->Width, description->Height, description->Depth}, levels,
              description->Flags);
}
CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray array, unsigned number) {
  KERNEVO_NEED(level);
  return same(cudaGetMipmappedArrayLevel, level, array, number);
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  KERNEVO_NEED(array);
  return same(cudaFreeMipmappedArray, array);
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  KERNEVO_NEED(description);
  KERNEVO_READY();
  auto* const known = reinterpret_cast<cudaArray_t>(array); // NOLINT
  if (!cudaArray::has(known))
    return CUDA_ERROR_INVALID_HANDLE;
  *description = {};
  description->Width = known->extent.width;
  description->Height = known->extent.height;
  description->Depth = known->extent.depth;
  description->Format = driver_format(known->format);
  description->NumChannels = known->format.w != 0 ? 4 : known->format.y != 0 ? 2 : 1;
  description->Flags = known->flags;
  return CUDA_SUCCESS;
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  KERNEVO_NEED(description);
  CUDA_ARRAY3D_DESCRIPTOR whole{};
  const CUresult result = cuArray3DGetDescriptor(&whole, array);
  *description = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
  return result;
}

} // extern "C"
