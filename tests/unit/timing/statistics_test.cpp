#include "kernevo/timing/statistics.h"

#include "kernevo/base/random.h"
#include "simulated_shots.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace kernevo {
namespace {

std::vector<double> series(const std::string& noise, std::uint64_t seed, int count) {
  std::vector<double> values;
  const Noise next = noise_model(noise).start(seed);
  for (int i = 0; i < count; ++i)
    values.push_back(std::exp(next().log_factor));
  return values;
}

TEST(Statistics, NormalQuantilesOfTheTables) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-9);
  EXPECT_NEAR(normal_quantile(0.025), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.0005), 3.290527, 1e-6);
  EXPECT_NEAR(normal_quantile(1e-9), 5.997807, 1e-6);
}

TEST(Statistics, MedianAndMad) {
  EXPECT_EQ(median_of(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median_of(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_of(std::vector<double>{7}), 7);
  EXPECT_DOUBLE_EQ(scaled_mad(std::vector<double>{1, 2, 3, 4, 1000}, 3), 1.4826);
}

TEST(Statistics, MedianIntervalUsesTheOrderStatisticsOfTheTables) {
  std::vector<double> values;
  for (int i = 1; i <= 10; ++i)
    values.push_back(i);
  // Binomial(10, 1/2): P(B <= 1) = 0.0107, P(B <= 2) = 0.0547, so 95 % is [x(2), x(9)].
  const MedianInterval ten = median_interval(values, 0.95);
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  EXPECT_EQ(ten.median, 5.5);
  EXPECT_EQ(ten.confidence, 0.95);
  // Three samples cannot give 95 %: all of them give 1 - 2/8.
  const MedianInterval three = median_interval(std::vector<double>{1, 2, 3}, 0.95);
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_DOUBLE_EQ(three.confidence, 0.75);
}

TEST(Statistics, MedianIntervalIsMirroredByTheSamples) {
  const std::vector<double> values = series("skewed", 3, 301);
  std::vector<double> mirrored;
  for (const double value : values)
    mirrored.push_back(-value);
  const MedianInterval one = median_interval(values, 0.95, 1.5);
  const MedianInterval other = median_interval(mirrored, 0.95, 1.5);
  EXPECT_EQ(one.low, -other.high);
  EXPECT_EQ(one.high, -other.low);
}

TEST(Statistics, AutocorrelationTimeOfKnownProcesses) {
  // The sign of an AR(1) process at lag k correlates by 2/pi asin(memory^k).
  const auto truth = [](double memory) {
    double time = 1;
    for (int k = 1; k < 200; ++k)
      time += 2 * 2 / M_PI * std::asin(std::pow(memory, k));
    return time;
  };
  EXPECT_NEAR(autocorrelation_time(series("ar1_0.9", 5, 20000)), truth(0.9), 0.2 * truth(0.9));
  EXPECT_NEAR(autocorrelation_time(series("ar1_0.5", 5, 20000)), truth(0.5), 0.1 * truth(0.5));
  EXPECT_NEAR(autocorrelation_time(series("gaussian_1", 5, 20000)), 1, 0.1);
  EXPECT_EQ(autocorrelation_time(std::vector<double>(50, 1.0)), 1);
}

// Where samples depend on each other an interval that ignores it is far too narrow.
TEST(Statistics, MedianIntervalCoversDependentSamples) {
  for (const auto& [noise, truth] : std::vector<std::pair<std::string, double>>{
           {"gaussian_5", 1}, {"ar1_0.5", 1}, {"ar1_0.9", 1}, {"skewed", std::exp(0.03 * M_LN2)}}) {
    int covered = 0;
    int covered_plain = 0;
    constexpr int kTrials = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto values = series(noise, 1000 + static_cast<std::uint64_t>(trial), 400);
      const auto with = median_interval(values, 0.95, autocorrelation_time(values));
      const auto without = median_interval(values, 0.95);
      covered += with.low <= truth && truth <= with.high ? 1 : 0;
      covered_plain += without.low <= truth && truth <= without.high ? 1 : 0;
    }
    EXPECT_GE(covered, 0.90 * kTrials) << noise;
    if (noise == "ar1_0.9") {
      EXPECT_LT(covered_plain, 0.75 * kTrials) << "the correction would not be needed";
    }
  }
}

} // namespace
} // namespace kernevo
