// A real GPU through NVIDIA's driver, or a driver that plays one. It measures and has no
// instruments; every module runs in a process of its own (cuda_worker.h).
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"

#include <memory>

namespace kernevo {

Result<std::shared_ptr<Device>> open_cuda_device(int ordinal);

} // namespace kernevo
