// What `bench` and `profile` share: their options, and the way from files to a benched kernel that
// was checked first.
#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/cli/program_options.h"
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/bench.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/counter_readings.h"
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
  ProgramTaskOptions program; // where the task is a Python module
  // What the model says as well, where the device measures.
  bool with_model = false;
  // Counters are wanted: a companion's, where the device gives none.
  bool with_counters = false;
  std::string counters; // a file of Nsight Compute that has them
};

void add_checked_bench(CommandLine& command, CheckedBenchOptions& options);

struct CheckedBench {
  Task task;
  KernelFile kernel;
  BenchResult result;
  // Of the companion, for the same kernel; nothing here is ever compared with the result.
  std::optional<BenchResult> modelled;
  std::string modelled_on; // "virtual:A100, the same GPU"
  // What hardware counted of the same launches, or why it did not; absent where it was not asked.
  std::optional<HardwareCounters> counters;

  // What was counted block by block, and what the model says of it.
  const BenchResult& counted() const { return modelled ? *modelled : result; }
};

// The task is a Python module: what follows is of programs.
bool is_program(const CheckedBenchOptions& options);
Result<int> bench_program(const CheckedBenchOptions& options, bool profile);

// Nothing when the kernel is wrong or faults: there is no time worth knowing, and what is wrong has
// been reported.
Result<std::optional<CheckedBench>> checked_bench(const CheckedBenchOptions& options);

} // namespace kernevo::cli
