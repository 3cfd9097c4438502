#include "kernevo/evaluate/check_limits.h"

#include <algorithm>

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
  // A naive kernel spends some ten instructions per operation on one lane of 32; one thread doing
  // everything spends them on each. 64 instructions per operation covers both.
  constexpr double base = 20e6;
  constexpr double per_operation = 64;
  return static_cast<std::uint64_t>(std::min(base + per_operation * work, 4e12));
}

} // namespace kernevo
