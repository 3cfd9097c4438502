#include "kernevo/timing/compare_timings.h"

#include "kernevo/timing/compare_interleaved.h"
#include "simulated_shots.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

Timing modelled(double time, double error) {
  Timing timing;
  timing.method = TimingMethod::modelled;
  timing.terms = {{"dram", {time}}};
  timing.median = {time};
  timing.interval = {{time * (1 - error)}, {time * (1 + error)}, 0.8};
  timing.receipt.device = "virtual:A100";
  timing.receipt.shapes = "N=1024";
  return *make_timing(timing);
}

Episode episode(double speed_up, const std::string& noise, const ComparePlan& plan = {}) {
  SimulatedShots device({100e3}, {100e3 / speed_up}, noise_model(noise).start(3));
  Receipt receipt;
  receipt.device = "simulated";
  receipt.shapes = "N=1024";
  receipt.seed = 11;
  receipt.episode = "e";
  return *compare_interleaved(device, device, plan, receipt);
}

TEST(CompareTimings, ModelledTimesDifferOnlyBeyondTheError) {
  EXPECT_EQ(compare_timings(modelled(1000, 0.1), modelled(950, 0.1)).standing, Standing::ambiguous);
  EXPECT_EQ(compare_timings(modelled(1000, 0.1), modelled(800, 0.1)).standing, Standing::faster);
  EXPECT_EQ(compare_timings(modelled(800, 0.1), modelled(1000, 0.1)).standing, Standing::slower);
  // The wider of the two errors counts, whichever side it is on.
  EXPECT_EQ(compare_timings(modelled(1000, 0.3), modelled(800, 0.01)).standing,
            Standing::ambiguous);
  EXPECT_EQ(compare_timings(modelled(1000, 0.01), modelled(800, 0.3)).standing,
            Standing::ambiguous);
  // Less than the margin is the same, however sure the model is.
  EXPECT_EQ(compare_timings(modelled(1000, 0.1), modelled(998, 0.1)).standing, Standing::same);
  EXPECT_EQ(compare_timings(modelled(1000, 0.001), modelled(998, 0.001)).standing, Standing::same);
  const Comparison comparison = compare_timings(modelled(1000, 0.1), modelled(950, 0.1));
  EXPECT_EQ(comparison.reason, "predicted +5.26 % speed, within the model's error of 11.1 %");
  EXPECT_EQ(comparison.method, TimingMethod::modelled);
  EXPECT_TRUE(make_comparison(comparison));
}

TEST(CompareTimings, MeasuredAndModelledAreNeverMixed) {
  const Comparison comparison =
      compare_timings(episode(1, "gaussian_1").incumbent, modelled(1, 0.1));
  EXPECT_EQ(comparison.standing, Standing::not_comparable);
  EXPECT_EQ(comparison.reason, "the incumbent's time is measured, the candidate's modelled; the "
                               "two are never mixed");
  EXPECT_TRUE(make_comparison(comparison));
}

TEST(CompareTimings, ReceiptsMustAgree) {
  const auto changed = [](auto change) {
    Timing other = modelled(100, 0.1);
    change(other.receipt);
    return compare_timings(modelled(1000, 0.1), other);
  };
  for (const Comparison& comparison :
       {changed([](Receipt& r) { r.device = "virtual:H100"; }),
        changed([](Receipt& r) { r.driver = "1"; }), changed([](Receipt& r) { r.shapes = "N=1"; }),
        changed([](Receipt& r) { r.cache = CacheState::hot; })}) {
    EXPECT_EQ(comparison.standing, Standing::not_comparable);
    EXPECT_TRUE(comparison.reason.starts_with("taken on different ")) << comparison.reason;
  }
  EXPECT_EQ(changed([](Receipt& r) { r.seed = 9; }).standing, Standing::faster);
}

TEST(CompareTimings, MeasuredOneAfterTheOtherIsNotComparable) {
  const Episode taken = episode(2, "gaussian_1");
  Timing other = taken.candidate;
  other.receipt.episode = "another";
  EXPECT_EQ(compare_timings(taken.incumbent, other).standing, Standing::not_comparable);
  Timing alone = taken.incumbent;
  alone.receipt.episode.clear();
  other.receipt.episode.clear();
  EXPECT_EQ(compare_timings(alone, other).standing, Standing::not_comparable);
  Timing cut = taken.candidate;
  cut.samples.pop_back();
  EXPECT_EQ(compare_timings(taken.incumbent, cut).standing, Standing::not_comparable);
}

// A verdict on file can be checked from the samples on file.
TEST(CompareTimings, RepeatsTheVerdictOfAnEpisode) {
  for (const double speed_up : {1.0, 1.02, 0.95})
    for (const std::string noise : {"gaussian_1", "gaussian_5", "steps"}) {
      const Episode taken = episode(speed_up, noise);
      const Comparison again = compare_timings(taken.incumbent, taken.candidate);
      EXPECT_EQ(again.standing, taken.comparison.standing);
      EXPECT_EQ(again.blocks, taken.comparison.blocks);
      EXPECT_EQ(again.ratio->low, taken.comparison.ratio->low);
      EXPECT_EQ(again.ratio->high, taken.comparison.ratio->high);
    }
}

} // namespace
} // namespace kernevo
