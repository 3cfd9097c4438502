// Times one kernel alone. To know which of two is faster use compare_interleaved: two timings taken
// one after the other differ by whatever the device did meanwhile.
#pragma once

#include "kernevo/model/timing.h"
#include "kernevo/timing/shots.h"
#include "kernevo/timing/stopping_rule.h"
#include "kernevo/timing/warm_up.h"

#include <cstdint>
#include <string>

namespace kernevo {

struct MeasurePlan {
  WarmUpPlan warm_up = {};
  std::string rule = "median_interval";
  RuleParameters parameters = {};
  std::uint64_t min_samples = 10;
  std::uint64_t max_samples = 10000; // the way out where noise never converges
  Nanoseconds time_limit = {15e9}; // of the sampling, without the warm-up; goes before min_samples
  std::uint64_t max_discarded = 1000; // disturbed shots; more of them end the sampling
  double confidence = 0.95;           // of the interval in the record
};

Result<Timing> measure(ShotSource& source, Clock& clock, Side side, const MeasurePlan& plan,
                       Receipt receipt);

} // namespace kernevo
