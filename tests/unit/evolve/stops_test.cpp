#include "kernevo/evolve/stops.h"
#include "made_up_run.h"

#include <gtest/gtest.h>

namespace kernevo::evolve {
namespace {

std::optional<StopReason> stop_of(const MadeUpRun& run) {
  const auto stop = find_stop(run.state);
  EXPECT_TRUE(!stop || !stop->text.empty());
  return stop ? std::optional(stop->reason) : std::nullopt;
}

TEST(Stops, EachBudgetStopsTheRun) {
  RunSettings settings;
  EXPECT_FALSE(stop_of(MadeUpRun(settings))) << "without a baseline nothing is over";
  settings.budget.rounds = 2;
  MadeUpRun rounds(settings);
  rounds.baseline();
  EXPECT_FALSE(stop_of(rounds));
  rounds.step(0, "a", StepOutcome::compile_failed);
  EXPECT_FALSE(stop_of(rounds));
  rounds.step(0, "a", StepOutcome::compile_failed);
  EXPECT_EQ(stop_of(rounds), StopReason::rounds);

  settings = {};
  settings.budget.evaluations = 2;
  MadeUpRun evaluations(settings);
  evaluations.baseline();
  EXPECT_FALSE(stop_of(evaluations));
  evaluations.step(0, "a", StepOutcome::not_better, 1100);
  EXPECT_EQ(stop_of(evaluations), StopReason::evaluations);

  settings = {};
  settings.target_ns = 900;
  MadeUpRun target(settings);
  target.baseline(1000);
  EXPECT_FALSE(stop_of(target));
  target.step(0, "a", StepOutcome::improved, 900);
  EXPECT_EQ(stop_of(target), StopReason::target);

  settings = {};
  settings.plateau = 3;
  MadeUpRun plateau(settings);
  plateau.baseline();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(stop_of(plateau));
    plateau.step(0, "a", StepOutcome::not_better, 1100);
  }
  EXPECT_EQ(stop_of(plateau), StopReason::plateau);

  settings = {};
  settings.budget.tokens = 100;
  settings.budget.dollars = 1;
  MadeUpRun money(settings);
  money.baseline();
  Directive d;
  d.step = 1;
  money.apply(d);
  ModelCall c;
  c.step = 1;
  c.id = "code.0";
  c.usage.prompt = 50;
  c.dollars = 1.0;
  money.apply(c);
  EXPECT_EQ(stop_of(money), StopReason::dollars);
  d.step = c.step = 2;
  money.apply(d);
  money.apply(c);
  EXPECT_EQ(stop_of(money), StopReason::tokens);
}

TEST(Stops, NearTheRooflineIsEnough) {
  MadeUpRun run;
  run.baseline(1000);
  Evaluation e = made_up_evaluation(run.propose(0, "a"), StepOutcome::improved, 500);
  e.roofline = 0.96;
  run.tell(e);
  EXPECT_EQ(stop_of(run), StopReason::roofline);
}

TEST(Stops, TheOperationsOfAReferenceAreNoRoofline) {
  for (const auto& [moving, reached] : {std::pair{100.0, false}, std::pair{480.0, true}}) {
    MadeUpRun run;
    run.state.started.estimate = WorkEstimate{{}, 490, moving, moving};
    run.baseline(1000);
    Evaluation e = made_up_evaluation(run.propose(0, "a"), StepOutcome::improved, 500);
    e.roofline = 0.98;
    run.tell(e);
    const auto stop = find_stop(run.state);
    ASSERT_EQ(stop.has_value(), reached);
    if (reached) {
      EXPECT_EQ(
          stop->text,
          "the best reaches 96.0 % of what the roofline allows, estimated from the reference");
    }
  }
}

TEST(Stops, WhatTheBaselineMeetsIsSaidAndIsNoWantOfImprovement) {
  RunSettings settings;
  settings.target_ns = 1000;
  MadeUpRun target(settings);
  target.baseline(1000);
  auto stop = find_stop(target.state);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->reason, StopReason::target);
  EXPECT_NE(stop->text.find("baseline"), std::string::npos) << stop->text;
  EXPECT_FALSE(met_by_baseline(target.state)) << "the run is not over yet";
  target.apply(*stop);
  EXPECT_TRUE(met_by_baseline(target.state));

  settings.target_ns = 900;
  MadeUpRun reached(settings);
  reached.baseline(1000);
  reached.step(0, "a", StepOutcome::improved, 900);
  stop = find_stop(reached.state);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->text.find("baseline"), std::string::npos) << stop->text;
  reached.apply(*stop);
  EXPECT_FALSE(met_by_baseline(reached.state)) << "the run did it";

  settings = {};
  settings.budget.rounds = 1;
  MadeUpRun spent(settings);
  spent.baseline(1000);
  spent.step(0, "a", StepOutcome::wrong);
  spent.apply(*find_stop(spent.state));
  EXPECT_FALSE(met_by_baseline(spent.state)) << "a budget is no goal";
}

TEST(Stops, ThreeTroublesInARowStopTheRunAndOneSuccessBreaksTheRow) {
  MadeUpRun run;
  run.baseline();
  for (int i = 0; i < 2; ++i)
    run.step(0, "a", StepOutcome::infrastructure);
  run.step(0, "a", StepOutcome::wrong);
  for (int i = 0; i < 2; ++i)
    run.step(0, "a", StepOutcome::infrastructure);
  EXPECT_FALSE(stop_of(run));
  run.step(0, "a", StepOutcome::infrastructure);
  EXPECT_EQ(stop_of(run), StopReason::trouble);
}

TEST(Stops, TroubleIsNoPlateau) {
  RunSettings settings;
  settings.plateau = 2;
  MadeUpRun run(settings);
  run.baseline();
  run.step(0, "a", StepOutcome::infrastructure);
  run.step(0, "a", StepOutcome::wrong);
  run.step(0, "a", StepOutcome::infrastructure);
  EXPECT_FALSE(stop_of(run));
}

TEST(Restart, APoorStartIsBegunAfresh) {
  RunSettings settings;
  settings.restart_after = 5;
  settings.plateau = 0;
  MadeUpRun run(settings);
  run.baseline();
  for (int i = 0; i < 3; ++i)
    run.step(0, "a", StepOutcome::not_better, 1100);
  EXPECT_FALSE(find_restart(run.state));
  run.step(0, "a", StepOutcome::not_better, 1100);
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    const auto restart = find_restart(run.state);
    ASSERT_TRUE(restart);
    EXPECT_EQ(restart->epoch, epoch);
    EXPECT_EQ(restart->step, run.state.next_step);
    EXPECT_GE(restart->reasons.size(), 2U);
    run.apply(*restart);
    EXPECT_FALSE(find_restart(run.state)) << "not at once";
    for (int i = 0; i < 5; ++i)
      run.step(0, "a", StepOutcome::not_better, 1100);
  }
  EXPECT_FALSE(find_restart(run.state)) << "three are enough";
}

TEST(Restart, AGoodStartIsNot) {
  RunSettings settings;
  settings.restart_after = 2;
  MadeUpRun run(settings);
  run.baseline(1000);
  run.step(0, "a", StepOutcome::improved, 500);
  run.step(0, "a", StepOutcome::wrong);
  EXPECT_FALSE(find_restart(run.state));
  settings.search = SearchKind::sequential;
  MadeUpRun control(settings);
  control.baseline(1000);
  for (int i = 0; i < 5; ++i)
    control.step(0, "a", StepOutcome::wrong);
  EXPECT_FALSE(find_restart(control.state)) << "controls never do";
}

TEST(Stops, APoorStartInTokensStartsAfresh) {
  RunSettings settings;
  settings.restart_after_tokens = 100;
  MadeUpRun run(settings);
  run.baseline(1000);
  run.step(0, "a", StepOutcome::not_better, 1100);
  EXPECT_FALSE(find_restart(run.state));
  ModelCall call;
  call.step = 1;
  call.id = "code.0";
  call.usage.prompt = 100;
  run.apply(call);
  const auto restart = find_restart(run.state);
  ASSERT_TRUE(restart);
  EXPECT_NE(restart->reason.find("100 tokens"), std::string::npos) << restart->reason;
  run.apply(*restart);
  EXPECT_FALSE(find_restart(run.state)) << "what was spent before counts no more";
}

} // namespace
} // namespace kernevo::evolve
