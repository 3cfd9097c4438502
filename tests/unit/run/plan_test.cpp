#include "kernevo/run/plan.h"

#include "run_fixture.h"

#include <gmock/gmock.h>
#include <limits>

namespace kernevo::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PlanTest : public RunFixture {
protected:
  static RunSettings settled(const RunPlan& plan) {
    auto settled = settle(plan);
    EXPECT_TRUE(settled) << format_error(settled.error());
    return settled ? settled->settings : RunSettings{};
  }
  static std::string refused(const RunPlan& plan) {
    const auto settled = settle(plan);
    EXPECT_FALSE(settled);
    return settled ? "" : format_error(settled.error());
  }
};

ModelSettings model(std::optional<ModelPrice> price) {
  ModelSettings model;
  model.name = "vendor/model";
  model.price = price;
  return model;
}

TEST_F(PlanTest, ALoopHasABudgetWhateverNobodySaid) {
  EXPECT_EQ(settled(plan()).budget, (RunBudget{{}, 300, {}, {}, {}}));
  RunPlan rounds = plan();
  rounds.settings.budget.rounds = 7;
  EXPECT_EQ(settled(rounds).budget, (RunBudget{7, {}, {}, {}, {}}));
}

TEST_F(PlanTest, TheTaskSaysWhatThePlanLeavesOpen) {
  RunPlan own = plan("budget: {rounds: 5, evaluations: 50}\ntarget_us: 12\n");
  RunSettings settings = settled(own);
  EXPECT_EQ(settings.budget, (RunBudget{5, 50, {}, {}, {}}));
  EXPECT_EQ(settings.target_ns, 12e3);
  own.settings.budget.evaluations = 9;
  own.target_us = 3;
  settings = settled(own);
  EXPECT_EQ(settings.budget, (RunBudget{5, 9, {}, {}, {}}));
  EXPECT_EQ(settings.target_ns, 3e3);
}

// What kernels are judged on nobody can know before the run; its journal keeps it.
TEST_F(PlanTest, EveryRunHasASecretUnlessItIsGiven) {
  EXPECT_NE(settled(plan()).inputs, settled(plan()).inputs);
  RunPlan given = plan();
  given.settings.inputs = 37;
  EXPECT_EQ(settled(given).inputs, 37U);
}

TEST_F(PlanTest, AnAgentIsAskedTwentyTimesAndOneStepAtATime) {
  RunPlan agent = plan();
  agent.driver = Driver::agent;
  agent.settings.proposers = {"agent", "playbook"};
  const RunSettings settings = settled(agent);
  EXPECT_EQ(settings.budget, (RunBudget{20, {}, {}, {}, {}}));
  EXPECT_EQ(settings.ahead, 1U);
}

TEST_F(PlanTest, ModelsWithoutAPriceAreCappedInTokens) {
  RunPlan models = plan();
  models.settings.proposers = {"llm"};
  models.settings.llm.models = {model(std::nullopt)};
  models.settings.budget.dollars = 1;
  EXPECT_EQ(settled(models).budget.tokens, 200'000U);
  models.settings.llm.models = {model(ModelPrice{1, 2, {}})};
  EXPECT_EQ(settled(models).budget.tokens, std::nullopt);
  models.settings.budget.dollars.reset();
  EXPECT_EQ(settled(models).budget.tokens, 200'000U);
}

TEST_F(PlanTest, TakesCommandsOutOfTheirNames) {
  RunPlan command = plan();
  command.settings.proposers = {"playbook", "command:mine --a", "b"};
  const RunSettings settings = settled(command);
  EXPECT_THAT(settings.proposers, ElementsAre("playbook", "command"));
  EXPECT_EQ(settings.command, "mine --a,b");
}

TEST_F(PlanTest, RefusesWhatCannotBe) {
  RunPlan bad = plan();
  bad.settings.proposers = {"agent"};
  EXPECT_THAT(refused(bad), HasSubstr("kernevo ask"));
  bad.settings.proposers = {"playbok"};
  EXPECT_THAT(refused(bad), HasSubstr("playbook"));
  bad.settings.proposers = {"llm"};
  EXPECT_THAT(refused(bad), HasSubstr("which model"));
  bad = plan();
  bad.settings.budget.seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refused(bad), HasSubstr("--seconds"));
  bad = plan();
  bad.target_us = -1;
  EXPECT_THAT(refused(bad), HasSubstr("--target-us"));
}

TEST_F(PlanTest, ANameIsNoPath) {
  for (const Driver driver : {Driver::loop, Driver::agent})
    for (const char* name : {"..", ".", "../elsewhere", "/tmp/elsewhere"}) {
      RunPlan named = plan();
      named.driver = driver;
      named.name = name;
      EXPECT_THAT(refused(named), HasSubstr("not a name for a run"));
    }
}

TEST(Budget, IsExtendedByWhatIsGivenAlone) {
  const RunBudget had{10, 100, {}, 1000, {}};
  EXPECT_EQ(extended(had, {}), had);
  EXPECT_EQ(extended(had, RunBudget{20, {}, 5, {}, 2}), (RunBudget{20, 100, 5, 1000, 2}));
}

TEST(Search, IsReadByItsName) {
  EXPECT_EQ(read_search("best-of-n").value(), SearchKind::best_of_n);
  const auto unknown = read_search("evolv");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(format_error(unknown.error()), HasSubstr("'evolve'"));
}

} // namespace
} // namespace kernevo::run
