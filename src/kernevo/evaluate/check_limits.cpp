#include "kernevo/evaluate/check_limits.h"

#include <algorithm>
#include <thread>

namespace kernevo {

double estimated_work(const Task& task, const Problem& problem) {
  double elements = 0;
  for (const BufferSpec& buffer : problem.buffers)
    elements += static_cast<double>(buffer.elements());
  double work = elements;
  if (task.work.flops)
    if (const auto flops = task.work.flops->evaluate(problem.dims))
      work += static_cast<double>(*flops);
  // Without a work model each element may stand for a loop over another dimension.
  if (!task.work.flops) {
    std::int64_t longest = 1;
    for (const auto& [name, value] : problem.dims)
      longest = std::max(longest, value);
    work *= static_cast<double>(std::min<std::int64_t>(longest, 4096));
  }
  return work;
}

std::uint64_t runaway_budget(double work) {
  // A plain parallel kernel takes 0.1 to 1 warp instructions per operation, one thread doing
  // everything about 5, and launches that wait for each other some ten thousand for nothing.
  // Two thousand rows of three elements with a block of a thousand threads each take twenty
  // million.
  constexpr double base = 32e6;
  constexpr double per_operation = 24;
  return static_cast<std::uint64_t>(std::min(base + per_operation * work, 4e12));
}

std::uint64_t sanitized_budget(double work) {
  constexpr double base = 1e6;
  constexpr double most = 8e6; // some three seconds
  return static_cast<std::uint64_t>(std::min(base + work / 2, most));
}

std::uint64_t shown_budget(double work, double instructions, double share) {
  constexpr double base = 4e6;
  // Between a small shape and the real one an honest kernel may lose so much. What is sampled is
  // large, and so is what it costs.
  const double growth = share < 1 ? 8 : 16;
  constexpr double uneven = 40e6; // the sampled blocks may be those that do most
  double budget = base + growth * instructions * share;
  if (share < 1)
    budget = std::max(budget, std::min(uneven, 2 * instructions));
  return std::min(runaway_budget(work), static_cast<std::uint64_t>(std::min(budget, 4e12)));
}

double patience_budget(double minutes) {
  return minutes * 15e9;
}

double patience_seconds(double minutes) {
  return minutes * 60 * 4 * std::max(1U, std::thread::hardware_concurrency());
}

double processor_seconds(std::uint64_t budget, double most) {
  constexpr double base = 5;               // threads, pages, the compiler
  constexpr double per_instruction = 2e-6; // sanitized memory accesses take 0.4e-6
  return std::min(most, base + per_instruction * static_cast<double>(budget));
}

} // namespace kernevo
