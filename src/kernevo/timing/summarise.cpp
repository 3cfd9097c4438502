#include "kernevo/timing/summarise.h"

#include "kernevo/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

// Samples further out than this many robust standard deviations are counted.
constexpr double kFarOut = 5;
// A smaller move between the first and the last third is not called a drift.
constexpr double kDrift = 0.01;

bool drifts(std::span<const double> values) {
  const std::size_t third = values.size() / 3;
  if (third < 6) // no 95 % interval of a median below that
    return false;
  const auto first = values.first(third);
  const auto last = values.last(third);
  const MedianInterval early = median_interval(first, 0.95, autocorrelation_time(first));
  const MedianInterval late = median_interval(last, 0.95, autocorrelation_time(last));
  const bool apart = early.high < late.low || late.high < early.low;
  return apart && std::abs(late.median - early.median) > kDrift * early.median;
}

} // namespace

Result<Timing> summarise(std::vector<Nanoseconds> samples, const SamplingFacts& facts,
                         double confidence, Receipt receipt) {
  Timing timing;
  timing.method = receipt.stand_in.empty() ? TimingMethod::measured : TimingMethod::stand_in;
  timing.receipt = std::move(receipt);
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Nanoseconds sample : samples)
    values.push_back(sample.value);
  timing.samples = std::move(samples);
  if (values.empty())
    return make_timing(std::move(timing)); // says what is wrong with that

  TimingQuality& quality = timing.quality;
  quality.autocorrelation_time = autocorrelation_time(values);
  const MedianInterval seen = median_interval(values, confidence, quality.autocorrelation_time);
  timing.median = {seen.median};
  timing.interval = {{seen.low}, {seen.high}, seen.confidence};
  const double deviation = scaled_mad(values, seen.median);
  quality.relative_noise = deviation / seen.median;
  quality.far_out = static_cast<std::uint64_t>(std::ranges::count_if(values, [&](double value) {
    return deviation > 0 && std::abs(value - seen.median) > kFarOut * deviation;
  }));
  quality.warm_up_shots = facts.warm_up.shots;
  quality.discarded = facts.discarded;
  const std::string half = fmt::format("median known to {:.2g} %, stopped by {}",
                                       50 * (seen.high - seen.low) / seen.median, facts.stopped_by);
  if (drifts(values)) {
    quality.grade = TimingGrade::drifting;
    quality.reason = "the last third of the samples differs from the first; " + half;
  } else {
    quality.grade = facts.precise ? TimingGrade::good : TimingGrade::noisy;
    quality.reason = half;
  }
  return make_timing(std::move(timing));
}

} // namespace kernevo
