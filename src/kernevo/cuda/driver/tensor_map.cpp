// cuTensorMapEncodeTiled and its kin: descriptions of tensors for bulk copies.
#include "kernevo/vgpu/memory/tensor_map.h"

#include "kernevo/cuda/driver/driver.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace vgpu = kernevo::vgpu;

namespace {

CUresult give(CUtensorMap* map, const kernevo::Result<vgpu::TensorMap>& made) {
  if (!made) {
    fmt::print(stderr, "kernevo: {}\n", kernevo::format_error(made.error()));
    return CUDA_ERROR_INVALID_VALUE;
  }
  static_assert(sizeof *map == vgpu::kTensorMapBytes);
  std::memcpy(map, made->bytes.data(), vgpu::kTensorMapBytes);
  return CUDA_SUCCESS;
}

template <class Tensor>
bool fill(Tensor& tensor, CUtensorMapDataType type, cuuint32_t rank, void* address,
          const cuuint64_t* dimensions, const cuuint64_t* strides,
          const cuuint32_t* element_strides, CUtensorMapSwizzle swizzle,
          CUtensorMapFloatOOBfill outside) {
  const auto known = vgpu::tensor_type_of_driver(static_cast<std::uint32_t>(type));
  if (!known || rank == 0 || rank > vgpu::kMaxTensorRank || swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
    return false;
  tensor.type = *known;
  tensor.rank = rank;
  tensor.global_address = kernevo::cuda::address_of(address);
  std::copy_n(dimensions, rank, tensor.dimensions.begin());
  if (rank > 1)
    std::copy_n(strides, rank - 1, tensor.strides.begin());
  std::copy_n(element_strides, rank, tensor.element_strides.begin());
  tensor.swizzle = static_cast<vgpu::TensorSwizzle>(swizzle);
  tensor.fill = outside == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                    ? vgpu::TensorFill::nan
                    : vgpu::TensorFill::zero;
  return true;
}

} // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dimensions,
                                const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion /*promotion*/,
                                CUtensorMapFloatOOBfill outside) {
  vgpu::TiledTensor tensor;
  if (!fill(tensor, type, rank, address, dimensions, strides, element_strides, swizzle, outside))
    return CUDA_ERROR_INVALID_VALUE;
  std::copy_n(box, rank, tensor.box.begin());
  tensor.interleave = static_cast<std::uint32_t>(interleave);
  return give(map, vgpu::encode_tiled(tensor));
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* dimensions,
                                 const cuuint64_t* strides, const int* lower, const int* upper,
                                 cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion /*promotion*/,
                                 CUtensorMapFloatOOBfill outside) {
  vgpu::Im2colTensor tensor;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || rank < 3 ||
      !fill(tensor, type, rank, address, dimensions, strides, element_strides, swizzle, outside))
    return CUDA_ERROR_INVALID_VALUE;
  std::copy_n(lower, rank - 2, tensor.lower_corner.begin());
  std::copy_n(upper, rank - 2, tensor.upper_corner.begin());
  tensor.channels_per_pixel = channels;
  tensor.pixels_per_column = pixels;
  return give(map, vgpu::encode_im2col(tensor));
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  vgpu::TensorMap bytes;
  std::memcpy(bytes.bytes.data(), map, vgpu::kTensorMapBytes);
  vgpu::TensorFields fields = vgpu::TensorFields::decode(bytes);
  fields.address = kernevo::cuda::address_of(address);
  return give(map, fields.encode());
}

} // extern "C"
