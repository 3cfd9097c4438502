// cudaArray and cudaMipmappedArray: images in device memory, rows without gaps.
#pragma once

#include "kernevo/cuda/core/live.h"
#include "kernevo/vgpu/memory/texture.h"

#include <cuda_runtime_api.h>
#include <vector>

struct cudaArray : kernevo::cuda::Live<cudaArray> {
  cudaChannelFormatDesc format{};
  cudaExtent extent{}; // in elements, as asked for
  unsigned flags = 0;
  kernevo::vgpu::ImageDescription image;
  bool is_level = false; // of a mipmapped array, which owns it
};

struct cudaMipmappedArray : kernevo::cuda::Live<cudaMipmappedArray> {
  kernevo::vgpu::ImageDescription image; // of all levels, which follow each other
  std::vector<cudaArray> levels;         // each as an array of its own, in the same memory
};

namespace kernevo::cuda {

inline std::byte* array_bytes(const cudaArray& array) {
  return reinterpret_cast<std::byte*>(array.image.memory); // NOLINT
}
inline std::size_t array_pitch(const cudaArray& array) {
  return std::size_t{array.image.width} * array.image.format.bytes();
}
inline std::size_t array_rows(const cudaArray& array) {
  return array.image.height == 0 ? 1 : array.image.height;
}

} // namespace kernevo::cuda
