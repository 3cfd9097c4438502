// The first rungs of the ladder: parse, compile, resources, small shapes with every sanitizer on,
// hidden shapes, real shapes (sampled when large).
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/build.h"
#include "kernevo/model/gpu.h"
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
  std::string gpu; // overrides the task's target
  ParameterValues parameters;
  std::uint64_t seed = 0; // 0 = a fresh one, reported
  double seconds = 60;    // wall-clock limit of one case in the worker
  std::uint64_t memory_bytes = std::uint64_t{8} << 30U;
  bool small_only = false; // stop after the small shapes
  // Of every case. By default cases run in natural order but for the exact integers, on which a
  // sound kernel is right in any order: those are shuffled.
  std::optional<RunOrder> order;
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
  Gpu gpu;
  ParameterValues parameters;
  std::uint64_t seed = 0;
  double wall_seconds = 0;
};

// Result errors are infrastructure or input trouble (no toolkit, bad task); everything the
// candidate did is in the verdict.
Result<CheckResult> check_kernel(const Task& task, const KernelFile& kernel,
                                 const CheckOptions& options);

} // namespace kernevo
