// A kernel up the whole ladder: parse, compile, resources, then the shapes (judge_subject.h).
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/evaluate/check_progress.h"
#include "kernevo/evaluate/prepare_kernel.h"
#include "kernevo/evaluate/whole_tallies.h"
#include "kernevo/model/occupancy.h"
#include "kernevo/model/task.h"
#include "kernevo/model/verdict.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct CheckOptions {
  ParameterValues parameters; // of check_kernel; a prepared kernel has its own
  std::uint64_t seed = 0;     // 0 = a fresh one, reported
  double seconds = 60;        // most processor time of a launch
  std::uint64_t memory_bytes = std::uint64_t{8} << 30U;
  double patience_minutes = 5; // for the whole runs of one real shape
  bool small_only = false;     // stop after the small shapes
  bool fresh_process = false;  // run where no kernel has run before
  // Of every case. By default cases run in natural order but for the exact integers, on which a
  // sound kernel is right in any order: those are shuffled.
  std::optional<RunOrder> order;
  CheckObserver observer = {}; // may be empty
  // Receives what each block did on the first run of each real shape that was run whole.
  WholeTallies* tallies = nullptr;
};

// How one launch of the first real shape sits on the GPU.
struct LaunchOccupancy {
  std::string kernel;
  Occupancy occupancy;
};

struct CheckResult {
  Verdict verdict;
  Build build;
  std::vector<LaunchOccupancy> occupancy; // of launches whose registers are known
  DeviceIdentity device;
  std::optional<LoadedCode> code; // what of the build it loaded, where that is a choice
  ParameterValues parameters;
  // Absent where whoever reads it may not know.
  std::optional<std::uint64_t> seed;
  std::optional<double> wall_seconds;
};

// Result errors are infrastructure or input trouble (no toolkit, bad task); everything the
// candidate did is in the verdict.
Result<CheckResult> check_kernel(Device& device, const Task& task, const KernelFile& kernel,
                                 const CheckOptions& options);
Result<CheckResult> check_prepared(Device& device, const PreparedKernel& prepared,
                                   const CheckOptions& options);

} // namespace kernevo
