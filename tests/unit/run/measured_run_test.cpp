// Evolutions on a device that measures, when the device is not at its best.
#include "hostile_gpu.h"
#include "kernevo/evaluate/contest.h"
#include "kernevo/evolve/replay.h"
#include "kernevo/extract/receipt.h"
#include "memory_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

class MeasuredRun : public testing::Test {
protected:
  store::Journal& journal(const std::string& name) {
    auto& made = journals_[name];
    if (!made)
      made = std::move(store_.create(name)).value();
    return *made;
  }

  // What was told, without how the run was interrupted.
  static std::vector<std::string> told(store::Journal& journal) {
    std::vector<std::string> all;
    EXPECT_TRUE(journal.read(1, [&](const store::StoredEvent& stored) {
      if (!std::holds_alternative<RunStopped>(stored.event) &&
          !std::holds_alternative<RunResumed>(stored.event))
        all.push_back(to_json(stored.event));
      return true;
    }));
    return all;
  }

  static std::shared_ptr<FakeDevice> dying(std::optional<int> after) {
    FakeScript script = scripted_kernels();
    script.dies_after = after;
    return fake_device(std::move(script));
  }

  store::MemoryStore store_;
  std::map<std::string, std::unique_ptr<store::Journal>> journals_;
};

TEST_F(MeasuredRun, ADeviceThatIsLostPausesItAndNothingIsLost) {
  ASSERT_TRUE(ScriptedRun().start(journal("whole")));
  const std::vector<std::string> whole = told(journal("whole"));
  for (const int after : {3, 40, 150, 400, 700}) {
    SCOPED_TRACE(after);
    const std::string name = fmt::format("lost after {}", after);
    const ScriptedRun lost(dying(after));
    const auto paused = lost.start(journal(name));
    ASSERT_TRUE(paused) << format_error(paused.error());
    ASSERT_TRUE(paused->stopped);
    EXPECT_EQ(paused->stopped->reason, StopReason::unavailable);
    EXPECT_EQ(paused->stopped->text, "fake:A100 has gone; --resume goes on");
    EXPECT_EQ(paused->outcomes.count("infrastructure"), 0U) << "it taught nothing";
    const ScriptedRun again;
    evolve::Panel people = again.panel(journal(name));
    const auto state = evolve::resume_run(again.context(), journal(name), people, {});
    ASSERT_TRUE(state) << format_error(state.error());
    EXPECT_NEAR(state->best()->objective.value, 2000, 1e-6);
    EXPECT_EQ(told(journal(name)), whole);
  }
}

TEST_F(MeasuredRun, ADisturbedDeviceIsNobodysFault) {
  FakeScript script = scripted_kernels();
  script.state = [](int asked) {
    DeviceState state;
    if (asked > 6)
      state.disturbances = {"throttled by heat"};
    return state;
  };
  const auto state = ScriptedRun(fake_device(std::move(script))).start(journal("hot"));
  ASSERT_TRUE(state) << format_error(state.error());
  EXPECT_GE(state->outcomes.at("infrastructure"), 1U);
  ASSERT_TRUE(state->stopped);
  EXPECT_EQ(state->stopped->reason, StopReason::trouble);
}

TEST_F(MeasuredRun, EveryBestHasItsShotsInTheJournal) {
  const ScriptedRun run(noisy_device("gaussian_1"));
  const auto state = run.start(journal("a"));
  ASSERT_TRUE(state) << format_error(state.error());
  int bests = 0;
  for (const evolve::BestPoint& best : state->bests) {
    if (best.step == 0)
      continue;
    ++bests;
    const auto evaluation = journal("a").evaluation(best.step);
    ASSERT_TRUE(evaluation && *evaluation);
    const auto kept = journal("a").recall((*evaluation)->contest);
    ASSERT_TRUE(kept && *kept) << (*evaluation)->contest;
    const auto contest = contest_from_json(**kept, run.context().task.objective);
    ASSERT_TRUE(contest) << format_error(contest.error());
    EXPECT_EQ(contest->overall.standing, Standing::faster);
    EXPECT_GE(contest->cases.at(0).episode.candidate.samples.size(), 24U);
    EXPECT_LE((*kept)->size(), 200'000U) << "the shots of one shape";
  }
  EXPECT_GE(bests, 1);
  evolve::Panel people = run.panel(journal("a"));
  const auto replayed = evolve::replay_run(journal("a"), people);
  ASSERT_TRUE(replayed) << format_error(replayed.error());
  EXPECT_THAT(replayed->differences, testing::IsEmpty());
  EXPECT_EQ(replayed->contests, static_cast<std::uint64_t>(bests));
}

// Each announced time is what it takes beside the best before it: the luck of having been chosen
// is not in it.
TEST_F(MeasuredRun, ALuckyTimeIsNotAnnounced) {
  const ScriptedRun run(noisy_device("gaussian_5"));
  const auto state = run.start(journal("lucky"));
  ASSERT_TRUE(state) << format_error(state.error());
  EXPECT_NEAR(state->speedup(), 10, 0.3);
}

// `bench_promotion` counts many of these; here a few, for what must never happen.
TEST_F(MeasuredRun, WhatIsNoFasterIsNotPromotedByADriftingGpu) {
  int promoted = 0;
  int offered = 0;
  for (const char* noise : {"drift", "all"})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const Offered one = evolve_offering(hostile_gpu(noise, seed), 20000, 3);
      promoted += one.promoted;
      offered += one.offered;
    }
  EXPECT_GE(offered, 20);
  EXPECT_EQ(promoted, 0) << "of " << offered;
}

TEST_F(MeasuredRun, TwoPercentAreFoundOnADriftingGpu) {
  int promoted = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    promoted += evolve_offering(hostile_gpu("drift", seed), 19608, 1).promoted;
  EXPECT_GE(promoted, 7);
}

TEST_F(MeasuredRun, TheReceiptNamesDeviceAndConditions) {
  FakeScript script = scripted_kernels();
  script.state = [](int) {
    DeviceState state;
    state.celsius = 54;
    state.clocks.multiprocessor_mhz = 1410;
    return state;
  };
  script.stand_in = "virtual A100, kernevo 0.1.0";
  const ScriptedRun run(fake_device(std::move(script)));
  ASSERT_TRUE(run.start(journal("cool")));
  const auto best = extract::read_extraction(journal("cool"), std::nullopt);
  ASSERT_TRUE(best) << format_error(best.error());
  const std::string text =
      fmt::format("{}", fmt::join(extract::receipt(*best, {"1", "b.cu"}), "\n"));
  EXPECT_THAT(text, HasSubstr("device   fake:A100 played by virtual A100, kernevo 0.1.0, 1410 MHz, "
                              "54 C"));
  EXPECT_THAT(text, HasSubstr("2 us modelled_by_stand_in, 10 x the reference's speed"));
  EXPECT_THAT(text, testing::Not(HasSubstr("measured")));
}

} // namespace
} // namespace kernevo
