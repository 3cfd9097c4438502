// How fast a kernel is on every shape of its task. On the virtual GPU the time is predicted from
// what the kernel does on a sample of its blocks.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/build.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/task.h"
#include "kernevo/model/timing.h"
#include "kernevo/model/verdict.h"
#include "kernevo/predict/machine_work.h"
#include "kernevo/predict/prediction.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct CaseBench;

struct BenchOptions {
  std::string gpu; // overrides the task's target
  ParameterValues parameters;
  std::uint64_t seed = 1;    // of inputs and of the blocks that are counted
  std::uint64_t blocks = 16; // about so many of each launch are counted
  double seconds = 60;       // wall-clock limit of one shape
  std::uint64_t memory_bytes = std::uint64_t{8} << 30U;
  std::vector<std::string> only_cases; // ids of the shapes to time; empty = all
  // Asked when the kernel is built and after each shape; a no ends the bench there.
  std::function<bool(const Build&)> go_on_built;
  std::function<bool(const std::vector<CaseBench>&)> go_on_timed;
};

// One launch of one shape.
struct LaunchBench {
  LaunchCounts counts;
  KernelResources resources;
  std::optional<MachineWork> work; // absent without ptxas and nvdisasm
  Prediction prediction;
};

struct CaseBench {
  std::string case_id;
  double weight = 1;
  Timing timing; // of the whole plan
  std::vector<LaunchBench> launches;
};

struct BenchResult {
  Build build;
  Gpu gpu;
  ParameterValues parameters;
  std::vector<CaseBench> cases; // empty when the kernel has a fault
  std::optional<FaultKind> fault;
  std::string summary;      // of the fault
  bool out_of_time = false; // the fault: the machine's speed may be to blame, not the kernel
  bool stopped = false;     // by go_on_...; cases are those timed before
  // What the task's objective makes of the cases' times; absent with a fault or when stopped. Less
  // is better.
  std::optional<Nanoseconds> objective;
};

// Does not check results: callers who have not done so call check_kernel first. A kernel that does
// not compile, does not fit or faults is in the result; Result errors are the machine's or the
// input's.
Result<BenchResult> bench_kernel(const Task& task, const KernelFile& kernel,
                                 const BenchOptions& options);

} // namespace kernevo
