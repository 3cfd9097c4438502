#include "kernevo/tune/tuner.h"

#include "../search/fixture.h"
#include "kernevo/base/files.h"
#include "test_folder.h"

#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

namespace kernevo::tune {
namespace {

using search::Configuration;
using search::Outcome;
using search::RecordedSpace;
using search::Trial;
using search::TuningLog;

// Answers from a recording, in a time that has nothing to do with the order of the questions.
class RecordedObjective : public TuningObjective {
public:
  explicit RecordedObjective(const RecordedSpace& recorded) : recorded_(recorded) {}

  Result<Trial> evaluate(const ParameterValues& values, const Trial* incumbent) override {
    const Configuration configuration = *recorded_.space.find(values);
    const int call = ++calls_;
    if (call == fail_at_)
      return fail(ErrorCode::infrastructure, "the disk is full");
    if (slow_)
      std::this_thread::sleep_for(std::chrono::microseconds(call * 7919 % 3000));
    {
      const std::lock_guard lock(mutex_);
      EXPECT_TRUE(seen_.insert(configuration).second) << "evaluated twice";
      incumbents_[configuration] =
          incumbent == nullptr ? std::optional<Configuration>() : incumbent->configuration;
    }
    Trial trial = recorded_.trials[configuration];
    trial.configuration = 0; // the caller's business
    if (trial.time)
      trial.counters = {{"threads", static_cast<double>(values.at("BX") * values.at("BY"))}};
    else
      trial.reason = "the launch failed";
    return trial;
  }
  Result<std::optional<std::string>> check(const ParameterValues& values) override {
    ++checks_;
    if (wrong_ && wrong_(values))
      return std::optional<std::string>("C[0] is wrong");
    return std::optional<std::string>();
  }

  Result<std::optional<Trial>> recount(const ParameterValues& values,
                                       const Trial* /*incumbent*/) override {
    if (!slower_)
      return std::optional<Trial>();
    Trial trial = recorded_.trials[*recorded_.space.find(values)];
    trial.time = Nanoseconds{trial.time->value * slower_(values)};
    return std::optional(std::move(trial));
  }

  const RecordedSpace& recorded_;
  std::function<double(const ParameterValues&)> slower_; // when it is counted with care
  bool slow_ = false;
  int fail_at_ = 0;
  std::function<bool(const ParameterValues&)> wrong_;
  std::atomic<int> calls_ = 0;
  int checks_ = 0;
  std::mutex mutex_;
  std::set<Configuration> seen_;
  std::map<Configuration, std::optional<Configuration>> incumbents_;
};

class TunerTest : public testing::Test {
protected:
  void SetUp() override {
    options_.evaluations = 40;
    options_.search.strategy = "evolutionary"; // its proposals take no time
    options_.search.seed = 3;
    options_.search.seeds = {5};
  }

  TuningLog open() const {
    auto log = TuningLog::open(path_, {"made_up", "none", "model", 3}, recorded_.space);
    EXPECT_TRUE(log) << format_error(log.error());
    return std::move(*log);
  }
  TuningResult run(RecordedObjective& objective, TuningLog* log) const {
    auto result = tune(recorded_.space, objective, log, options_);
    EXPECT_TRUE(result) << format_error(result.error());
    return std::move(*result);
  }
  std::string log_text() const { return *read_text_file(path_); }

  static std::vector<Configuration> order(const TuningResult& result) {
    std::vector<Configuration> configurations;
    for (const Trial& trial : result.trials)
      configurations.push_back(trial.configuration);
    return configurations;
  }

  RecordedSpace recorded_ = search::made_up_space();
  TunerOptions options_;
  const TestFolder folder_;
  const std::filesystem::path path_ = folder_.path("log.jsonl");
};

TEST_F(TunerTest, TheRunDoesNotDependOnTheThreads) {
  options_.search.strategy = "model";
  options_.ahead = 6;
  std::string first;
  std::vector<Configuration> first_order;
  std::map<Configuration, std::optional<Configuration>> first_incumbents;
  for (const unsigned jobs : {1U, 4U, 6U}) {
    std::filesystem::remove(path_);
    options_.jobs = jobs;
    RecordedObjective objective(recorded_);
    objective.slow_ = true;
    TuningLog log = open();
    const TuningResult result = run(objective, &log);
    EXPECT_EQ(result.stop, TuningStop::evaluations);
    if (first.empty()) {
      first = log_text();
      first_order = order(result);
      first_incumbents = objective.incumbents_;
      ASSERT_EQ(first_order.size(), 40U);
      EXPECT_EQ(first_order.front(), 5U);
      continue;
    }
    EXPECT_EQ(order(result), first_order);
    EXPECT_EQ(log_text(), first);
    EXPECT_EQ(objective.incumbents_, first_incumbents);
  }
}

TEST_F(TunerTest, FindsAGoodConfigurationAndSaysWhich) {
  options_.search.strategy = "model";
  options_.evaluations = 60;
  RecordedObjective objective(recorded_);
  const TuningResult result = run(objective, nullptr);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.best->checked);
  EXPECT_LT(result.best->time->value, 1.1 * recorded_.best.value);
  for (const Trial& trial : result.trials)
    if (trial.time) {
      EXPECT_LE(*result.best->time, *trial.time);
    }
  EXPECT_EQ(*result.best->time, *recorded_.trials[result.best->configuration].time);
}

// Whatever the moment of the kill, the run ends as if it had not happened, and nothing is done
// twice.
TEST_F(TunerTest, AKilledRunGoesOnAsIfItHadNotBeenKilled) {
  options_.jobs = 3;
  RecordedObjective whole(recorded_);
  std::string uninterrupted;
  std::vector<Configuration> whole_order;
  {
    TuningLog log = open();
    whole_order = order(run(whole, &log));
    uninterrupted = log_text();
  }
  for (const std::size_t kept : {0U, 1U, 9U, 25U, 40U}) {
    std::istringstream lines(uninterrupted);
    std::ofstream cut(path_, std::ios::trunc);
    std::string line;
    for (std::size_t i = 0; i <= kept && std::getline(lines, line); ++i)
      cut << line << '\n';
    if (kept < 40)
      cut << R"({"values":{"BX":1)"; // the line it was writing
    cut.close();
    RecordedObjective resumed(recorded_);
    TuningLog log = open();
    const TuningResult result = run(resumed, &log);
    EXPECT_EQ(order(result), whole_order) << kept;
    EXPECT_EQ(result.from_log, kept);
    EXPECT_EQ(resumed.calls_, 40 - static_cast<int>(kept));
    EXPECT_EQ(log_text(), uninterrupted) << kept;
    if (kept == 40) {
      EXPECT_EQ(resumed.checks_, 0);
    }
  }
}

TEST_F(TunerTest, ALargerBudgetGoesOnFromASmallerOne) {
  {
    TuningLog log = open();
    RecordedObjective objective(recorded_);
    options_.evaluations = 25;
    run(objective, &log);
  }
  options_.evaluations = 40;
  RecordedObjective more(recorded_);
  std::vector<Configuration> resumed;
  {
    TuningLog log = open();
    resumed = order(run(more, &log));
  }
  EXPECT_EQ(more.calls_, 15);
  RecordedObjective at_once(recorded_);
  EXPECT_EQ(order(run(at_once, nullptr)), resumed);
}

TEST_F(TunerTest, AnotherSeedOnTheSameLogRepeatsNothingAndLosesNoBest) {
  std::optional<Trial> first;
  {
    TuningLog log = open();
    RecordedObjective objective(recorded_);
    options_.evaluations = 150;
    first = run(objective, &log).best;
  }
  options_.search.seed = 4;
  options_.evaluations = 2;
  RecordedObjective second(recorded_);
  TuningLog log = open();
  const TuningResult result = run(second, &log);
  EXPECT_GE(result.from_log, 1U) << "at least the default";
  EXPECT_EQ(second.calls_, 2 - static_cast<int>(result.from_log));
  EXPECT_EQ(result.best->configuration, first->configuration);
}

TEST_F(TunerTest, EvaluationsAreCountedExactly) {
  for (const unsigned jobs : {1U, 8U}) {
    options_.jobs = jobs;
    for (const std::size_t evaluations : {1U, 7U}) {
      options_.evaluations = evaluations;
      RecordedObjective objective(recorded_);
      const TuningResult result = run(objective, nullptr);
      EXPECT_EQ(result.trials.size(), evaluations);
      EXPECT_EQ(objective.calls_, static_cast<int>(evaluations));
    }
  }
}

TEST_F(TunerTest, NothingBeginsAfterTheTimeIsUp) {
  double time = 100;
  options_.evaluations.reset();
  options_.seconds = 10;
  options_.ahead = 1;
  options_.clock = [&] { return time; };
  options_.observer = [&](TuningEvent event, const TuningState&) {
    time += event == TuningEvent::waiting ? 0 : 1;
  };
  RecordedObjective objective(recorded_);
  const TuningResult result = run(objective, nullptr);
  EXPECT_EQ(result.stop, TuningStop::seconds);
  EXPECT_EQ(result.trials.size(), 10U);
}

TEST_F(TunerTest, AnInterruptionKeepsWhatIsDoneAndResumes) {
  options_.jobs = 2;
  std::size_t told = 0;
  options_.observer = [&](TuningEvent, const TuningState& state) { told = state.told; };
  options_.interrupted = [&] { return told >= 12; };
  std::vector<Configuration> before;
  {
    TuningLog log = open();
    RecordedObjective objective(recorded_);
    const TuningResult result = run(objective, &log);
    EXPECT_EQ(result.stop, TuningStop::interrupted);
    before = order(result);
    EXPECT_GE(before.size(), 12U);
    EXPECT_LE(before.size(), 12 + options_.ahead);
    EXPECT_EQ(log.trials().size(), before.size());
  }
  options_.interrupted = {};
  RecordedObjective rest(recorded_);
  TuningLog log = open();
  const std::vector<Configuration> after = order(run(rest, &log));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  // What began and was finished after the interruption is told only as far as no gap is left.
  EXPECT_EQ(after.size(), 40U);
  EXPECT_EQ(rest.calls_, 40 - static_cast<int>(before.size()));
}

TEST_F(TunerTest, AWrongConfigurationNeverWins) {
  RecordedObjective right(recorded_);
  options_.evaluations = 80;
  const ParameterValues fastest = recorded_.space.values(run(right, nullptr).best->configuration);
  auto wrong = [&](const ParameterValues& values) {
    return values.at("SHARED") == fastest.at("SHARED");
  };
  RecordedObjective objective(recorded_);
  objective.wrong_ = wrong;
  std::size_t rejected = 0;
  TuningLog log = open();
  const TuningResult result = run(objective, &log);
  ASSERT_TRUE(result.best);
  EXPECT_FALSE(wrong(recorded_.space.values(result.best->configuration)));
  for (const Trial& trial : result.trials)
    if (trial.outcome == Outcome::wrong) {
      ++rejected;
      EXPECT_TRUE(wrong(recorded_.space.values(trial.configuration)));
      EXPECT_FALSE(trial.time);
      EXPECT_EQ(trial.reason, "C[0] is wrong");
      EXPECT_EQ(log.find(trial.configuration)->outcome, Outcome::wrong);
    }
  EXPECT_GT(rejected, 0U);
  // Only what would have been the best is worth a check.
  EXPECT_LT(objective.checks_, 40);
}

TEST_F(TunerTest, WhenAllAreWrongThereIsNoBest) {
  RecordedObjective objective(recorded_);
  objective.wrong_ = [](const ParameterValues&) { return true; };
  EXPECT_FALSE(run(objective, nullptr).best);
}

TEST_F(TunerTest, EachNewBestIsAnnouncedOnceAndOnlyWhenRight) {
  std::vector<double> announced;
  options_.observer = [&](TuningEvent event, const TuningState& state) {
    if (event == TuningEvent::best) {
      EXPECT_TRUE(state.best->checked);
      announced.push_back(state.best->time->value);
    }
  };
  RecordedObjective objective(recorded_);
  const TuningResult result = run(objective, nullptr);
  ASSERT_FALSE(announced.empty());
  EXPECT_EQ(announced.back(), result.best->time->value);
  for (std::size_t i = 1; i < announced.size(); ++i)
    EXPECT_LT(announced[i], announced[i - 1]);
  EXPECT_EQ(objective.checks_, static_cast<int>(announced.size()));
}

// Of many samples the best is also the luckiest.
TEST_F(TunerTest, WhoIsSlowWhenCountedAgainIsNotTheBest) {
  RecordedObjective honest(recorded_);
  const Configuration lucky = run(honest, nullptr).best->configuration;
  const ParameterValues values = recorded_.space.values(lucky);
  RecordedObjective objective(recorded_);
  objective.slower_ = [&](const ParameterValues& candidate) {
    return candidate == values ? 2.0 : 1.0;
  };
  std::size_t announced = 0;
  options_.observer = [&](TuningEvent event, const TuningState& state) {
    announced += event == TuningEvent::best && state.best->configuration == lucky ? 1 : 0;
  };
  TuningLog log = open();
  const TuningResult result = run(objective, &log);
  EXPECT_NE(result.best->configuration, lucky);
  EXPECT_EQ(announced, 0U);
  // The search and the log hear of the time that holds.
  const double twice = 2 * recorded_.trials[lucky].time->value;
  EXPECT_DOUBLE_EQ(log.find(lucky)->time->value, twice);
  for (const Trial& trial : result.trials)
    if (trial.configuration == lucky) {
      EXPECT_DOUBLE_EQ(trial.time->value, twice);
    }
}

TEST_F(TunerTest, ATieDoesNotReplaceTheBest) {
  for (Trial& trial : recorded_.trials)
    trial = {trial.configuration, Outcome::ok, Nanoseconds{7}, {}, {}};
  RecordedObjective objective(recorded_);
  EXPECT_EQ(run(objective, nullptr).best->configuration, 5U) << "the first";
  EXPECT_EQ(objective.checks_, 1);
}

TEST_F(TunerTest, TroubleOfTheMachineEndsTheRunAndBlamesNobody) {
  RecordedObjective objective(recorded_);
  objective.fail_at_ = 20;
  {
    TuningLog log = open();
    const auto result = tune(recorded_.space, objective, &log, options_);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the disk is full");
    EXPECT_EQ(log.trials().size(), 19U);
  }
  RecordedObjective again(recorded_);
  TuningLog log = open();
  EXPECT_EQ(run(again, &log).trials.size(), 40U);
  EXPECT_EQ(again.calls_, 21);
}

TEST_F(TunerTest, ASmallSpaceIsTriedToItsEnd) {
  search::SpaceDescription description;
  description.parameters = {{"A", {1, 2, 3}}, {"B", {1, 2}}};
  const auto space = *search::SearchSpace::construct(description);
  class Sum : public TuningObjective {
    Result<Trial> evaluate(const ParameterValues& values, const Trial*) override {
      Trial trial;
      trial.time = Nanoseconds{static_cast<double>(10 - values.at("A") - values.at("B"))};
      return trial;
    }
    Result<std::optional<std::string>> check(const ParameterValues&) override {
      return std::optional<std::string>();
    }
  } objective;
  options_.search.seeds = {};
  options_.jobs = 4;
  const auto result = tune(space, objective, nullptr, options_);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop, TuningStop::exhausted);
  EXPECT_EQ(result->trials.size(), 6U);
  EXPECT_EQ(space.text(result->best->configuration), "A=3 B=2");
}

TEST_F(TunerTest, WhatAnotherRunKnewIsUsedAndNotCounted) {
  Configuration fastest = 0;
  for (const Trial& trial : recorded_.trials) {
    if (trial.configuration % 3 == 0)
      options_.known.push_back(trial);
    if (trial.time && *trial.time == recorded_.best)
      fastest = trial.configuration;
  }
  options_.known.push_back(recorded_.trials[fastest]);
  options_.search.seeds = {options_.known.front().configuration};
  options_.evaluations = 10;
  {
    RecordedObjective objective(recorded_);
    const TuningResult result = run(objective, nullptr);
    EXPECT_EQ(result.trials.size(), 10U);
    for (const Configuration configuration : order(result))
      EXPECT_NE(configuration % 3, 0U);
    EXPECT_EQ(*result.best->time, recorded_.best);
    EXPECT_TRUE(result.best->checked);
  }
  // Somebody else's times are believed, their results are not.
  const ParameterValues values = recorded_.space.values(fastest);
  for (int round = 0; round < 2; ++round) {
    RecordedObjective objective(recorded_);
    objective.wrong_ = [&](const ParameterValues& candidate) { return candidate == values; };
    TuningLog log = open();
    EXPECT_NE(run(objective, &log).best->configuration, fastest);
    EXPECT_EQ(objective.checks_ > 0, round == 0) << "the log remembers what was checked";
  }
}

// A time that was given up early against one incumbent says nothing against a slower one.
TEST_F(TunerTest, AnEstimateOfTheLogIsNotTakenForATime) {
  Trial estimate = recorded_.trials[6];
  ASSERT_TRUE(estimate.time);
  estimate.partial = true;
  estimate.time = Nanoseconds{1};
  TuningLog log = open();
  ASSERT_TRUE(log.append(estimate));
  options_.search.seeds = {5, 6};
  options_.evaluations = 2;
  RecordedObjective objective(recorded_);
  const TuningResult result = run(objective, &log);
  EXPECT_EQ(objective.calls_, 2);
  EXPECT_EQ(*result.trials[1].time, *recorded_.trials[6].time);
  EXPECT_FALSE(log.find(6)->partial);
  EXPECT_FALSE(open().find(6)->partial);
}

} // namespace
} // namespace kernevo::tune
