#include "kernevo/tune/race.h"

#include <gtest/gtest.h>

namespace kernevo::tune {
namespace {

using search::Trial;

constexpr double kError = 0.3;

ShapeTime shape(double time) {
  return {"s", Nanoseconds{time}, Nanoseconds{time / (1 + kError)},
          Nanoseconds{time * (1 + kError)}};
}

std::vector<ShapeTime> shapes(const std::vector<double>& times) {
  std::vector<ShapeTime> result;
  for (const double time : times)
    result.push_back(shape(time));
  return result;
}

Trial trial(const Race& race, const std::vector<double>& times) {
  Trial result;
  result.shapes = shapes(times);
  result.time = race.time_of(result.shapes, nullptr);
  return result;
}

// 1.3 * 1.3 = 1.69: the intervals of two times part there.
TEST(Race, GivesUpWhereTheIntervalsPart) {
  const Race race(Objective::geometric_mean_speedup, {1, 1, 1});
  const Trial best = trial(race, {100, 100, 100});
  EXPECT_FALSE(race.clearly_slower(shapes({168}), &best));
  EXPECT_TRUE(race.clearly_slower(shapes({170}), &best));
  EXPECT_FALSE(race.clearly_slower(shapes({170, 100}), &best)) << "the second makes up for it";
  EXPECT_TRUE(race.clearly_slower(shapes({100, 290}), &best));
}

TEST(Race, NothingIsGivenUpWithoutAnIncumbentOrAfterTheLastShape) {
  const Race race(Objective::geometric_mean_speedup, {1, 1});
  const Trial best = trial(race, {100, 100});
  EXPECT_FALSE(race.clearly_slower(shapes({1000}), nullptr));
  EXPECT_FALSE(race.clearly_slower(shapes({1000, 1000}), &best));
  Trial estimate = best;
  estimate.partial = true;
  EXPECT_FALSE(race.clearly_slower(shapes({1000}), &estimate));
}

TEST(Race, AMeanIsDecidedOnlyByWhatTheRestCannotUndo) {
  const Race race(Objective::weighted_mean_time, {1, 1});
  const Trial best = trial(race, {1, 1000});
  EXPECT_FALSE(race.clearly_slower(shapes({500}), &best)) << "the second may be short";
  EXPECT_TRUE(race.clearly_slower(shapes({1800}), &best));
}

TEST(Race, AWorstCaseIsDecidedByOneShape) {
  const Race race(Objective::worst_case_time, {1, 1});
  const Trial best = trial(race, {10, 1000});
  EXPECT_FALSE(race.clearly_slower(shapes({1500}), &best));
  EXPECT_TRUE(race.clearly_slower(shapes({1700}), &best));
}

TEST(Race, TheEstimateScalesTheIncumbent) {
  const Race geometric(Objective::geometric_mean_speedup, {1, 3});
  const Trial best = trial(geometric, {100, 400});
  EXPECT_NEAR(geometric.time_of(shapes({300}), &best).value, 3 * best.time->value, 1e-9);
  const Race mean(Objective::weighted_mean_time, {1, 3});
  EXPECT_NEAR(mean.time_of(shapes({100, 400}), nullptr).value, (100 + 3 * 400) / 4.0, 1e-9);
  const Race worst(Objective::worst_case_time, {1, 1});
  const Trial slow = trial(worst, {100, 400});
  EXPECT_EQ(worst.time_of(shapes({50}), &slow).value, 400) << "never below the incumbent's";
}

} // namespace
} // namespace kernevo::tune
