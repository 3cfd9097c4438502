// A whole evolution on a device that measures.
#include "kernevo/evolve/replay.h"
#include "kernevo/extract/receipt.h"
#include "kernevo/run/stored_run.h"
#include "memory_store.h"
#include "scripted_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EvolutionOnAFake : public testing::Test {
protected:
  store::Journal& journal(const std::string& name = "a") {
    auto& made = journals_[name];
    if (!made)
      made = std::move(store_.create(name)).value();
    return *made;
  }

  // All events without their times.
  static std::vector<std::string> bodies(store::Journal& journal) {
    std::vector<std::string> all;
    EXPECT_TRUE(journal.read(1, [&](const store::StoredEvent& stored) {
      all.push_back(to_json(stored.event));
      return true;
    }));
    return all;
  }

  store::MemoryStore store_;
  std::map<std::string, std::unique_ptr<store::Journal>> journals_;
};

TEST_F(EvolutionOnAFake, EndsWithTheScriptedBest) {
  const ScriptedRun run;
  const auto state = run.start(journal());
  ASSERT_TRUE(state) << format_error(state.error());
  ASSERT_NE(state->best(), nullptr);
  EXPECT_NEAR(state->baseline->value, 20000, 1e-6);
  EXPECT_NEAR(state->best()->objective.value, 2000, 1e-6);
  EXPECT_EQ(state->best()->parameters, (ParameterValues{{"THREADS", 256}}));
  EXPECT_NEAR(state->speedup(), 10, 1e-9);
  EXPECT_EQ(*journal().blob(state->best()->candidate.source), run.best());
  EXPECT_EQ(state->outcomes.at("duplicate"), 1U);
  EXPECT_EQ(state->outcomes.at("wrong"), 2U);
  EXPECT_EQ(state->outcomes.at("failed"), 1U);
  EXPECT_EQ(state->outcomes.at("compile_failed"), 1U);
  ASSERT_TRUE(state->stopped);
  EXPECT_EQ(state->stopped->reason, StopReason::exhausted);
}

TEST_F(EvolutionOnAFake, FindsItUnderNoise) {
  for (const char* noise : {"gaussian_1", "lognormal_tail", "slow_start"}) {
    const ScriptedRun run(noisy_device(noise));
    const auto state = run.start(journal(noise));
    ASSERT_TRUE(state) << format_error(state.error());
    EXPECT_EQ(*journal(noise).blob(state->best()->candidate.source), run.best()) << noise;
    EXPECT_NEAR(state->best()->objective.value, 2000, 40) << noise;
  }
}

TEST_F(EvolutionOnAFake, ItsJournalReplaysAndDoesNotDependOnThreads) {
  const ScriptedRun run;
  ASSERT_TRUE(run.start(journal("one"), 1));
  ASSERT_TRUE(run.start(journal("four"), 4));
  EXPECT_EQ(bodies(journal("one")), bodies(journal("four")));
  evolve::Panel people = run.panel(journal("one"));
  const auto replayed = evolve::replay_run(journal("one"), people);
  ASSERT_TRUE(replayed) << format_error(replayed.error());
  EXPECT_THAT(replayed->differences, IsEmpty());
  EXPECT_GT(replayed->decisions, 4U);
}

TEST_F(EvolutionOnAFake, EveryRecordSaysMeasured) {
  const ScriptedRun run;
  const auto state = run.start(journal());
  ASSERT_TRUE(state) << format_error(state.error());
  EXPECT_EQ(state->started.method, "measured");
  EXPECT_EQ(state->started.device, "fake:A100");
  EXPECT_FALSE(is_modelled(state->started));
  for (const std::string& body : bodies(journal()))
    EXPECT_THAT(body, Not(HasSubstr("modelled")));
  const auto best = extract::read_extraction(journal(), std::nullopt);
  ASSERT_TRUE(best) << format_error(best.error());
  EXPECT_THAT(fmt::format("{}", fmt::join(extract::receipt(*best, {"1", "best.cu"}), "\n")),
              AllOf(HasSubstr("2 us measured, 10 x the reference's speed"),
                    HasSubstr("not shown, on the A100"), Not(HasSubstr("modelled")),
                    Not(HasSubstr("virtual"))));
}

// Its times and those of another device would not compare.
TEST_F(EvolutionOnAFake, GoesOnOnItsOwnDeviceOrNotAtAll) {
  auto made = std::move(store_.create("stored")).value();
  auto state = ScriptedRun().start(*made);
  ASSERT_TRUE(state) << format_error(state.error());
  run::StoredRun stored{std::move(made), std::move(*state)};
  const auto context = run::context_of(stored);
  ASSERT_FALSE(context) << "there is no such device outside of tests";
  EXPECT_THAT(format_error(context.error()), HasSubstr("'fake:A100' does not name a device"));
}

// Whoever would be announced is checked where no kernel has run; the others are not worth that.
TEST_F(EvolutionOnAFake, OnlyWhatWouldBeTheBestIsConfirmedInAFreshProcess) {
  const ScriptedRun run;
  const auto state = run.start(journal());
  ASSERT_TRUE(state) << format_error(state.error());
  int confirmed = 0;
  int duplicates = 0; // of one under way: confirmed as well, perhaps
  ASSERT_TRUE(journal().read(1, [&](const store::StoredEvent& stored) {
    if (const auto* e = std::get_if<Evaluation>(&stored.event)) {
      confirmed += e->outcome == StepOutcome::baseline || e->outcome == StepOutcome::improved ||
                           e->summary.starts_with("not confirmed: ")
                       ? 1
                       : 0;
      duplicates += e->outcome == StepOutcome::duplicate ? 1 : 0;
    }
    return true;
  }));
  EXPECT_EQ(confirmed, 3) << "the reference, and two that are faster; who lies at the real shape "
                             "was found out when it was timed";
  EXPECT_GE(run.device().counts().fresh_loads, confirmed);
  EXPECT_LE(run.device().counts().fresh_loads, confirmed + duplicates);
}

} // namespace
} // namespace kernevo
