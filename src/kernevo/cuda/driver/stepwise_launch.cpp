// The driver's interface: launches as they were before version 4, block, arguments and grid given
// one call after the other. PyCUDA's still are.
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/driver/driver.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace {

constexpr std::size_t kMostArguments = 32'764; // bytes, as a kernel may have

struct Steps {
  std::array<unsigned, 3> block = {1, 1, 1};
  unsigned shared = 0;
  std::vector<std::byte> arguments;
};

std::mutex& guard() {
  static std::mutex mutex;
  return mutex;
}

// Never destroyed: programs launch until the very end.
std::map<CUfunction, Steps>& all_steps() {
  static auto* const steps = new std::map<CUfunction, Steps>();
  return *steps;
}

// Changes what is known of the launch to come.
template <class Change> CUresult set(CUfunction function, Change&& change) {
  KERNEVO_READY();
  if (kernevo::cuda::Session::get().kernel(function) == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard lock(guard());
  return change(all_steps()[function]);
}

CUresult set_argument(CUfunction function, int offset, const void* value, std::size_t bytes) {
  if (value == nullptr || offset < 0 || static_cast<std::size_t>(offset) + bytes > kMostArguments)
    return CUDA_ERROR_INVALID_VALUE;
  return set(function, [&](Steps& steps) {
    const auto at = static_cast<std::size_t>(offset);
    if (steps.arguments.size() < at + bytes)
      steps.arguments.resize(at + bytes);
    std::memcpy(steps.arguments.data() + at, value, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult launch(CUfunction function, int width, int height, CUstream stream) {
  if (width <= 0 || height <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  Steps steps;
  if (const CUresult no = set(function,
                              [&](Steps& known) {
                                steps = known;
                                return CUDA_SUCCESS;
                              });
      no != CUDA_SUCCESS)
    return no;
  std::size_t bytes = steps.arguments.size();
  std::array<void*, 5> extra = {CU_LAUNCH_PARAM_BUFFER_POINTER, steps.arguments.data(),
                                CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        steps.block[0], steps.block[1], steps.block[2], steps.shared, stream,
                        nullptr, extra.data());
}

} // namespace

extern "C" {

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  if (x <= 0 || y <= 0 || z <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  return set(function, [&](Steps& steps) {
    steps.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return set(function, [&](Steps& steps) {
    steps.shared = bytes;
    return CUDA_SUCCESS;
  });
}
CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  if (bytes > kMostArguments)
    return CUDA_ERROR_INVALID_VALUE;
  return set(function, [&](Steps& steps) {
    steps.arguments.resize(bytes);
    return CUDA_SUCCESS;
  });
}
CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return set_argument(function, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return set_argument(function, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned bytes) {
  return set_argument(function, offset, value, bytes);
}
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch(function, width, height, stream);
}
CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch(function, width, height, nullptr);
}
CUresult cuLaunch(CUfunction function) {
  return launch(function, 1, 1, nullptr);
}

} // extern "C"
