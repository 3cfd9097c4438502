// The few functions of PyTorch an extracted module calls, on cudaMalloc, so that its CUDA source
// can be compiled and run where PyTorch is not installed. For tests only.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace c10 {
enum class ScalarType { Float, Half, BFloat16, Double, Int, Char, Long };
struct Device {
  int index = 0;
};
} // namespace c10

namespace at {
using c10::ScalarType;
}

namespace torch {
constexpr auto kFloat = c10::ScalarType::Float;
constexpr auto kHalf = c10::ScalarType::Half;
constexpr auto kBFloat16 = c10::ScalarType::BFloat16;
constexpr auto kDouble = c10::ScalarType::Double;
constexpr auto kInt = c10::ScalarType::Int;
constexpr auto kChar = c10::ScalarType::Char;
constexpr auto kLong = c10::ScalarType::Long;
constexpr int kCUDA = 1;

struct TensorOptions {
  c10::ScalarType type = kFloat;
  TensorOptions dtype(c10::ScalarType wanted) const { return {wanted}; }
  TensorOptions device(int) const { return *this; }
};

class Tensor {
public:
  Tensor(std::vector<int64_t> sizes, c10::ScalarType type) : sizes_(std::move(sizes)), type_(type) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes() + 1) != cudaSuccess)
      std::abort();
    data_ = std::shared_ptr<void>(memory, [](void* p) { cudaFree(p); });
  }
  bool is_cuda() const { return true; }
  bool is_contiguous() const { return true; }
  c10::ScalarType scalar_type() const { return type_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t size(int64_t i) const { return sizes_.at(static_cast<size_t>(i)); }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t size : sizes_)
      count *= size;
    return count;
  }
  size_t bytes() const {
    static constexpr size_t widths[] = {4, 2, 2, 8, 4, 1, 8};
    return static_cast<size_t>(numel()) * widths[static_cast<int>(type_)];
  }
  c10::Device device() const { return {}; }
  TensorOptions options() const { return {type_}; }
  void* data_ptr() const { return data_.get(); }
  Tensor clone() const {
    Tensor copy(sizes_, type_);
    cudaMemcpy(copy.data_ptr(), data_ptr(), bytes(), cudaMemcpyDeviceToDevice);
    return copy;
  }

private:
  std::vector<int64_t> sizes_;
  c10::ScalarType type_;
  std::shared_ptr<void> data_;
};

inline Tensor empty(std::vector<int64_t> sizes, TensorOptions options) {
  return Tensor(std::move(sizes), options.type);
}
} // namespace torch

template <class... Parts>
void torch_stub_check(bool holds, const char* condition, const Parts&...) {
  if (holds)
    return;
  std::printf("refused: %s\n", condition);
  std::exit(3);
}
#define TORCH_CHECK(condition, ...) torch_stub_check((condition), #condition, __VA_ARGS__)
