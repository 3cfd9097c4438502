#include "kernevo/search/counter_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernevo::search {

namespace {

constexpr std::size_t kMaxCounters = 6;
constexpr std::size_t kLeastTrials = 6;
constexpr ExtraTrees::Options kForest{.trees = 8, .tried_features = 0.6};
// A counter that orders the trials like one already taken adds nothing.
constexpr double kSame = 0.98;
constexpr double kLeastCorrelation = 0.2;

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]])
      ++end;
    for (std::size_t i = begin; i < end; ++i)
      rank[order[i]] = 0.5 * static_cast<double>(begin + end - 1);
    begin = end;
  }
  return rank;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double centre = 0.5 * static_cast<double>(a.size() - 1);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - centre) * (b[i] - centre);
    aa += (a[i] - centre) * (a[i] - centre);
    bb += (b[i] - centre) * (b[i] - centre);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

struct Counter {
  std::string name;
  std::vector<double> values; // logarithms
  std::vector<double> ranks;
  double correlation = 0; // with the time, without its sign
};

} // namespace

void CounterModel::fit(const std::vector<const Trial*>& trials, std::span<const float> samples,
                       std::size_t features, RandomStream& random) {
  names_.clear();
  forests_.clear();
  std::vector<std::size_t> with; // positions of the trials that have counters
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (!trials[i]->counters.empty())
      with.push_back(i);
  if (with.size() < kLeastTrials)
    return;
  std::vector<float> rows;
  std::vector<double> times;
  for (const std::size_t i : with) {
    const auto row = samples.subspan(i * features, features);
    rows.insert(rows.end(), row.begin(), row.end());
    times.push_back(trials[i]->time->value);
  }
  const std::vector<double> time_ranks = ranks(times);
  std::vector<Counter> counters;
  for (const auto& [name, first] : trials[with.front()]->counters) {
    Counter counter{name, {}, {}, 0};
    for (const std::size_t i : with) {
      const auto found = trials[i]->counters.find(name);
      if (found == trials[i]->counters.end())
        break;
      counter.values.push_back(std::copysign(std::log1p(std::abs(found->second)), found->second));
    }
    if (counter.values.size() != with.size())
      continue;
    counter.ranks = ranks(counter.values);
    counter.correlation = std::abs(correlation(counter.ranks, time_ranks));
    if (counter.correlation >= kLeastCorrelation)
      counters.push_back(std::move(counter));
  }
  std::stable_sort(counters.begin(), counters.end(), [](const Counter& a, const Counter& b) {
    return a.correlation > b.correlation;
  });
  std::vector<const Counter*> taken;
  for (const Counter& counter : counters) {
    const bool same = std::any_of(taken.begin(), taken.end(), [&](const Counter* other) {
      return std::abs(correlation(counter.ranks, other->ranks)) > kSame;
    });
    if (!same && taken.size() < kMaxCounters)
      taken.push_back(&counter);
  }
  for (const Counter* counter : taken) {
    names_.push_back(counter->name);
    forests_.emplace_back(kForest).fit(rows, features, counter->values, kForest.trees, random);
  }
}

void CounterModel::write(std::span<const float> sample, std::span<float> out) const {
  for (std::size_t i = 0; i < forests_.size(); ++i)
    out[i] = static_cast<float>(forests_[i].predict(sample).mean);
}

} // namespace kernevo::search
