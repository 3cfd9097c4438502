// Where the CUDA libraries are, and what they are told of our environment.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/cuda_messages.h"

#include <optional>
#include <string>

namespace kernevo {

// For a worker. The error says that there is no driver here; it was only looked for, nothing of it
// was called.
Result<CudaSettings> cuda_settings();

} // namespace kernevo
