// All that is known of one launch when it is to be explained.
#pragma once

#include "kernevo/model/build.h"
#include "kernevo/model/dtype.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/predict/machine_work.h"
#include "kernevo/predict/prediction.h"

#include <optional>
#include <string>

namespace kernevo {

// What the task asks of all launches of a shape together.
struct PlannedWork {
  DType dtype = DType::float32;
  bool allow_tf32 = false;
  std::optional<double> flops; // absent: the task does not say
  std::optional<double> bytes; // that must be moved at least
  Nanoseconds least;           // by the roofline; 0 without a work model
  Nanoseconds predicted;       // of all launches
};

class CounterMap;
struct CounterReadings;

// What hardware counted of the launch.
struct CountedLaunch {
  const CounterMap& map;
  const CounterReadings& readings;
  std::string source;                   // HardwareCounters::label()
  std::optional<Nanoseconds> plan_time; // of all launches of the shape, as hardware takes
  std::string plan_source;              // who says that
};

struct LaunchEvidence {
  const Gpu& gpu;
  const LaunchCounts& counts;
  const KernelResources& resources;
  const MachineWork* work; // null where there is no machine code to look at
  const Prediction& prediction;
  PlannedWork planned;
  const CountedLaunch* counted = nullptr;
};

} // namespace kernevo
