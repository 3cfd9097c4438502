// A kernel file with its parameters bound -> Build, for a GPU.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/build.h"
#include "kernevo/model/gpu.h"

namespace kernevo {

// The plan tells which template instantiations are launched.
Result<Build> compile_kernel(const KernelFile& kernel, const ParameterValues& parameters,
                             const LaunchPlan& plan, const Gpu& gpu);

} // namespace kernevo
