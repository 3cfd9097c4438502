#include "kernevo/run/agent.h"

#include "run_fixture.h"
#include "toolchain_test.h"

#include <gmock/gmock.h>

namespace kernevo::run {
namespace {

using testing::HasSubstr;
using testing::Not;

bool never() {
  return false;
}

class AgentTest : public KernelTestOf<RunFixture> {
protected:
  void SetUp() override {
    KernelTestOf::SetUp();
    RunFixture::SetUp();
  }

  std::unique_ptr<OpenRun> opened() const {
    auto stored = open_stored_run(folder_.path("deep/run"), store::Journal::Access::write);
    EXPECT_TRUE(stored) << format_error(stored.error());
    const LlmSettings llm = stored->state.started.settings.llm;
    auto run = OpenRun::resume(std::move(*stored), llm, never);
    EXPECT_TRUE(run) << format_error(run.error());
    return run ? std::move(*run) : nullptr;
  }

  static Asked asked(OpenRun& run) {
    auto asked = ask(run, never);
    EXPECT_TRUE(asked) << format_error(asked.error());
    return asked ? std::move(*asked) : Asked{};
  }
};

TEST_F(AgentTest, AsksIsToldMendsAndEnds) {
  // 4093 is nobody's business but the judge's.
  RunPlan agent = plan("check_shapes: [[4093]]\n");
  agent.driver = Driver::agent;
  agent.settings.proposers = {"agent"};
  agent.settings.budget.rounds = 1;
  agent.settings.llm.repairs = 2;
  auto settled = settle(agent);
  ASSERT_TRUE(settled) << format_error(settled.error());
  {
    const auto run = OpenRun::begin(std::move(*settled), never);
    ASSERT_TRUE(run) << format_error(run.error());
    const Asked first = asked(**run);
    ASSERT_TRUE(first.question);
    EXPECT_EQ(first.question->directive.step, 1U);
    EXPECT_EQ(first.question->parent.source, adding_kernel());
    EXPECT_EQ(first.question->repairs_left, 2U);
    EXPECT_THAT(first.guide + first.question->text, Not(HasSubstr("4093")));
  }
  {
    const auto told =
        tell(*opened(),
             {adding_kernel("if (N % 2 == 1 && i == N - 1) more = 1;"), "", std::nullopt}, never);
    ASSERT_TRUE(told) << format_error(told.error());
    EXPECT_TRUE(told->result.open);
    EXPECT_EQ(told->step, 1U);
    EXPECT_EQ(told->result.repairs_left, 1U);
    ASSERT_TRUE(told->result.diagnosis);
    EXPECT_TRUE(told->result.diagnosis->hidden);
    EXPECT_THAT(to_text(*told->result.diagnosis), Not(HasSubstr("409")));
  }
  {
    const Asked again = asked(*opened());
    ASSERT_TRUE(again.question);
    EXPECT_EQ(again.question->attempts.size(), 1U);
    EXPECT_EQ(again.question->repairs_left, 1U);
  }
  const auto right = tell(*opened(), {adding_kernel("more = 0;"), "As it was.", 1}, never);
  ASSERT_TRUE(right) << format_error(right.error());
  EXPECT_FALSE(right->result.open);
  EXPECT_EQ(right->result.state.told, 1U);
  EXPECT_FALSE(asked(*opened()).question);
  const auto late = tell(*opened(), {adding_kernel(), "", std::nullopt}, never);
  ASSERT_FALSE(late);
  EXPECT_THAT(format_error(late.error()), HasSubstr("no step of this run waits"));
}

TEST_F(AgentTest, ARunOfItsOwnAsksNobodyOutside) {
  RunPlan own = plan();
  own.settings.budget.rounds = 1;
  auto settled = settle(own);
  ASSERT_TRUE(settled);
  {
    const auto run = OpenRun::begin(std::move(*settled), never);
    ASSERT_TRUE(run);
    ASSERT_TRUE((*run)->go_on({}));
  }
  const auto refused = ask(*opened(), never);
  ASSERT_FALSE(refused);
  EXPECT_THAT(format_error(refused.error()), HasSubstr("asks nobody outside"));
}

} // namespace
} // namespace kernevo::run
