// Where a launch stands under its roofline: work per byte, work per second, and the roofs.
#pragma once

#include "kernevo/explain/arithmetic.h"
#include "kernevo/explain/launch_evidence.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct RooflineCeiling {
  std::string unit; // "fp32", "tensor fp16", "instructions"
  double rate = 0;  // operations per second
};

struct RooflinePoint {
  // Floating-point operations; of a kernel without any, instructions of threads.
  bool instructions = false;
  double operations = 0;
  double rate = 0;       // operations per second
  double dram_bytes = 0; // operations / bytes is the intensity at that level
  double l2_bytes = 0;
  double dram_rate = 0;                  // bytes per second, of the GPU's table
  std::optional<double> l2_rate;         // bytes per second the timing model grants this launch
  RooflineCeiling ceiling;               // of the unit that does most of the work
  std::optional<RooflineCeiling> unused; // a faster unit the task's type allows
};

RooflinePoint find_roofline_point(const LaunchEvidence& evidence, const Arithmetic& arithmetic);

} // namespace kernevo
