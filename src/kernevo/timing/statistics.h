// Order statistics of samples that may be heavy-tailed and may depend on each other.
#pragma once

#include <optional>
#include <span>

namespace kernevo {

// The z with P(Z > z) = tail for a standard normal Z; tail in (0, 0.5].
double normal_quantile(double tail);

// The middle value, or the mean of the middle two. Needs at least one.
double median_of(std::span<const double> values);

// Median of the distances to the centre, scaled to a standard deviation of normal noise.
double scaled_mad(std::span<const double> values, double centre);

struct MedianInterval {
  double low = 0;
  double median = 0;
  double high = 0;
  double confidence = 0; // less than asked when there are too few samples for it
};

// The median between two order statistics, which holds for any distribution. `dependence` is the
// number of samples worth one independent sample (see autocorrelation_time).
MedianInterval median_interval(std::span<const double> values, double confidence,
                               double dependence = 1);

// How many consecutive samples carry the information of one independent sample about the median:
// 1 + 2 x the sum of autocorrelations of "above the median", summed in pairs until one is not
// positive. At least 1.
double autocorrelation_time(std::span<const double> values);

} // namespace kernevo
