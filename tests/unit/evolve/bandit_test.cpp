// Gain per cost decides between proposers.
#include "kernevo/evolve/bandit.h"

#include "made_up_run.h"

#include <gtest/gtest.h>

namespace kernevo::evolve {
namespace {

std::string first_choice(const RunState& state, const std::vector<OpenArm>& arms) {
  return score_arms(state, state.members.at(0), arms, 1).front().arm.proposer;
}

struct BanditTest : testing::Test {
  BanditTest() { run.baseline(1000); }
  MadeUpRun run;
  const std::vector<OpenArm> arms = {{"llm", "a", std::nullopt, 1}, {"playbook", "a", 3, 1}};
};

TEST_F(BanditTest, TheCheaperOfTwoThatBringTheSameIsAsked) {
  run.state.proposers["llm"] = {4, 1.0, 0.4};
  run.state.proposers["playbook"] = {4, 1.0, 0.1};
  EXPECT_EQ(first_choice(run.state, arms), "playbook");
}

TEST_F(BanditTest, ADearOneThatBringsMoreForItsCostIsAsked) {
  run.state.proposers["llm"] = {4, 3.0, 0.2};
  run.state.proposers["playbook"] = {4, 0.1, 0.1};
  EXPECT_EQ(first_choice(run.state, arms), "llm");
}

TEST_F(BanditTest, OneThatOnlyCostsIsLeftBehind) {
  run.state.proposers["llm"] = {6, 0.0, 0.5};
  EXPECT_EQ(first_choice(run.state, arms), "playbook");
}

TEST_F(BanditTest, WeightsDecideWhileNothingIsKnown) {
  const std::vector<OpenArm> models = {{"llm:a", "x", std::nullopt, 1},
                                       {"llm:b", "x", std::nullopt, 3}};
  EXPECT_EQ(first_choice(run.state, models), "llm:b");
}

TEST_F(BanditTest, AloneAProposerIsWorthOne) {
  run.state.proposers["playbook"] = {9, 0.1, 0.9};
  const auto scored = score_arms(run.state, run.state.members.at(0), {{"playbook", "a", 3, 1}}, 1);
  EXPECT_DOUBLE_EQ(scored.front().worth, 1);
}

TEST_F(BanditTest, TheFoldKeepsWhatAProposerCosts) {
  RunSettings settings;
  settings.budget.evaluations = 100;
  settings.budget.tokens = 1000;
  MadeUpRun paid(settings);
  paid.baseline(1000);
  Directive d;
  d.step = 1;
  d.parent = 0;
  d.mode = SearchMode::exploit;
  d.proposer = "llm";
  d.direction = "a";
  paid.apply(d);
  ModelCall call;
  call.step = 1;
  call.id = "code.0";
  call.stage = "code";
  call.usage.prompt = 250;
  paid.apply(call);
  Evaluation e;
  e.step = e.candidate = 1;
  e.outcome = StepOutcome::no_proposal;
  paid.apply(e);
  EXPECT_DOUBLE_EQ(paid.state.proposers.at("llm").cost, 0.25);
  EXPECT_TRUE(paid.state.is_tabu(0, tabu_name("llm", "a")));
  EXPECT_FALSE(paid.state.is_tabu(0, tabu_name("playbook", "a")))
      << "what one failed at another may do well";
}

} // namespace
} // namespace kernevo::evolve
