#include "kernevo/timing/compare_interleaved.h"

#include "simulated_shots.h"

#include <gtest/gtest.h>
#include <vector>

namespace kernevo {
namespace {

Receipt receipt(std::uint64_t seed) {
  Receipt made;
  made.device = "simulated";
  made.seed = seed;
  made.episode = "e";
  return made;
}

// Writes down who was asked to run.
class Recorder final : public ShotSource {
public:
  explicit Recorder(ShotSource& inner) : inner_(inner) {}
  Result<Shot> shoot(Side side) override {
    order.push_back(side == Side::incumbent ? 'A' : 'B');
    return inner_.shoot(side);
  }
  std::string order;

private:
  ShotSource& inner_;
};

TEST(CompareInterleaved, TakesBlocksInAnOrderTheSeedDecides) {
  std::vector<std::string> orders;
  for (const std::uint64_t seed : {1U, 1U, 2U}) {
    SimulatedShots device({100e3}, {100e3}, noise_model("gaussian_1").start(9));
    Recorder recorder(device);
    ComparePlan plan;
    plan.warm_up = {.until_stationary = false};
    ASSERT_TRUE(compare_interleaved(recorder, device, plan, receipt(seed)));
    orders.push_back(recorder.order);
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0].substr(0, 48), orders[2].substr(0, 48));
  EXPECT_EQ(orders[0].substr(0, 4), "ABAB"); // warm-up: two of each in turns
  int incumbent_first = 0;
  const std::string blocks = orders[0].substr(4);
  ASSERT_EQ(blocks.size() % 4, 0U);
  for (std::size_t i = 0; i < blocks.size(); i += 4) {
    const std::string block = blocks.substr(i, 4);
    EXPECT_TRUE(block == "ABBA" || block == "BAAB") << block;
    incumbent_first += block == "ABBA" ? 1 : 0;
  }
  const auto count = static_cast<int>(blocks.size() / 4);
  EXPECT_GT(incumbent_first, count / 4);
  EXPECT_LT(incumbent_first, count * 3 / 4);
}

TEST(CompareInterleaved, GivesBothTimingsAndTheVerdict) {
  SimulatedShots device({102e3}, {100e3}, noise_model("gaussian_1").start(1));
  const auto episode = compare_interleaved(device, device, {}, receipt(5));
  ASSERT_TRUE(episode);
  EXPECT_EQ(episode->comparison.standing, Standing::faster);
  EXPECT_TRUE(replaces_incumbent(episode->comparison));
  EXPECT_NEAR(episode->incumbent.median.value, 102e3, 1e3);
  EXPECT_NEAR(episode->candidate.median.value, 100e3, 1e3);
  EXPECT_EQ(episode->incumbent.samples.size(), 2 * episode->comparison.blocks);
  EXPECT_EQ(episode->candidate.receipt.episode, "e");
  EXPECT_EQ(episode->candidate.quality.grade, TimingGrade::good);
}

TEST(CompareInterleaved, TiesDoNotReplaceTheIncumbent) {
  SimulatedShots device({100e3}, {100e3}, [] { return Disturbance{}; });
  const auto episode = compare_interleaved(device, device, {}, receipt(5));
  ASSERT_TRUE(episode);
  EXPECT_EQ(episode->comparison.standing, Standing::same);
  EXPECT_FALSE(replaces_incumbent(episode->comparison));
}

TEST(CompareInterleaved, ATimeLimitEndsIt) {
  SimulatedShots device({1e9}, {1e9}, noise_model("gaussian_5").start(1));
  ComparePlan plan;
  plan.time_limit = {30e9};
  plan.warm_up.max_time = {3e9};
  const auto episode = compare_interleaved(device, device, plan, receipt(5));
  ASSERT_TRUE(episode);
  EXPECT_EQ(episode->comparison.standing, Standing::ambiguous);
  EXPECT_LE(device.now().value, 40e9);
  EXPECT_NE(episode->comparison.reason.find("before the limit of 30 s"), std::string::npos)
      << episode->comparison.reason;
  EXPECT_EQ(episode->candidate.quality.grade, TimingGrade::noisy);
}

TEST(CompareInterleaved, DisturbedBlocksAreTakenAgainAndBounded) {
  SimulatedShots device({102e3}, {100e3}, noise_model("throttled").start(5));
  ComparePlan plan;
  plan.paired.min_blocks = 256;
  plan.paired.max_blocks = 256;
  const auto episode = compare_interleaved(device, device, plan, receipt(5));
  ASSERT_TRUE(episode);
  EXPECT_EQ(episode->comparison.standing, Standing::faster);
  EXPECT_EQ(episode->comparison.blocks, 256U);
  EXPECT_GT(episode->candidate.quality.discarded, 0U);
  for (const Nanoseconds sample : episode->incumbent.samples)
    EXPECT_LT(sample.value, 120e3);

  SimulatedShots hopeless({1e3}, {1e3}, [] { return Disturbance{0, true}; });
  const auto none = compare_interleaved(hopeless, hopeless, {}, receipt(5));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::infrastructure);
  EXPECT_NE(none.error().message.find("65 disturbed blocks"), std::string::npos);
}

// A device that fails on its tenth shot.
class Failing final : public ShotSource {
public:
  Result<Shot> shoot(Side) override {
    if (++shots_ == 10)
      return fail(ErrorCode::infrastructure, "the device fell off the bus");
    return Shot{{1e3}, false};
  }

private:
  int shots_ = 0;
};

TEST(CompareInterleaved, TroubleOfTheDeviceIsAnErrorNotAVerdict) {
  Failing device;
  SteadyClock clock;
  const auto episode = compare_interleaved(device, clock, {}, receipt(1));
  ASSERT_FALSE(episode);
  EXPECT_EQ(episode.error().message, "the device fell off the bus");
}

TEST(CompareInterleaved, RefusesBadPlans) {
  SimulatedShots device({1e3}, {1e3}, noise_model("gaussian_1").start(1));
  ComparePlan plan;
  plan.paired.confidence = 2;
  EXPECT_FALSE(compare_interleaved(device, device, plan, receipt(1)));
  Receipt nameless = receipt(1);
  nameless.episode.clear();
  EXPECT_FALSE(compare_interleaved(device, device, {}, nameless));
  EXPECT_EQ(device.shots(), 0U);
}

} // namespace
} // namespace kernevo
