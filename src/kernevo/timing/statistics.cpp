#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <vector>

namespace kernevo {
namespace {

double upper_tail(double z) {
  return 0.5 * std::erfc(z / std::numbers::sqrt2);
}

double median_of_scratch(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return 0.5 * (*std::max_element(values.begin(), middle) + *middle);
}

// P(B < rank) for B ~ Binomial(n, 1/2): the chance that fewer than `rank` samples lie below the
// true median.
double binomial_tail(std::size_t n, std::size_t rank) {
  const auto count = static_cast<double>(n);
  double term = std::exp2(-count);
  double sum = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    sum += term;
    term *= (count - static_cast<double>(i)) / (static_cast<double>(i) + 1);
  }
  return sum;
}

// Above this many samples the normal tail and the binomial one give the same rank, give or take
// one.
constexpr std::size_t kExactBinomial = 200;

} // namespace

double normal_quantile(double tail) {
  assert(tail > 0 && tail <= 0.5);
  double low = 0;
  double high = 40; // P(Z > 40) underflows
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (upper_tail(middle) > tail ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double median_of(std::span<const double> values) {
  assert(!values.empty());
  std::vector<double> scratch(values.begin(), values.end());
  return median_of_scratch(scratch);
}

double scaled_mad(std::span<const double> values, double centre) {
  assert(!values.empty());
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values)
    distances.push_back(std::abs(value - centre));
  return 1.4826 * median_of_scratch(distances);
}

MedianInterval median_interval(std::span<const double> values, double confidence,
                               double dependence) {
  assert(!values.empty() && confidence > 0 && confidence < 1 && dependence >= 1);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  const double tail = 0.5 * (1 - confidence);
  MedianInterval interval;
  interval.median = n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);

  std::size_t rank = 0; // of the lower end, counted from 1; 0: there is none
  if (dependence == 1 && n <= kExactBinomial) {
    while (rank < n / 2 && binomial_tail(n, rank + 1) <= tail)
      ++rank;
  } else {
    const auto count = static_cast<double>(n);
    const double spread = 0.5 * normal_quantile(tail) * std::sqrt(count * dependence);
    rank = static_cast<std::size_t>(std::max(0.0, std::floor(0.5 * count - spread)));
  }
  interval.confidence = confidence;
  if (rank == 0) {
    rank = 1;
    const double effective = std::max(1.0, static_cast<double>(n) / dependence);
    interval.confidence = std::min(confidence, 1 - std::exp2(1 - effective));
  }
  interval.low = sorted[rank - 1];
  interval.high = sorted[n - rank];
  return interval;
}

double autocorrelation_time(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < 8)
    return 1;
  const double centre = median_of(values);
  std::vector<double> sides(n);
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sides[i] = values[i] > centre ? 1 : values[i] < centre ? -1 : 0;
    mean += sides[i] / static_cast<double>(n);
  }
  double variance = 0;
  for (double& side : sides) {
    side -= mean;
    variance += side * side;
  }
  if (variance == 0)
    return 1;
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < n; ++i)
      sum += sides[i] * sides[i - lag];
    return sum / variance;
  };
  double time = -1;
  for (std::size_t lag = 0; lag + 1 < n / 2; lag += 2) {
    const double pair = correlation(lag) + correlation(lag + 1);
    if (pair <= 0)
      break;
    time += 2 * pair;
  }
  return std::clamp(time, 1.0, static_cast<double>(n));
}

} // namespace kernevo
