#include "kernevo/evaluate/objective_time.h"

#include <algorithm>
#include <cmath>

namespace kernevo {

Nanoseconds objective_time(Objective objective, const std::vector<WeightedTime>& times) {
  double weights = 0;
  double sum = 0;
  double log_sum = 0;
  double worst = 0;
  for (const WeightedTime& each : times) {
    weights += each.weight;
    sum += each.weight * each.time.value;
    log_sum += each.weight * std::log(each.time.value);
    worst = std::max(worst, each.time.value);
  }
  switch (objective) {
  // The geometric mean of speed-ups over any fixed baseline is best where the geometric mean of
  // the times is least.
  case Objective::geometric_mean_speedup: return Nanoseconds{std::exp(log_sum / weights)};
  case Objective::weighted_mean_time: return Nanoseconds{sum / weights};
  case Objective::worst_case_time: return Nanoseconds{worst};
  }
  return Nanoseconds{worst};
}

} // namespace kernevo
