#pragma once
#include <torch/types.h>
namespace c10::cuda {
struct CUDAGuard {
  explicit CUDAGuard(Device) {}
};
} // namespace c10::cuda
