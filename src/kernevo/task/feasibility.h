// The least time the roofline allows, and the warning for targets below it.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/task.h"
#include "kernevo/model/work_estimate.h"

#include <optional>
#include <string>

namespace kernevo {

struct Roofline {
  double flops = 0;
  double bytes = 0;
  double least_us = 0; // the larger of compute and memory time
  bool compute_bound = false;
  // Where the reference was asked for what the task does not say, the same without its operations,
  // and by what must be moved beyond doubt; else both are least_us.
  bool estimated = false;
  double moving_us = 0;
  double sure_us = 0;
};

// What the task says of its work, and what the estimate says where the task does not. Absent when
// neither does.
Result<std::optional<Roofline>> roofline(const Task& task, const Dims& dims, const Gpu& gpu,
                                         const ShapeEstimate* estimate = nullptr);
// "target 1.0 us is below the roofline: the A100 needs at least 440 us for ..." when it is.
std::optional<std::string> target_warning(const Task& task, const Gpu& gpu);

} // namespace kernevo
