// What 'kernevo run' says of a launch.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/cli/run_prediction.h"
#include "kernevo/kernel/argument_text.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/program/kernels.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace kernevo::cli {

// Device memory of an argument.
struct RunBuffer {
  std::size_t argument = 0;
  vgpu::DevicePointer pointer = 0;
};

struct RunReport {
  const vgpu::KernelInfo& kernel;
  const vgpu::LaunchResult& result;
  const std::vector<RunArgument>& arguments;
  const std::vector<RunBuffer>& buffers;
  vgpu::Machine& machine;
  const std::optional<Prediction>& prediction;
};

void print_run(const RunReport& run, const CommonOptions& options);

} // namespace kernevo::cli
