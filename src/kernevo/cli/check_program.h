// `kernevo check` where the task is a Python module.
#pragma once

#include "kernevo/cli/program_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernevo::cli {

struct CheckProgramOptions {
  CommonOptions common;
  std::vector<std::string> words;
  ProgramTaskOptions task;
  DeviceChoice device;
  std::uint64_t seed = 0; // 0 = a fresh one
  double seconds = 60;
  double memory_gb = 8;
  double patience_minutes = 5;
  bool small_only = false;
  bool require_kernels = false;
};

Result<int> check_program(const CheckProgramOptions& options);

} // namespace kernevo::cli
