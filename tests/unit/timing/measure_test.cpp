#include "kernevo/timing/measure.h"

#include "simulated_shots.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

Receipt receipt() {
  Receipt made;
  made.device = "simulated";
  return made;
}

Result<Timing> measured(const std::string& noise, const MeasurePlan& plan = {},
                        std::uint64_t seed = 1) {
  SimulatedShots device({100e3}, {200e3}, noise_model(noise).start(seed));
  return measure(device, device, Side::candidate, plan, receipt());
}

TEST(Measure, FindsTheTimeOfTheSideAskedFor) {
  const auto timing = measured("gaussian_1");
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->method, TimingMethod::measured);
  EXPECT_NEAR(timing->median.value, 200e3, 2e3);
  EXPECT_EQ(timing->quality.grade, TimingGrade::good);
  EXPECT_NEAR(timing->quality.relative_noise, 0.01, 0.006);
  EXPECT_GT(timing->quality.warm_up_shots, 0U);
}

TEST(Measure, IsNotMovedBySpikesAndKeepsThem) {
  const auto timing = measured("lognormal_tail", {.min_samples = 200});
  ASSERT_TRUE(timing);
  EXPECT_NEAR(timing->median.value, 200e3, 2e3);
  EXPECT_GT(timing->quality.far_out, 5U);
  EXPECT_GE(timing->samples.size(), 200U);
}

TEST(Measure, EndsWhereNoiseNeverConverges) {
  const auto by_samples =
      measured("gaussian_5", {.parameters = {{"width", 1e-6}}, .max_samples = 500});
  ASSERT_TRUE(by_samples);
  EXPECT_EQ(by_samples->samples.size(), 500U);
  EXPECT_EQ(by_samples->quality.grade, TimingGrade::noisy);
  EXPECT_NE(by_samples->quality.reason.find("limit of 500 samples"), std::string::npos);
  const auto by_time =
      measured("gaussian_5", {.parameters = {{"width", 1e-6}}, .time_limit = {10e6}});
  ASSERT_TRUE(by_time);
  EXPECT_LE(by_time->samples.size(), 60U);
  EXPECT_NE(by_time->quality.reason.find("limit of 0.01 s"), std::string::npos);
}

TEST(Measure, SaysWhenTheDeviceDrifts) {
  const auto timing =
      measured("linear_drift", {.rule = "sample_count", .parameters = {{"samples", 300}}});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->quality.grade, TimingGrade::drifting);
  const auto steady =
      measured("gaussian_1", {.rule = "sample_count", .parameters = {{"samples", 300}}});
  EXPECT_EQ(steady->quality.grade, TimingGrade::good);
}

TEST(Measure, LeavesOutWhatTheDeviceCallsDisturbed) {
  const auto timing =
      measured("throttled", {.rule = "sample_count", .parameters = {{"samples", 2000}}});
  ASSERT_TRUE(timing);
  EXPECT_GT(timing->quality.discarded, 0U);
  EXPECT_EQ(timing->samples.size(), 2000U);
  for (const Nanoseconds sample : timing->samples)
    EXPECT_LT(sample.value, 220e3);
}

// A device on which every shot is disturbed, or one that answers nonsense.
class BadDevice final : public ShotSource, public Clock {
public:
  explicit BadDevice(Shot shot) : shot_(shot) {}
  Result<Shot> shoot(Side) override { return shot_; }
  Nanoseconds now() override { return {now_ += 1e3}; }

private:
  Shot shot_;
  double now_ = 0;
};

TEST(Measure, TroubleOfTheDeviceIsAnError) {
  BadDevice disturbed({{1e3}, true});
  const auto none = measure(disturbed, disturbed, Side::incumbent, {}, receipt());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::infrastructure);
  EXPECT_NE(none.error().message.find("1001 disturbed shots"), std::string::npos);
  for (const double time : {0.0, -5.0, std::nan(""), HUGE_VAL}) {
    BadDevice nonsense({{time}, false});
    const auto wrong = measure(nonsense, nonsense, Side::incumbent, {}, receipt());
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::infrastructure);
  }
}

TEST(Measure, RefusesBadPlans) {
  EXPECT_FALSE(measured("gaussian_1", {.rule = "guess"}));
  EXPECT_FALSE(measured("gaussian_1", {.min_samples = 5, .max_samples = 4}));
  EXPECT_FALSE(measured("gaussian_1", {.confidence = 2}));
}

} // namespace
} // namespace kernevo
