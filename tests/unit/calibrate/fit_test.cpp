// A line through three times: its slope, how well it is known, and when there is none.
#include "kernevo/calibrate/time_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::calibrate {
namespace {

using testing::HasSubstr;

std::array<Point, kSizes> points(double a, double b, double c, double half_width = 0) {
  return {{{1, a, half_width}, {2, b, half_width}, {3, c, half_width}}};
}

TEST(Fit, TakesTheLaunchOut) {
  std::string why;
  const auto fit = fit_line(points(2600, 2700, 2800), why);
  ASSERT_TRUE(fit) << why;
  EXPECT_DOUBLE_EQ(fit->ns_per_size, 100);
  EXPECT_NEAR(fit->spread, 0, 1e-12);
}

TEST(Fit, SpreadIsNoiseOrBend) {
  std::string why;
  const auto noisy = fit_line(points(1000, 2000, 3000, 20), why);
  ASSERT_TRUE(noisy);
  EXPECT_DOUBLE_EQ(noisy->spread, 0.02);
  const auto bent = fit_line(points(1000, 2060, 3000), why);
  ASSERT_TRUE(bent);
  EXPECT_NEAR(bent->spread, 0.02, 1e-3);
}

TEST(Fit, WhatIsNoLineIsNoFigure) {
  std::string why;
  EXPECT_FALSE(fit_line(points(1000, 1000, 1000), why));
  EXPECT_THAT(why, HasSubstr("no longer"));
  EXPECT_FALSE(fit_line(points(3000, 2000, 1000), why));
  EXPECT_FALSE(fit_line(points(1000, 2900, 3000), why));
  EXPECT_THAT(why, HasSubstr("off a line"));
  EXPECT_FALSE(fit_line(points(1000, 1100, 1200, 50), why));
  EXPECT_THAT(why, HasSubstr("noise"));
}

} // namespace
} // namespace kernevo::calibrate
