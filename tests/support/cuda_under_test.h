// The GPU behind a CUDA driver that tests use: the virtual one behind our own driver library, or
// with $KERNEVO_TEST_GPU (`make test-gpu`) the first real one of this machine.
#pragma once

#include "kernevo/device/device.h"

#include <memory>
#include <string>

namespace kernevo {

// Whether tests were asked to use a real GPU.
bool wants_real_gpu();

// Names our library to whoever looks for a driver, unless a real GPU is wanted. Why there is
// nothing to test; empty when there is.
std::string choose_cuda_under_test();

Result<std::shared_ptr<Device>> open_cuda_under_test(int ordinal = 0);

} // namespace kernevo
