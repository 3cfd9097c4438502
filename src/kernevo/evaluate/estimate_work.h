// The work of a task that does not say it: asked of its reference kernel.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/model/task.h"
#include "kernevo/model/work_estimate.h"

#include <optional>

namespace kernevo {

// Nothing where the task says all there is to say, where there is nothing to ask (no instruments, a
// reference that is at fault) or where nothing was found out. The times are those of the task's
// objective on the device's GPU.
Result<std::optional<WorkEstimate>> estimate_work(Device& device, const Task& task);

} // namespace kernevo
