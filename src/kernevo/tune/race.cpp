#include "kernevo/tune/race.h"

#include "kernevo/evaluate/objective_time.h"

#include <algorithm>
#include <cmath>

namespace kernevo::tune {

using search::Trial;

Race::Race(const Task& task) : objective_(task.objective) {
  for (const ShapeCase& shape : task.shapes)
    weights_.push_back(shape.weight);
}

bool Race::comparable(const Trial* incumbent) const {
  return incumbent != nullptr && incumbent->time && !incumbent->partial &&
         incumbent->shapes.size() == weights_.size();
}

bool Race::clearly_slower(const std::vector<ShapeTime>& shapes, const Trial* incumbent) const {
  if (!comparable(incumbent) || shapes.empty() || shapes.size() >= weights_.size())
    return false;
  double ratio = 0;
  double sum = 0;
  double longest = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ratio += weights_[i] * std::log(shapes[i].low.value / incumbent->shapes[i].high.value);
    sum += weights_[i] * shapes[i].low.value;
    longest = std::max(longest, shapes[i].low.value);
  }
  double incumbent_sum = 0;
  double incumbent_longest = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    incumbent_sum += weights_[i] * incumbent->shapes[i].high.value;
    incumbent_longest = std::max(incumbent_longest, incumbent->shapes[i].high.value);
  }
  switch (objective_) {
  case Objective::geometric_mean_speedup: return ratio > 0;
  case Objective::weighted_mean_time: return sum > incumbent_sum;
  case Objective::worst_case_time: return longest > incumbent_longest;
  }
  return false;
}

Nanoseconds Race::time_of(const std::vector<ShapeTime>& shapes, const Trial* incumbent) const {
  std::vector<WeightedTime> times;
  double log_ratio = 0;
  double weights = 0;
  const bool complete = shapes.size() >= weights_.size() || !comparable(incumbent);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    times.push_back({shapes[i].time, weights_[i]});
    if (complete)
      continue;
    log_ratio += weights_[i] * std::log(shapes[i].time.value / incumbent->shapes[i].time.value);
    weights += weights_[i];
  }
  if (complete)
    return objective_time(objective_, times);
  const double ratio = weights > 0 ? std::exp(log_ratio / weights) : 1;
  for (std::size_t i = shapes.size(); i < weights_.size(); ++i)
    times.push_back({incumbent->shapes[i].time * ratio, weights_[i]});
  return std::max(objective_time(objective_, times), *incumbent->time);
}

} // namespace kernevo::tune
