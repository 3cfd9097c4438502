// The timing model: counts of a launch, its machine code and a GPU -> time.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/build.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/predict/machine_work.h"
#include "kernevo/predict/prediction.h"

namespace kernevo {

// Deterministic. `work` is null where there is no machine code to look at. A launch that does not
// fit the GPU is an error.
Result<Prediction> predict_launch(const Gpu& gpu, const LaunchCounts& counts,
                                  const KernelResources& resources, const MachineWork* work);

} // namespace kernevo
