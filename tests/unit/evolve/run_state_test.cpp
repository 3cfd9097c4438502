// The fold, one outcome after the other.
#include "made_up_run.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::evolve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array kAfterTheBaseline = {StepOutcome::improved,       StepOutcome::not_better,
                                          StepOutcome::guarded,        StepOutcome::duplicate,
                                          StepOutcome::compile_failed, StepOutcome::wrong,
                                          StepOutcome::failed,         StepOutcome::quarantined,
                                          StepOutcome::no_proposal,    StepOutcome::infrastructure};

TEST(RunState, TheBaselineIsTheFirstBest) {
  MadeUpRun run;
  run.baseline(800);
  EXPECT_EQ(run.state.baseline, Nanoseconds{800});
  EXPECT_EQ(run.state.incumbent, Step{0});
  EXPECT_EQ(run.state.told, 0U) << "steps after the baseline";
  EXPECT_EQ(run.state.evaluations, 1U);
  EXPECT_EQ(run.state.speedup(), 1);
  EXPECT_EQ(run.state.next_step, 1U);
  ASSERT_EQ(run.state.bests.size(), 1U);
  EXPECT_EQ(run.state.elites.size(), 1U);
}

TEST(RunState, EveryOutcomeMeansWhatItShould) {
  for (const StepOutcome outcome : kAfterTheBaseline) {
    SCOPED_TRACE(name_of(outcome));
    MadeUpRun run;
    run.baseline(1000);
    const bool right = is_right(outcome);
    const Step step = run.step(
        0, "vectorize", outcome,
        right ? std::optional(outcome == StepOutcome::not_better ? 1200 : 500.0) : std::nullopt);
    const RunState& state = run.state;
    EXPECT_EQ(state.told, 1U);
    EXPECT_TRUE(state.pending.empty());
    EXPECT_TRUE(state.pending_candidates.empty());
    EXPECT_EQ(state.outcomes.at(std::string(name_of(outcome))), 1U);
    const bool improved = outcome == StepOutcome::improved;
    EXPECT_EQ(state.incumbent, improved ? step : Step{0});
    EXPECT_EQ(state.bests.size(), improved ? 2U : 1U);
    EXPECT_EQ(state.since_gain, improved || outcome == StepOutcome::infrastructure ? 0U : 1U);
    EXPECT_EQ(state.trouble_in_a_row, outcome == StepOutcome::infrastructure ? 1U : 0U);
    EXPECT_EQ(state.lessons_told, is_lesson(outcome) ? 1U : 0U);
    EXPECT_EQ(state.arms.contains({"playbook", "vectorize"}), is_lesson(outcome));
    const bool tabu = outcome != StepOutcome::improved && outcome != StepOutcome::compile_failed &&
                      outcome != StepOutcome::infrastructure;
    EXPECT_EQ(state.is_tabu(0, tabu_name("playbook", "vectorize")), tabu);
    EXPECT_FALSE(state.is_tabu(0, tabu_name("playbook", "unroll")));
    EXPECT_FALSE(state.is_tabu(step, tabu_name("playbook", "vectorize")))
        << "another parent is another matter";
  }
}

TEST(RunState, TabuEnds) {
  MadeUpRun run;
  run.baseline();
  run.step(0, "vectorize", StepOutcome::not_better, 1200);
  Step last = 0;
  while (run.state.is_tabu(0, tabu_name("playbook", "vectorize")) && last < 100)
    last = run.step(0, "other", StepOutcome::compile_failed);
  EXPECT_GT(last, 4U);
  EXPECT_LT(last, 20U);
}

TEST(RunState, CreditGoesToTheCandidatesOwnDirection) {
  MadeUpRun run;
  run.baseline(1000);
  const Step a = run.propose(0, "vectorize");
  const Step b = run.propose(0, "unroll");
  const Step c = run.propose(0, "tile");
  run.tell(a, StepOutcome::improved, 500);
  run.tell(b, StepOutcome::not_better, 900); // faster than its parent, not than the best
  run.tell(c, StepOutcome::wrong);
  const auto& arms = run.state.arms;
  EXPECT_DOUBLE_EQ(arms.at({"playbook", "vectorize"}).reward, 1);
  EXPECT_NEAR(arms.at({"playbook", "unroll"}).reward, 0.25 * std::log2(1000.0 / 900), 1e-12);
  EXPECT_EQ(arms.at({"playbook", "tile"}).reward, 0);
  for (const auto& [key, arm] : arms)
    EXPECT_EQ(arm.tries, 1U) << key.second;
}

TEST(RunState, TheFasterStaysInACellAndTiesNeverReplace) {
  MadeUpRun run;
  run.baseline(1000);
  run.step(0, "a", StepOutcome::not_better, 1000);
  const auto cell = std::pair(0U, run.state.members.at(0).cell);
  EXPECT_EQ(run.state.elites.at(cell), 0U);
  const Step faster = run.step(0, "b", StepOutcome::not_better, 999);
  EXPECT_EQ(run.state.elites.at(cell), faster);
}

TEST(RunState, WhoIsNobodysEliteIsForgotten) {
  MadeUpRun run;
  run.baseline(1000);
  const Step slow = run.step(0, "a", StepOutcome::not_better, 1500);
  EXPECT_EQ(run.state.find(slow), nullptr);
  EXPECT_NE(run.state.find(0), nullptr) << "the reference stays";
  const Step first = run.step(0, "b", StepOutcome::improved, 500);
  const Step second = run.step(first, "c", StepOutcome::improved, 400);
  EXPECT_EQ(run.state.find(first), nullptr) << "the same cell, and slower";
  EXPECT_NE(run.state.find(second), nullptr);
}

TEST(RunState, AParentOfAStepUnderWayIsKept) {
  MadeUpRun run;
  run.baseline(1000);
  const Step first = run.step(0, "b", StepOutcome::improved, 500);
  const Step child = run.propose(first, "c");
  run.step(first, "d", StepOutcome::improved, 400);
  EXPECT_NE(run.state.find(first), nullptr);
  run.tell(child, StepOutcome::wrong);
  EXPECT_EQ(run.state.find(first), nullptr);
}

TEST(RunState, TuningMovesAKernelToTheCellItIsNowIn) {
  RunSettings settings;
  settings.islands = 2;
  MadeUpRun run(settings);
  run.baseline(1000);
  Evaluation found = made_up_evaluation(run.propose(0, "a"), StepOutcome::improved, 600);
  found.tunable = true;
  found.facts->memory = "shared";
  run.tell(found);
  run.apply(Migrated{2});
  const Step tuning = run.tune(1);
  Evaluation better = made_up_evaluation(tuning, StepOutcome::improved, 300);
  better.candidate = 1;
  better.instances_timed = 10;
  better.facts->memory = "shared";
  better.facts->registers = 200;
  run.tell(better);
  const Member& member = run.state.members.at(1);
  EXPECT_EQ(member.objective, Nanoseconds{300});
  EXPECT_EQ(member.tuned, 11U);
  for (const auto& [key, step] : run.state.elites)
    EXPECT_EQ(key.second, run.state.members.at(step).cell) << "of step " << step;
  EXPECT_EQ(run.state.elites.at({1, member.cell}), 1U) << "where it had migrated, too";
  EXPECT_EQ(run.state.incumbent, Step{1});
}

TEST(RunState, ATuningThatFindsNothingIsNotRepeated) {
  MadeUpRun run;
  run.baseline(1000);
  Evaluation found = made_up_evaluation(run.propose(0, "a"), StepOutcome::improved, 600);
  found.tunable = true;
  run.tell(found);
  Evaluation none = made_up_evaluation(run.tune(1), StepOutcome::not_better, 600);
  none.candidate = 1;
  none.instances_timed = 10;
  run.tell(none);
  EXPECT_FALSE(run.state.members.at(1).tuning_helps);
  EXPECT_FALSE(run.state.members.at(1).exhausted);
  Evaluation wrong = made_up_evaluation(run.tune(1), StepOutcome::wrong);
  wrong.candidate = 1;
  run.tell(wrong);
  EXPECT_TRUE(run.state.members.at(1).exhausted);
  EXPECT_EQ(run.state.members.at(1).objective, Nanoseconds{600});
}

TEST(RunState, TroubleWhileTuningTeachesNothing) {
  MadeUpRun run;
  run.baseline(1000);
  Evaluation found = made_up_evaluation(run.propose(0, "a"), StepOutcome::improved, 600);
  found.tunable = true;
  run.tell(found);
  const Member before = run.state.members.at(1);
  run.tell(run.tune(1), StepOutcome::infrastructure);
  EXPECT_EQ(run.state.members.at(1), before);
}

TEST(RunState, AnUnknownPriceMakesTheSumUnknown) {
  MadeUpRun run;
  run.baseline();
  Directive d;
  d.step = 1;
  run.apply(d);
  ModelCall c;
  c.step = 1;
  c.id = "code.0";
  c.stage = "code";
  c.model = "m";
  c.usage = {900, 100, 100, 50, false};
  c.dollars = 0.25;
  run.apply(c);
  EXPECT_EQ(run.state.tokens, 1000U);
  EXPECT_EQ(run.state.dollars, 0.25);
  d.step = c.step = 2;
  c.usage = {6, 0, 4, 0, true};
  c.dollars.reset();
  run.apply(d);
  run.apply(c);
  EXPECT_EQ(run.state.tokens, 1010U);
  EXPECT_FALSE(run.state.dollars);
  const Spending& spending = run.state.by_stage.at("code");
  EXPECT_EQ(spending.calls, 2U);
  EXPECT_EQ(spending.usage.cached, 100U);
  EXPECT_TRUE(spending.usage.estimated);
  EXPECT_FALSE(spending.dollars);
  EXPECT_EQ(run.state.by_model.at("m"), spending);
}

TEST(RunState, ARestartKeepsTheBestAndForgetsTheWay) {
  MadeUpRun run;
  run.baseline(1000);
  run.step(0, "a", StepOutcome::improved, 950);
  run.step(1, "b", StepOutcome::wrong);
  run.apply(Restarted{3, 1, "poor", {}});
  EXPECT_EQ(run.state.incumbent, Step{1});
  EXPECT_NE(run.state.best(), nullptr);
  EXPECT_EQ(run.state.epoch, 1U);
  EXPECT_EQ(run.state.epoch_proposals, 0U);
  EXPECT_EQ(run.state.since_gain, 0U);
  EXPECT_TRUE(run.state.tabu.empty());
  EXPECT_TRUE(run.state.arms.empty());
  ASSERT_EQ(run.state.elites.size(), 1U);
  EXPECT_EQ(run.state.elites.begin()->second, 0U);
}

TEST(RunState, ResumingClearsTheStopAndTheTrouble) {
  MadeUpRun run;
  run.baseline();
  for (int i = 0; i < 3; ++i)
    run.step(0, "a", StepOutcome::infrastructure);
  run.apply(RunStopped{StopReason::trouble, "again and again"});
  EXPECT_TRUE(run.state.stopped);
  run.apply(RunResumed{4, run.state.started.settings.budget});
  EXPECT_FALSE(run.state.stopped);
  EXPECT_EQ(run.state.trouble_in_a_row, 0U);
}

// Going on as before changes nothing but the stop; a larger budget gives a stuck run another
// chance.
TEST(RunState, OnlyANewBudgetForgetsAPlateau) {
  MadeUpRun run;
  run.baseline();
  for (int i = 0; i < 5; ++i)
    run.step(0, "a", StepOutcome::not_better);
  const std::uint64_t stuck = run.state.since_gain;
  ASSERT_GT(stuck, 0U);
  RunBudget budget = run.state.started.settings.budget;
  run.apply(RunResumed{run.state.next_step, budget});
  EXPECT_EQ(run.state.since_gain, stuck);
  budget.evaluations = 12345;
  run.apply(RunResumed{run.state.next_step, budget});
  EXPECT_EQ(run.state.since_gain, 0U);
  EXPECT_EQ(run.state.started.settings.budget, budget);
}

TEST(Settle, TiesNeverReplaceTheBest) {
  MadeUpRun run;
  run.baseline(1000);
  const double least = run.state.started.settings.least_gain;
  const Step step = run.propose(0, "a");
  const auto settled = [&](double ns) {
    return settle(run.state, made_up_evaluation(step, StepOutcome::improved, ns), std::nullopt)
        .outcome;
  };
  EXPECT_EQ(settled(1000), StepOutcome::not_better);
  EXPECT_EQ(settled(1000 * (1 - least)), StepOutcome::not_better);
  EXPECT_EQ(settled(1000 * (1 - least) - 0.01), StepOutcome::improved);
}

TEST(Settle, TheBestMayHaveChangedSinceItWasDecided) {
  MadeUpRun run;
  run.baseline(1000);
  const Step slow = run.propose(0, "a");
  run.step(0, "b", StepOutcome::improved, 400);
  EXPECT_EQ(
      settle(run.state, made_up_evaluation(slow, StepOutcome::improved, 500), std::nullopt).outcome,
      StepOutcome::not_better);
}

TEST(Settle, EveryShapeIsGuarded) {
  MadeUpRun run;
  run.apply(Directive{});
  run.apply(Candidate{});
  Evaluation base = made_up_evaluation(0, StepOutcome::baseline, 1000);
  base.shapes = {{"small", Nanoseconds{100}, {}, {}}, {"big", Nanoseconds{1900}, {}, {}}};
  run.tell(base);
  Evaluation e = made_up_evaluation(run.propose(0, "a"), StepOutcome::improved, 500);
  e.shapes = {{"small", Nanoseconds{104}, {}, {}}, {"big", Nanoseconds{800}, {}, {}}};
  EXPECT_EQ(settle(run.state, e, std::nullopt).outcome, StepOutcome::improved);
  e.shapes[0].time = Nanoseconds{106};
  const Evaluation guarded = settle(run.state, e, std::nullopt);
  EXPECT_EQ(guarded.outcome, StepOutcome::guarded);
  EXPECT_THAT(guarded.summary, testing::HasSubstr("small takes 1.06 times"));
}

TEST(Settle, AKnownStructureIsADuplicateWhateverItsTime) {
  MadeUpRun run;
  run.baseline(1000);
  const Step step = run.propose(0, "a");
  const Evaluation twin =
      settle(run.state, made_up_evaluation(step, StepOutcome::improved, 100), Step{0});
  EXPECT_EQ(twin.outcome, StepOutcome::duplicate);
  EXPECT_EQ(twin.duplicate_of, Step{0});
  Evaluation tuned = made_up_evaluation(step, StepOutcome::improved, 100);
  tuned.candidate = 0;
  EXPECT_EQ(settle(run.state, tuned, Step{0}).outcome, StepOutcome::improved)
      << "a tuned candidate is itself";
}

TEST(Settle, OnlyWhatWasConfirmedIsTheBest) {
  MadeUpRun run;
  run.baseline(1000);
  for (const StepOutcome outcome : kAfterTheBaseline) {
    if (outcome == StepOutcome::improved)
      continue;
    EXPECT_EQ(settle(run.state, made_up_evaluation(1, outcome, 1), std::nullopt).outcome, outcome);
  }
}

TEST(Lessons, OneGeneMoreIsADifference) {
  EXPECT_EQ(single_difference({"a"}, {"a", "b"}), "b");
  EXPECT_EQ(single_difference({"a", "b"}, {"b", "c", "a"}), "c");
  EXPECT_EQ(single_difference({"a"}, {"a", "a"}), "a");
  EXPECT_EQ(single_difference({}, {"a"}), "a");
  EXPECT_EQ(single_difference({"a"}, {"a"}), "");
  EXPECT_EQ(single_difference({"a"}, {"b", "c"}), "");
  EXPECT_EQ(single_difference({"a", "b"}, {"a"}), "");
}

TEST(Lessons, PairsThatDifferInOneGeneAreTheEvidence) {
  MadeUpRun run;
  run.baseline(1000);
  run.step(0, "a", StepOutcome::improved, 800, {"recipe"});
  run.step(1, "b", StepOutcome::improved, 400, {"recipe", "unroll"});
  ASSERT_TRUE(run.state.genes.contains("unroll"));
  const GeneEffect& effect = run.state.genes.at("unroll");
  EXPECT_EQ(effect.pairs, 1U);
  EXPECT_NEAR(effect.mean(), std::log(2.0), 1e-12);
  ASSERT_EQ(effect.latest.size(), 1U);
  EXPECT_EQ(effect.latest[0].without, 1U);
  EXPECT_EQ(effect.latest[0].with, 2U);
  EXPECT_THAT(describe(effect), testing::HasSubstr("2.00 times as fast"));
}

TEST(Lessons, WhatHarmedEveryTimeIsAvoided) {
  GeneLessons lessons;
  learn(lessons, "bad", {0, 1, -0.1});
  EXPECT_THAT(avoid_patterns(lessons), IsEmpty()) << "once is chance";
  learn(lessons, "bad", {0, 2, -0.05});
  learn(lessons, "mixed", {0, 1, -0.5});
  learn(lessons, "mixed", {0, 2, 0.1});
  learn_fault(lessons, "faulty");
  learn_fault(lessons, "faulty");
  learn_fault(lessons, "once");
  EXPECT_THAT(avoid_patterns(lessons), ElementsAre("bad", "faulty"));
  for (int i = 0; i < 100; ++i)
    learn(lessons, "bad", {0, 3, -0.05});
  EXPECT_LE(lessons.at("bad").latest.size(), 4U);
  EXPECT_EQ(lessons.at("bad").pairs, 102U);
}

} // namespace
} // namespace kernevo::evolve
