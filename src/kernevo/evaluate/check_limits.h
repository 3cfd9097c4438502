// How much work a check may cost, and what follows for a shape.
#pragma once

#include "kernevo/model/task.h"

#include <cstdint>

namespace kernevo {

// Operations of one run by the task's work model, or a guess from its sizes.
double estimated_work(const Task& task, const Problem& problem);

// Warp instructions after which a launch counts as a runaway: a hundred times what a usual kernel
// of this much work needs.
std::uint64_t runaway_budget(double work);

// The sanitizers cost twenty times a plain run: after so many warp instructions, several times what
// a usual kernel needs, a plain run finds out whether the kernel ends at all.
std::uint64_t sanitized_budget(double work);

// As runaway_budget, of a kernel that has shown on small shapes that it takes so many
// `instructions` for the whole shape, and now runs this share of its blocks.
std::uint64_t shown_budget(double work, double instructions, double share);

// Warp instructions that two cores run in so many minutes, compiled: so that what is run whole
// depends on the kernel and the user's patience, not on how busy the machine is. And the processor
// time that goes with it, on a slow machine.
double patience_budget(double minutes);
double patience_seconds(double minutes);

// Processor time that goes with so many warp instructions, sanitized or not, on a slow machine.
double processor_seconds(std::uint64_t budget, double most);

} // namespace kernevo
