// How fast a kernel is on every shape of its task: measured where the device measures, else
// predicted from what the kernel does on a sample of its blocks.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/evaluate/prepare_kernel.h"
#include "kernevo/evaluate/whole_tallies.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/task.h"
#include "kernevo/model/timing.h"
#include "kernevo/model/verdict.h"
#include "kernevo/predict/machine_work.h"
#include "kernevo/predict/prediction.h"
#include "kernevo/timing/measure.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct CaseBench;

struct BenchOptions {
  ParameterValues parameters; // of bench_kernel; a prepared kernel has its own
  std::uint64_t seed = 1;     // of inputs and of the blocks that are counted
  std::uint64_t blocks = 16;  // about so many of each launch are counted
  // Run all blocks as well, uncounted, and hold the counted ones against them: no block that does
  // more than others escapes. Without it a sample that happens to be light is believed.
  bool whole = true;
  // Compare what is written then with the task's reference kernel, where that is the oracle; false
  // for the reference itself.
  bool compare_with_reference = true;
  double patience_minutes = 5; // that may take so long, as a check may
  double seconds = 60;         // most processor time of a launch
  std::uint64_t memory_bytes = std::uint64_t{8} << 30U;
  // What a check of this seed found on its first runs, where it did; the same inputs are used then,
  // and blocks of shapes that are among the tallies need not be run again.
  std::optional<std::uint64_t> check_seed = {};
  const WholeTallies* tallies = nullptr;
  std::vector<std::string> only_cases; // ids of the shapes to time; empty = all
  MeasurePlan measure = {};            // on a device that measures
  bool hot_cache = false;              // its caches are as the shot before left them, not flushed
  // Asked after each shape; a no ends the bench there.
  std::function<bool(const std::vector<CaseBench>&)> go_on_timed;
};

bool wants(const BenchOptions& options, const ShapeCase& shape);
// A usage error where hot caches are wanted of a device whose times are all of cold ones.
Result<void> check_cache(const Device& device, bool hot_cache);

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
  Timing timing;                     // of the whole plan
  std::vector<LaunchBench> launches; // empty where the device measures
};

// What the objective makes of the cases' times; at least one.
Nanoseconds objective_of(Objective objective, const std::vector<CaseBench>& cases);

struct BenchResult {
  Build build;
  DeviceIdentity device;
  ParameterValues parameters;
  std::vector<CaseBench> cases; // empty when the kernel has a fault
  std::optional<FaultKind> fault;
  std::string summary;      // of the fault
  bool out_of_time = false; // the fault: the machine's speed may be to blame, not the kernel
  bool stopped = false;     // by go_on_timed; cases are those timed before
  // What the task's objective makes of the cases' times; absent with a fault or when stopped. Less
  // is better.
  std::optional<Nanoseconds> objective;
};

// Why its times must not be scored; empty when they may.
std::string disturbance_of(const BenchResult& bench);

// Does not check results: callers who have not done so check the kernel first. A kernel that does
// not compile, does not fit or faults is in the result; Result errors are the machine's or the
// input's.
Result<BenchResult> bench_kernel(Device& device, const Task& task, const KernelFile& kernel,
                                 const BenchOptions& options);
Result<BenchResult> bench_prepared(Device& device, const PreparedKernel& prepared,
                                   const BenchOptions& options);

} // namespace kernevo
