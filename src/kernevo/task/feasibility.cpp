#include "kernevo/task/feasibility.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

// "137.4 GFLOP": four significant digits and the prefix that keeps them readable.
std::string with_prefix(double value, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t step = 0;
  while (value >= 999.95 && step + 1 < std::size(prefixes)) {
    value /= 1000.0;
    ++step;
  }
  return fmt::format("{:.4g} {}{}", value, prefixes[step], unit);
}

std::string microseconds(double value) {
  return value >= 1000.0 ? fmt::format("{:.0f} us", value)
         : value >= 0.1  ? fmt::format("{:.1f} us", value)
                         : fmt::format("{:.2g} us", value);
}

std::string reason(const Roofline& line, const Task& task, const Gpu& gpu) {
  if (line.compute_bound)
    return fmt::format("for {} at {}/s", with_prefix(line.flops, "FLOP"),
                       with_prefix(gpu.peak_operations_per_second(task.dtype), "FLOP"));
  return fmt::format("to move {} at {}/s", with_prefix(line.bytes, "B"),
                     with_prefix(gpu.dram_gbps * 1e9, "B"));
}

} // namespace

Result<std::optional<Roofline>> roofline(const Task& task, const Dims& dims, const Gpu& gpu,
                                         const ShapeEstimate* estimate) {
  if (!task.work.flops && !task.work.bytes && estimate == nullptr)
    return std::nullopt;
  Roofline line;
  const double peak = gpu.peak_operations_per_second(task.dtype);
  const auto compute_us = [&](double flops) { return peak > 0 ? flops / peak * 1e6 : 0; };
  const auto memory_us = [&](double bytes) {
    return gpu.dram_gbps > 0 ? bytes / (gpu.dram_gbps * 1e9) * 1e6 : 0;
  };
  double declared_us = 0;
  double moving_us = 0;
  double sure_us = 0;
  if (task.work.flops) {
    KERNEVO_TRY(flops, task.work.flops->evaluate(dims));
    line.flops = static_cast<double>(flops);
    declared_us = compute_us(line.flops);
  } else if (estimate != nullptr) {
    line.flops = estimate->flops;
    line.estimated = true;
  }
  if (task.work.bytes) {
    KERNEVO_TRY(bytes, task.work.bytes->evaluate(dims));
    line.bytes = static_cast<double>(bytes);
    moving_us = sure_us = memory_us(line.bytes);
  } else if (estimate != nullptr) {
    line.bytes = estimate->bytes;
    line.estimated = true;
    moving_us = memory_us(estimate->bytes);
    sure_us = memory_us(estimate->least_bytes);
  }
  line.compute_bound = compute_us(line.flops) > moving_us;
  line.least_us = std::max(compute_us(line.flops), moving_us);
  line.moving_us = std::max(declared_us, moving_us);
  line.sure_us = std::max(declared_us, sure_us);
  return line;
}

std::optional<std::string> target_warning(const Task& task, const Gpu& gpu) {
  if (!task.target_us || task.shapes.empty())
    return std::nullopt;
  double weights = 0;
  double sum = 0;
  double logs = 0;
  double worst = 0;
  Roofline last;
  for (const ShapeCase& shape : task.shapes) {
    const auto line = roofline(task, shape.dims, gpu);
    if (!line || !*line)
      return std::nullopt;
    last = **line;
    weights += shape.weight;
    sum += shape.weight * last.least_us;
    logs += shape.weight * std::log(std::max(last.least_us, 1e-12));
    worst = std::max(worst, last.least_us);
  }
  const double least = task.objective == Objective::worst_case_time      ? worst
                       : task.objective == Objective::weighted_mean_time ? sum / weights
                                                                         : std::exp(logs / weights);
  if (*task.target_us >= least)
    return std::nullopt;
  const std::string why =
      task.shapes.size() == 1
          ? reason(last, task, gpu)
          : fmt::format("over its {} shapes ({})", task.shapes.size(),
                        task.objective == Objective::worst_case_time      ? "worst case"
                        : task.objective == Objective::weighted_mean_time ? "weighted mean"
                                                                          : "geometric mean");
  return fmt::format("target {} is below the roofline: the {} needs at least {} {}",
                     microseconds(*task.target_us), gpu.name, microseconds(least), why);
}

} // namespace kernevo
