#include "kernevo/report/importance.h"

#include "sample_run.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kernevo::report {
namespace {

TEST(Importance, BeginsWithTheWayToTheBest) {
  SampleRun run("importance");
  for (int i = 0; i < 20; ++i)
    run.candidate(0, StepOutcome::not_better, 120.0);
  const Step odd = run.candidate(7, StepOutcome::not_better, 101.0); // no best, but an ancestor
  for (int i = 0; i < 20; ++i)
    run.candidate(0, StepOutcome::wrong, std::nullopt);
  const Step best = run.candidate(odd, StepOutcome::improved, 50.0);
  const auto story = read_story(run.journal());
  ASSERT_TRUE(story);
  std::vector<std::size_t> order = by_importance(*story);
  EXPECT_THAT(std::vector<std::size_t>(order.begin(), order.begin() + 4),
              testing::UnorderedElementsAre(0, best, odd, 7));
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < story->steps.size(); ++i)
    EXPECT_EQ(order.at(i), i);
  EXPECT_EQ(order.size(), story->steps.size());
}

TEST(Importance, SpreadsTheRestEvenly) {
  SampleRun run("spread");
  for (int i = 0; i < 256; ++i)
    run.candidate(0, StepOutcome::not_better, 120.0);
  const auto story = read_story(run.journal());
  ASSERT_TRUE(story);
  const std::vector<std::size_t> order = by_importance(*story);
  std::set<std::size_t> first(order.begin(), order.begin() + 33);
  std::size_t widest = 0;
  for (auto one = first.begin(); std::next(one) != first.end(); ++one)
    widest = std::max(widest, *std::next(one) - *one);
  EXPECT_LE(widest, 16U); // twice the mean distance
  EXPECT_GE(*first.rbegin(), 240U);
}

} // namespace
} // namespace kernevo::report
