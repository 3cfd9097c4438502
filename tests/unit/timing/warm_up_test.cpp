#include "kernevo/timing/warm_up.h"

#include "simulated_shots.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace kernevo {
namespace {

constexpr std::array kBoth{Side::incumbent, Side::candidate};
constexpr std::array kOne{Side::candidate};

WarmUp warm(const std::string& noise, const WarmUpPlan& plan, std::uint64_t seed = 1) {
  SimulatedShots device({100e3}, {300e3}, noise_model(noise).start(seed));
  const auto result = warm_up(device, device, kBoth, plan);
  EXPECT_TRUE(result);
  EXPECT_EQ(result->shots, device.shots());
  return *result;
}

TEST(WarmUp, WindowsAgreeWithinToleranceOrNoise) {
  const std::vector<double> flat(16, 5.0);
  EXPECT_TRUE(windows_agree(flat, 8, 0.005));
  EXPECT_FALSE(windows_agree(std::vector<double>(15, 5.0), 8, 0.005));
  std::vector<double> step(8, 5.0);
  step.resize(16, 5.1);
  EXPECT_FALSE(windows_agree(step, 8, 0.005));
  EXPECT_TRUE(windows_agree(step, 8, 0.03));
}

TEST(WarmUp, SettlesSoonOnASteadyDevice) {
  const WarmUp result = warm("gaussian_1", {});
  EXPECT_TRUE(result.stationary);
  EXPECT_LE(result.shots, 60U);
}

TEST(WarmUp, OutlastsTransients) {
  // Two windows of both sides are 32 shots. slow_start is over by then, fast_start is not.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_GE(warm("slow_start", {}, seed).shots, 32U) << seed;
    EXPECT_GE(warm("fast_start", {}, seed).shots, 40U) << seed;
  }
}

TEST(WarmUp, IsBoundedWhereNothingSettles) {
  const WarmUpPlan plan{.tolerance = 1e-9, .max_shots = 30};
  const WarmUp by_shots = warm("linear_drift", plan);
  EXPECT_LE(by_shots.shots, 60U);
  const WarmUp by_time = warm("linear_drift", {.tolerance = 1e-9, .max_time = {2e6}});
  EXPECT_LE(by_time.shots, 12U);
  EXPECT_FALSE(by_time.stationary);
}

TEST(WarmUp, ByTimeAlone) {
  SimulatedShots device({100e3}, {100e3}, noise_model("gaussian_1").start(1));
  const auto result = warm_up(device, device, kOne, {.min_time = {3e6}, .until_stationary = false});
  ASSERT_TRUE(result);
  EXPECT_GE(device.now().value, 3e6);
  EXPECT_LE(device.now().value, 3.3e6);
}

TEST(WarmUp, RefusesBadPlans) {
  EXPECT_TRUE(make_warm_up_plan({}));
  EXPECT_FALSE(make_warm_up_plan({.min_shots = 5, .max_shots = 4}));
  EXPECT_FALSE(make_warm_up_plan({.window = 2}));
  EXPECT_FALSE(make_warm_up_plan({.tolerance = 0}));
}

} // namespace
} // namespace kernevo
