// What a proposer is told of the task, as far as it is visible to it, and of the GPU.
#pragma once

#include "kernevo/base/text_template.h"
#include "kernevo/base/units.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/task.h"

#include <optional>

namespace kernevo::propose {

// For the prompt "task".
TemplateContext task_context(const Task& task, const Gpu& gpu, std::optional<Nanoseconds> roofline);

} // namespace kernevo::propose
