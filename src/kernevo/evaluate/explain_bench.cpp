#include "kernevo/evaluate/explain_bench.h"

#include "kernevo/task/feasibility.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

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

// Times of a shape's launches come from one source: measured without a profiler where they were,
// else as the counters say.
struct PlanTime {
  std::optional<Nanoseconds> time;
  std::string source;
};

PlanTime plan_time(const CounterEvidence& hardware, const std::string& case_id,
                   const std::vector<CounterReadings>& readings) {
  if (hardware.measured != nullptr) {
    const auto& cases = hardware.measured->cases;
    const auto found = std::ranges::find(cases, case_id, &CaseBench::case_id);
    const DeviceIdentity& device = hardware.measured->device;
    if (found != cases.end())
      return {found->timing.median,
              device.stand_in.empty() ? device.name : "stand-in for " + device.name};
  }
  const auto& sources = hardware.map.sources();
  const auto time = std::ranges::find(sources, "time", &MetricSource::metric);
  PlanTime sum{Nanoseconds{0}, hardware.counters.label()};
  for (const CounterReadings& one : readings)
    sum.time->value += CounterMap::counted(*time, one).value_or(0);
  return sum;
}

} // namespace

Result<std::vector<std::vector<Explanation>>>
explain_bench(const Task& task, const BenchResult& result, const std::vector<Rule>& rules,
              const WorkEstimate* estimate, const CounterEvidence* hardware) {
  std::vector<std::vector<Explanation>> all;
  for (const CaseBench& bench : result.cases) {
    KERNEVO_TRY(planned, planned_work(task, result.device.gpu, bench, estimate));
    std::vector<Explanation>& launches = all.emplace_back();
    const auto* readings = hardware == nullptr ? nullptr : hardware->counters.find(bench.case_id);
    if (readings != nullptr && readings->size() != bench.launches.size())
      return fail(ErrorCode::infrastructure,
                  fmt::format("counters of {} launches came for {} of the shape '{}'",
                              readings->size(), bench.launches.size(), bench.case_id));
    for (std::size_t i = 0; i < bench.launches.size(); ++i) {
      const LaunchBench& launch = bench.launches[i];
      LaunchEvidence evidence{result.device.gpu, launch.counts,
                              launch.resources,  launch.work ? &*launch.work : nullptr,
                              launch.prediction, planned};
      std::optional<CountedLaunch> counted;
      if (readings != nullptr) {
        auto [time, source] = plan_time(*hardware, bench.case_id, *readings);
        counted.emplace(CountedLaunch{hardware->map, (*readings)[i], hardware->counters.label(),
                                      time, std::move(source)});
        evidence.counted = &*counted;
      }
      KERNEVO_TRY(explanation, explain_launch(evidence, rules));
      launches.push_back(std::move(explanation));
    }
  }
  return all;
}

} // namespace kernevo
