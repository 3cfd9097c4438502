// What `bench` and `profile` share: their options, and the way from files to a benched kernel that
// was checked first.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/bench.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/task.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::cli {

struct CheckedBenchOptions {
  CommonOptions common;
  std::string task;
  std::string kernel;
  std::vector<std::string> parameters;
  DeviceChoice device;
  BenchOptions bench;
  bool unchecked = false;
  bool blind = false;
};

void add_checked_bench(CommandLine& command, CheckedBenchOptions& options);

struct CheckedBench {
  Task task;
  KernelFile kernel;
  BenchResult result;
};

// Nothing when the kernel is wrong or faults: there is no time worth knowing, and what is wrong has
// been reported.
Result<std::optional<CheckedBench>> checked_bench(const CheckedBenchOptions& options);

} // namespace kernevo::cli
