#include "kernevo/cuda/core/operator_cost.h"

#include "kernevo/predict/calibration.h"

#include <algorithm>

namespace kernevo::cuda {
namespace {

// Of the peak rate of dense arithmetic, what good libraries reach on large matrices.
constexpr double kArithmeticEfficiency = 0.8;

} // namespace

Cost operator_cost(const Gpu& gpu, std::uint64_t bytes, double flops, int arithmetic) {
  const DType type = arithmetic == 0   ? DType::float64
                     : arithmetic == 2 ? DType::float16
                                       : DType::float32;
  const double rate = gpu.peak_operations_per_second(type) * 1e-9 * kArithmeticEfficiency;
  const double moved = static_cast<double>(bytes) / (gpu.dram_gbps * kCalibration.dram_efficiency);
  const double computed = rate > 0 ? flops / rate : 0;
  return {kCalibration.launch_ns + std::max(moved, computed), Engine::multiprocessors};
}

} // namespace kernevo::cuda
