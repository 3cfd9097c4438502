#include "kernevo/report/run_story.h"

#include "sample_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::report {
namespace {

using testing::ElementsAre;

TEST(RunStory, FollowsEveryStep) {
  SampleRun run("story");
  const Step better = run.candidate(0, StepOutcome::improved, 50.0);
  run.candidate(better, StepOutcome::wrong, std::nullopt);
  const Step tuned = run.tune(better, StepOutcome::improved, 40.0);
  run.open(better);
  const auto story = read_story(run.journal());
  ASSERT_TRUE(story) << format_error(story.error());
  EXPECT_EQ(story->steps.size(), 5U);
  EXPECT_THAT(story->bests, ElementsAre(0, better, tuned));
  EXPECT_EQ(story->find(tuned)->spent, 12U);
  EXPECT_EQ(story->find(4)->evaluation, std::nullopt);
  EXPECT_EQ(story->find(5), nullptr);
  EXPECT_DOUBLE_EQ(story->evaluation_seconds, 1.5 + 2 * 2.0);
  EXPECT_EQ(story->state.best()->objective.value, 40e3);
}

TEST(RunStory, KnowsWhatWasKnownThen) {
  SampleRun run("known");
  const Step better = run.candidate(0, StepOutcome::improved, 50.0);
  const Step tuned = run.tune(better, StepOutcome::improved, 40.0);
  run.tune(better, StepOutcome::not_better, 45.0);
  const auto story = read_story(run.journal());
  ASSERT_TRUE(story);
  EXPECT_EQ(story->known(better, better), nullptr);
  EXPECT_EQ(story->known(better, tuned)->step, better);
  EXPECT_EQ(story->known(better, 100)->step, tuned); // the slower one later changes nothing
  EXPECT_EQ(story->known(77, 100), nullptr);
}

} // namespace
} // namespace kernevo::report
