// `kernevo bench`, `profile` and `compare` where the task is a Python module.
#pragma once

#include "kernevo/cli/program_options.h"

#include <string>
#include <vector>

namespace kernevo::cli {

struct BenchProgramOptions {
  CommonOptions common;
  std::vector<std::string> words;
  ProgramTaskOptions task;
  DeviceChoice device;
  double seconds = 60;
  double memory_gb = 8;
  double patience_minutes = 5;
  bool unchecked = false;
  bool profile = false; // each kernel's shapes and resources
};

// The program's time beside the reference's.
Result<int> bench_program(const BenchProgramOptions& options);
// Two programs' times: 0 when the second is shown to be faster.
Result<int> compare_programs(const BenchProgramOptions& options);

} // namespace kernevo::cli
