#include "kernevo/evolve/bandit.h"
#include "made_up_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kernevo::evolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Directive directive_of(const RunState& state, const World& world) {
  const auto decision = decide(state, world.view());
  EXPECT_TRUE(decision) << format_error(decision.error());
  const auto* directive = std::get_if<Directive>(&*decision);
  EXPECT_NE(directive, nullptr) << "decision " << decision->index();
  return directive == nullptr ? Directive{} : *directive;
}

// What each gate looks for, to be switched on one by one.
struct Situation {
  bool young = false; // bootstrap
  bool near_target = false;
  bool new_bottleneck = false;
  bool tunable = false; // untuned; near_target asks for it, too
  bool stuck = false;   // plateau
};

MadeUpRun make(const Situation& situation) {
  RunSettings settings;
  if (situation.near_target)
    settings.target_ns = 450;
  MadeUpRun run(settings);
  run.baseline(1000);
  Evaluation best = made_up_evaluation(run.propose(0, "first"), StepOutcome::improved, 480);
  best.facts->memory = "shared";
  best.tunable = situation.tunable || situation.near_target;
  if (situation.new_bottleneck)
    best.bottlenecks = {finding(BottleneckTag::spills, 0.5, {"tile", "unroll"})};
  run.tell(best);
  Evaluation other = made_up_evaluation(run.propose(0, "second"), StepOutcome::not_better, 700);
  other.facts->memory = "async";
  run.tell(other);
  run.step(0, "third", StepOutcome::wrong);
  run.state.epoch_proposals = situation.young ? 1 : 3;
  run.state.since_gain = situation.stuck ? 5 : 2;
  return run;
}

const World kOpen{{{"tile", 5}, {"unroll", 5}, {"vectorize", 5}}, "", {}};

TEST(Navigator, TheGatesAreAskedInThisOrder) {
  EXPECT_THAT(gate_names(), ElementsAre("bootstrap", "near_target", "new_bottleneck", "untuned",
                                        "plateau", "exhausted", "bandit"));
}

TEST(Navigator, EachGateFiresInItsSituation) {
  EXPECT_EQ(directive_of(make({.young = true}).state, kOpen).gate, "bootstrap");
  EXPECT_EQ(directive_of(make({.near_target = true}).state, kOpen).gate, "near_target");
  EXPECT_EQ(directive_of(make({.new_bottleneck = true}).state, kOpen).gate, "new_bottleneck");
  EXPECT_EQ(directive_of(make({.tunable = true}).state, kOpen).gate, "untuned");
  EXPECT_EQ(directive_of(make({.stuck = true}).state, kOpen).gate, "plateau");
  EXPECT_EQ(directive_of(make({}).state, kOpen).gate, "bandit");
}

TEST(Navigator, OfSeveralGatesTheEarlierWins) {
  const std::vector<std::string> order = {"bootstrap", "near_target", "new_bottleneck", "untuned",
                                          "plateau"};
  for (unsigned bits = 1; bits < 32; ++bits) {
    const Situation situation{(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0,
                              (bits & 8U) != 0, (bits & 16U) != 0};
    std::size_t first = 0;
    while ((bits >> first & 1U) == 0)
      ++first;
    EXPECT_EQ(directive_of(make(situation).state, kOpen).gate, order[first]) << bits;
  }
}

TEST(Navigator, ExhaustedComesAfterAllThatStillHasSomething) {
  World none{{}, "playbook", {}};
  EXPECT_EQ(directive_of(make({.near_target = true, .stuck = true}).state, none).gate,
            "near_target");
  EXPECT_EQ(directive_of(make({.tunable = true, .stuck = true}).state, none).gate, "untuned");
  const Directive joined = directive_of(make({.stuck = true}).state, none);
  EXPECT_EQ(joined.gate, "plateau");
  EXPECT_EQ(joined.mode, SearchMode::recombine);
  EXPECT_TRUE(joined.mate);
  none.joiner.clear();
  // Parameters that did not help lately are better than nothing.
  MadeUpRun run = make({.tunable = true});
  run.state.members.at(1).tuning_helps = false;
  const Directive tune = directive_of(run.state, none);
  EXPECT_EQ(tune.gate, "exhausted");
  EXPECT_EQ(tune.mode, SearchMode::tune);
  const auto over = decide(make({}).state, none.view());
  ASSERT_TRUE(over);
  const auto* stopped = std::get_if<RunStopped>(&*over);
  ASSERT_NE(stopped, nullptr);
  EXPECT_EQ(stopped->reason, StopReason::exhausted);
}

TEST(Navigator, NothingIsOverWhileStepsAreUnderWay) {
  MadeUpRun run = make({});
  run.propose(1, "tile");
  const auto decision = decide(run.state, World{}.view());
  ASSERT_TRUE(decision);
  EXPECT_TRUE(std::holds_alternative<Wait>(*decision));
}

TEST(Navigator, StopsComeBeforeEverything) {
  MadeUpRun run = make({.young = true});
  run.state.started.settings.budget.rounds = 3;
  const auto decision = decide(run.state, kOpen.view());
  ASSERT_TRUE(decision);
  ASSERT_TRUE(std::holds_alternative<RunStopped>(*decision));
  EXPECT_EQ(std::get<RunStopped>(*decision).reason, StopReason::rounds);
}

TEST(Navigator, ADirectionThatFailedHasOtherKernelsStill) {
  // One direction, many kernels: one failure does not end the run.
  World one{{{"tile", 5}}, "", {}};
  for (const SearchKind search : {SearchKind::evolve, SearchKind::sequential}) {
    SCOPED_TRACE(name_of(search));
    MadeUpRun run = make({});
    run.state.started.settings.search = search;
    for (const Step parent : {0, 1, 2})
      run.step(parent, "tile", StepOutcome::wrong);
    for (const Step parent : {0, 1, 2})
      ASSERT_TRUE(run.state.is_tabu(parent, tabu_name("playbook", "tile")));
    one.open["tile"] = 5;
    EXPECT_EQ(directive_of(run.state, one).direction, "tile");
    // Who knows no end of kernels is not asked for ever.
    one.open["tile"] = std::nullopt;
    const auto over = decide(run.state, one.view());
    ASSERT_TRUE(over);
    EXPECT_TRUE(std::holds_alternative<RunStopped>(*over));
  }
}

TEST(Navigator, TwoThatDidNotJoinWellAreNotJoinedAgainAtOnce) {
  const World world{{{"tile", 5}}, "playbook", {}};
  MadeUpRun run = make({.stuck = true});
  const Directive first = directive_of(run.state, world);
  ASSERT_EQ(first.mode, SearchMode::recombine);
  run.apply(first);
  Candidate joined;
  joined.step = first.step;
  run.apply(joined);
  run.tell(first.step, StepOutcome::wrong);
  const Directive second = directive_of(run.state, world);
  EXPECT_FALSE(second.mode == SearchMode::recombine && second.parent == first.parent &&
               second.mate == first.mate);
}

TEST(Navigator, ABottleneckIsNewOnceOnIslandsAndAfterARestartToo) {
  RunSettings settings;
  settings.plateau = 0;
  MadeUpRun run(settings);
  run.baseline(1000);
  run.step(0, "x", StepOutcome::improved, 100); // the best of all, of the epoch before
  run.apply(Restarted{run.state.next_step, 1, "poor", {}});
  Evaluation leader = made_up_evaluation(run.propose(0, "y"), StepOutcome::not_better, 600);
  leader.bottlenecks = {finding(BottleneckTag::spills, 0.5, {"tile", "unroll"})};
  run.tell(leader);
  run.state.epoch_proposals = 3;
  const Directive first = directive_of(run.state, kOpen);
  ASSERT_EQ(first.gate, "new_bottleneck");
  run.apply(first);
  run.tell(first.step, StepOutcome::compile_failed);
  EXPECT_NE(directive_of(run.state, kOpen).gate, "new_bottleneck");
}

TEST(Navigator, TheFindingIsTheReason) {
  const Directive d = directive_of(make({.new_bottleneck = true}).state, kOpen);
  EXPECT_EQ(d.rule, "spills");
  EXPECT_TRUE(d.direction == "tile") << d.direction;
  EXPECT_THAT(d.reason, HasSubstr("a message"));
  bool cited = false;
  for (const Reason& reason : d.reasons)
    cited =
        cited || (reason.metric == "share.dram" && reason.value == 0.9 && reason.threshold == 0.6);
  EXPECT_TRUE(cited);
}

TEST(Navigator, WhatIsUnderWayIsNotAskedForAgain) {
  MadeUpRun run = make({});
  std::set<std::string> asked;
  for (int i = 0; i < 3; ++i) {
    const Directive d = directive_of(run.state, kOpen);
    EXPECT_TRUE(asked.insert(fmt::format("{} {}", *d.parent, d.direction)).second);
    run.apply(d);
    EXPECT_EQ(d.frontier, 4U) << "the first that is not told";
  }
}

TEST(Navigator, UntriedArmsAreChosen) {
  // All the same and nothing ever better: a flat run must not lock in.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RunSettings settings;
    settings.seed = seed;
    settings.plateau = 0;
    settings.restart_after = 0;
    MadeUpRun run(settings);
    run.baseline(1000, {finding(BottleneckTag::dram_bound, 0.9, {"d0", "d1"})});
    World world;
    for (int i = 0; i < 10; ++i)
      world.open["d" + std::to_string(i)] = std::nullopt;
    std::map<std::string, int> tried;
    for (int i = 0; i < 40; ++i) {
      const auto decision = decide(run.state, world.view());
      ASSERT_TRUE(decision);
      if (!std::holds_alternative<Directive>(*decision))
        break;
      const Directive d = std::get<Directive>(*decision);
      ++tried[d.direction];
      run.apply(d);
      run.tell(d.step, StepOutcome::not_better, 1500);
    }
    EXPECT_EQ(tried.size(), 10U) << "seed " << seed;
  }
}

TEST(Bandit, TheSeedDecidesBetweenEqualsAndNothingElse) {
  MadeUpRun run;
  run.baseline();
  const std::vector<OpenArm> arms = {{"p", "a", 1}, {"p", "b", 1}, {"p", "c", 1}};
  const auto order = [&](std::uint64_t seed) {
    std::vector<std::string> names;
    for (const ScoredArm& arm : score_arms(run.state, *run.state.best(), arms, seed))
      names.push_back(arm.arm.direction);
    return names;
  };
  std::set<std::vector<std::string>> orders;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    EXPECT_EQ(order(seed), order(seed));
    orders.insert(order(seed));
  }
  EXPECT_GT(orders.size(), 3U);
}

TEST(Controls, BestOfNStartsFromTheReferenceAlways) {
  MadeUpRun run = make({.new_bottleneck = true, .tunable = true, .stuck = true});
  run.state.started.settings.search = SearchKind::best_of_n;
  run.state.started.settings.islands = 3;
  for (int i = 0; i < 5; ++i) {
    const Directive d = directive_of(run.state, kOpen);
    EXPECT_EQ(d.gate, "best_of_n");
    EXPECT_EQ(d.parent, Step{0});
    EXPECT_FALSE(d.reasons.empty());
    run.apply(d);
    run.tell(d.step, StepOutcome::wrong);
  }
  EXPECT_EQ(directive_of(run.state, World{}).mode, SearchMode::tune)
      << "whatever the islands: it has none";
}

TEST(Controls, SequentialFollowsTheFirstFindingOfTheBest) {
  MadeUpRun run = make({.new_bottleneck = true});
  run.state.started.settings.search = SearchKind::sequential;
  const Directive d = directive_of(run.state, kOpen);
  EXPECT_EQ(d.gate, "sequential");
  EXPECT_EQ(d.parent, Step{1});
  EXPECT_EQ(d.rule, "spills");
}

} // namespace
} // namespace kernevo::evolve
