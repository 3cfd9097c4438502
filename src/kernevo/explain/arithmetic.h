// Floating-point work of a launch, read off its PTX.
#pragma once

#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_counts.h"

#include <map>
#include <string>
#include <string_view>

namespace kernevo {

// Operations by the unit that does them: "fp16", "fp32", "fp64", "tensor fp16", "tensor tf32",
// "tensor fp64", "tensor int8".
using Arithmetic = std::map<std::string, double, std::less<>>;

// Of the whole grid. A multiply-add is two operations, any other arithmetic one; comparisons,
// conversions and moves are none.
Arithmetic count_arithmetic(const LaunchCounts& counts);

// Operations of one execution: by a thread, or by a warp for the matrix instructions. The unit is
// empty for an instruction that does no such work.
struct Operations {
  std::string_view unit;
  double count = 0;
  bool of_warp = false;
};
Operations operations_of(std::string_view opcode);

// Operations per second; 0 where the GPU has no public figure for the unit.
double peak_of(const Gpu& gpu, std::string_view unit);

} // namespace kernevo
