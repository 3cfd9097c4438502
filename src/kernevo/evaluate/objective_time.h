// One number for a kernel from its times on the shapes of a task.
#pragma once

#include "kernevo/base/units.h"
#include "kernevo/model/task.h"

#include <vector>

namespace kernevo {

struct WeightedTime {
  Nanoseconds time;
  double weight = 1;
};

// Less is better. At least one time.
Nanoseconds objective_time(Objective objective, const std::vector<WeightedTime>& times);

} // namespace kernevo
