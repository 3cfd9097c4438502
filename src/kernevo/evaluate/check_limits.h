// How much work a check may cost, and what follows for a shape.
#pragma once

#include "kernevo/model/task.h"

#include <cstdint>

namespace kernevo {

// Operations of one run by the task's work model, or a guess from its sizes.
double estimated_work(const Task& task, const Problem& problem);

// Warp instructions after which a launch counts as a runaway: far above what an honest kernel of
// this much work needs, low enough to end an endless loop in seconds.
std::uint64_t runaway_budget(double work);

} // namespace kernevo
