#include "kernevo/search/prior_mean.h"

#include "kernevo/search/extra_trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernevo::search {

namespace {

constexpr std::size_t kMaxTraining = 2000; // predictions used to guess the missing ones
constexpr std::size_t kFastest = 2000;
// Slope 1 counts as this many observations with the spread of the predictions.
constexpr double kSlopeWeight = 5;

void fill_missing(std::vector<float>& values, const Features& features) {
  std::vector<Configuration> known;
  for (Configuration c = 0; c < values.size(); ++c)
    if (!std::isnan(values[c]))
      known.push_back(c);
  if (known.size() == values.size())
    return;
  const std::size_t count = std::min(known.size(), kMaxTraining);
  std::vector<float> samples(count * features.count());
  std::vector<double> targets;
  for (std::size_t i = 0; i < count; ++i) {
    const Configuration c = known[i * known.size() / count];
    features.write(c, std::span(samples).subspan(i * features.count(), features.count()));
    targets.push_back(values[c]);
  }
  ExtraTrees forest({.trees = 16, .tried_features = 0.5});
  RandomStream random(0);
  forest.fit(samples, features.count(), targets, 16, random);
  std::vector<float> sample(features.count());
  for (Configuration c = 0; c < values.size(); ++c) {
    if (!std::isnan(values[c]))
      continue;
    features.write(c, sample);
    values[c] = static_cast<float>(forest.predict(sample).mean);
  }
}

} // namespace

PriorMean::PriorMean(const SearchSpace&, const Features& features, const Prior& prior) {
  bool any = false;
  for (const double predicted : prior.predicted) {
    const bool known = std::isfinite(predicted) && predicted > 0;
    any = any || known;
    logarithm_.push_back(known ? static_cast<float>(std::log(predicted)) : std::nanf(""));
  }
  if (!any) {
    logarithm_.clear();
    return;
  }
  fill_missing(logarithm_, features);
  fastest_.resize(logarithm_.size());
  std::iota(fastest_.begin(), fastest_.end(), Configuration{0});
  const std::size_t kept = std::min(kFastest, fastest_.size());
  std::partial_sort(fastest_.begin(), fastest_.begin() + static_cast<std::ptrdiff_t>(kept),
                    fastest_.end(), [&](Configuration a, Configuration b) {
                      return logarithm_[a] != logarithm_[b] ? logarithm_[a] < logarithm_[b] : a < b;
                    });
  fastest_.resize(kept);
}

void PriorMean::fit(std::span<const Configuration> points, std::span<const double> log_times) {
  if (!present() || points.empty())
    return;
  const auto count = static_cast<double>(points.size());
  double x_mean = 0;
  double y_mean = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    x_mean += logarithm_[points[i]] / count;
    y_mean += log_times[i] / count;
  }
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = logarithm_[points[i]] - x_mean;
    xx += x * x;
    xy += x * (log_times[i] - y_mean);
  }
  const double weight = kSlopeWeight * std::max(xx / count, 1e-6);
  slope_ = std::clamp((xy + weight) / (xx + weight), 0.0, 2.0);
  offset_ = y_mean - slope_ * x_mean;
}

} // namespace kernevo::search
