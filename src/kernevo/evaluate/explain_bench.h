// Why every launch of a timed kernel takes as long as it does.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/explain/counter_map.h"
#include "kernevo/explain/explain.h"
#include "kernevo/model/counter_readings.h"
#include "kernevo/model/work_estimate.h"

#include <vector>

namespace kernevo {

// What hardware counted of the launches, and how long it took them where that was measured.
struct CounterEvidence {
  const HardwareCounters& counters;
  const CounterMap& map;
  const BenchResult* measured = nullptr;
};

// For each case of the result, in its order, an explanation of each launch. The result has no
// fault. The estimate stands in for what the task does not say of its work. Where hardware counted,
// its counters take the place of what is modelled.
Result<std::vector<std::vector<Explanation>>>
explain_bench(const Task& task, const BenchResult& result, const std::vector<Rule>& rules,
              const WorkEstimate* estimate = nullptr, const CounterEvidence* hardware = nullptr);

} // namespace kernevo
