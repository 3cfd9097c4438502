// Whether a program asks the same of the GPU at sizes that are too large to run as at those it was
// judged on: the same kernels and operators, with as much work as the sizes make of it.
#pragma once

#include "kernevo/model/gpu.h"
#include "kernevo/programs/price_program.h"
#include "kernevo/programs/stage_jobs.h"

#include <string>

namespace kernevo {

struct PricedCase {
  const ProgramCase* sizes = nullptr;
  const ProgramPrice* price = nullptr;
};

// Why that cannot be said; empty where it can. `narrow`: the task's numbers have sixteen bits.
std::string why_not_same_work(const PricedCase& judged, const PricedCase& larger, const Gpu& gpu,
                              bool narrow);

} // namespace kernevo
