// Products that a program asks of cuBLAS, done by torch's operators.
#pragma once

#include "../libraries/products.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace kernevo {

inline std::optional<at::ScalarType> scalar_type(cudaDataType type) {
  switch (type) {
  case CUDA_R_64F: return at::kDouble;
  case CUDA_R_32F: return at::kFloat;
  case CUDA_R_16F: return at::kHalf;
  case CUDA_R_16BF: return at::kBFloat16;
  default: return std::nullopt;
  }
}

// Whether the memory from here on is one allocation for so many bytes.
inline bool is_allocated(const void* data, size_t bytes) {
  CUdeviceptr base = 0;
  size_t size = 0;
  const auto at = reinterpret_cast<CUdeviceptr>(data);
  using Range = CUresult (*)(CUdeviceptr*, size_t*, CUdeviceptr);
  static const auto range = reinterpret_cast<Range>(dlsym(RTLD_DEFAULT, "cuMemGetAddressRange_v2"));
  return data != nullptr && range != nullptr && range(&base, &size, at) == CUDA_SUCCESS &&
         at + bytes <= base + size;
}

// The matrix as it stands in the product, `rows` x `columns`, three-dimensional in a batch.
inline at::Tensor as_tensor(const KernevoMatrix& matrix, int64_t rows, int64_t columns,
                            int64_t batches, at::ScalarType type) {
  const int64_t step = matrix.step;
  const int64_t increment = matrix.increment;
  std::vector<int64_t> sizes{rows, columns};
  std::vector<int64_t> strides = matrix.transposed ? std::vector<int64_t>{step, increment}
                                                   : std::vector<int64_t>{increment, step};
  if (batches > 1) {
    sizes.insert(sizes.begin(), batches);
    strides.insert(strides.begin(), matrix.next);
  }
  size_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    last += static_cast<size_t>((sizes[i] - 1) * strides[i]);
  const size_t bytes = (last + 1) * c10::elementSize(type);
  TORCH_CHECK(is_allocated(matrix.data, bytes), "cuBLAS is given ", bytes, " bytes at ",
              matrix.data, ", which are not the program's memory on the GPU");
  return at::from_blob(const_cast<void*>(matrix.data), sizes, strides,
                       at::TensorOptions().device(current_gpu()).dtype(type));
}

inline int multiply(const KernevoProduct* wanted) {
  constexpr int kExecutionFailed = 13;
  constexpr int kNotSupported = 15;
  const auto type = scalar_type(wanted->a.type);
  if (!type || wanted->b.type != wanted->a.type || wanted->c.type != wanted->a.type) {
    std::fprintf(stderr, "kernevo: cuBLAS: products of these types are not on the virtual GPU\n");
    return kNotSupported;
  }
  try {
    const at::NoGradGuard no_gradients;
    const c10::cuda::CUDAStreamGuard stream(c10::cuda::getStreamFromExternal(
        static_cast<cudaStream_t>(wanted->stream), c10::cuda::current_device()));
    const int64_t batches = wanted->batches;
    at::Tensor c = as_tensor(wanted->c, wanted->rows, wanted->columns, batches, *type);
    if (wanted->inner == 0) {
      if (wanted->beta == 0)
        c.zero_();
      else
        c.mul_(wanted->beta);
      return 0;
    }
    const at::Tensor a = as_tensor(wanted->a, wanted->rows, wanted->inner, batches, *type);
    const at::Tensor b = as_tensor(wanted->b, wanted->inner, wanted->columns, batches, *type);
    if (batches > 1)
      at::baddbmm_out(c, c, a, b, wanted->beta, wanted->alpha);
    else
      at::addmm_out(c, c, a, b, wanted->beta, wanted->alpha);
    return 0;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "kernevo: %s\n", error.what_without_backtrace());
    return kExecutionFailed;
  }
}

// Where the stand-in for cuBLAS is in this process.
inline void offer_products() {
  using Connect = void (*)(KernevoMultiply);
  if (const auto connect = reinterpret_cast<Connect>(dlsym(RTLD_DEFAULT, "kernevo_cublas_connect")))
    connect(&multiply);
}

} // namespace kernevo
