// The predicted time of a profiled `kernevo run`.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/predict/prediction.h"

#include <string>

namespace kernevo::cli {

// `kernel` as in the PTX, which is assembled for the GPU to see its machine code. Where the tools
// are missing the PTX has to do.
Result<Prediction> predict_run(const std::string& ptx, const std::string& kernel, const Gpu& gpu,
                               const LaunchCounts& counts);

// The time, then the share of each resource, one per line.
void print_prediction(const Prediction& prediction);

} // namespace kernevo::cli
