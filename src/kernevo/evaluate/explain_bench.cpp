#include "kernevo/evaluate/explain_bench.h"

#include "kernevo/task/feasibility.h"

#include <algorithm>

namespace kernevo {
namespace {

Result<PlannedWork> planned_work(const Task& task, const Gpu& gpu, const CaseBench& bench,
                                 const WorkEstimate* estimate) {
  PlannedWork planned;
  planned.dtype = task.dtype;
  planned.allow_tf32 = task.allow_tf32;
  planned.predicted = bench.timing.median;
  const auto shape = std::find_if(task.shapes.begin(), task.shapes.end(),
                                  [&](const ShapeCase& s) { return s.id == bench.case_id; });
  if (shape == task.shapes.end())
    return planned;
  const ShapeEstimate* estimated = estimate == nullptr ? nullptr : estimate->find(shape->id);
  KERNEVO_TRY(line, roofline(task, shape->dims, gpu, estimated));
  if (line) {
    // The operations of a reference are not what the task asks for.
    if (task.work.flops)
      planned.flops = line->flops;
    if (task.work.bytes || estimated != nullptr)
      planned.bytes = line->bytes;
    planned.least = Nanoseconds{line->moving_us * 1e3};
  }
  return planned;
}

} // namespace

Result<std::vector<std::vector<Explanation>>> explain_bench(const Task& task,
                                                            const BenchResult& result,
                                                            const std::vector<Rule>& rules,
                                                            const WorkEstimate* estimate) {
  std::vector<std::vector<Explanation>> all;
  for (const CaseBench& bench : result.cases) {
    KERNEVO_TRY(planned, planned_work(task, result.device.gpu, bench, estimate));
    std::vector<Explanation>& launches = all.emplace_back();
    for (const LaunchBench& launch : bench.launches) {
      KERNEVO_TRY(explanation, explain_launch({result.device.gpu, launch.counts, launch.resources,
                                               launch.work ? &*launch.work : nullptr,
                                               launch.prediction, planned},
                                              rules));
      launches.push_back(std::move(explanation));
    }
  }
  return all;
}

} // namespace kernevo
