#include "report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bench {

nlohmann::json describe(const std::vector<Time>& times) {
  std::vector<double> wall;
  std::vector<double> processor;
  for (const Time& time : times) {
    wall.push_back(time.milliseconds);
    processor.push_back(time.processor_milliseconds);
  }
  std::sort(wall.begin(), wall.end());
  return {{"repetitions", wall.size()},
          {"best_ms", wall.front()},
          {"median_ms", wall[wall.size() / 2]},
          {"best_processor_ms", *std::min_element(processor.begin(), processor.end())}};
}

nlohmann::json describe(const Problem& problem, const std::vector<Time>& times,
                        const float* output) {
  const double error = worst_error(problem, output);
  nlohmann::json json = describe(times);
  json.update({{"kernel", problem.kernel},
               {"size", problem.size},
               {"worst_error", error},
               {"correct", error <= problem.tolerance}});
  return json;
}

} // namespace bench
