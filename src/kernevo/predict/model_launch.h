// From a module and the counts of a launch to its predicted time: machine code where there is some,
// else the PTX alone.
#pragma once

#include "kernevo/predict/machine_work.h"
#include "kernevo/predict/predict.h"

#include <optional>
#include <string>

namespace kernevo {

struct ModelledLaunch {
  KernelResources resources;
  std::optional<MachineWork> work;
  Prediction prediction;
};

// `ptx` is the text that was disassembled and profiled, `kernel` an entry of it, `code` null where
// the tools are missing. What is known of the kernel's resources is completed from its code.
Result<ModelledLaunch> model_launch(const Gpu& gpu, const std::string& ptx,
                                    const sass::SassModule* code, const std::string& kernel,
                                    KernelResources resources, const LaunchCounts& counts);

} // namespace kernevo
